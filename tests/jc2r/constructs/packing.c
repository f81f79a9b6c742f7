#include <stdio.h>
#include <string.h>
#include <stdint.h>
/* Bit-fields that are wide or lie across units, packed records of what is aligned. */
struct wide { uint64_t a : 40; uint64_t b : 24; int64_t c : 37; uint64_t d : 64; unsigned e : 3; int64_t f : 61; unsigned char g : 5; };
struct strad { unsigned a : 5; unsigned long b : 50; unsigned c : 20; } __attribute__((packed));
struct pk { char c; uint64_t a : 33; uint64_t b : 60; short s; } __attribute__((packed));
typedef struct __attribute__((aligned(16))) { int v[4]; } quad;
struct holds { char c; quad q; } __attribute__((packed));
struct holds2 { char c; int x __attribute__((aligned(16))); char d; };
struct holds3 { char c; struct holds2 h; short s; } __attribute__((packed));
struct al32 { char c; quad q; short t; } __attribute__((packed, aligned(4)));
struct al64 { char c; int v __attribute__((aligned(64))); };
struct holds4 { char c; struct al64 h; } __attribute__((packed));
struct ld { char c; long double x; int n; };
struct holds5 { char c; struct ld l; int tail; } __attribute__((packed));
typedef int four __attribute__((vector_size(16)));
struct vec { four v; int n; };
struct holds6 { short c; struct vec v; } __attribute__((packed));
static int sizes(void) { return sizeof(struct holds4) + sizeof(struct holds5) * 3 + sizeof(struct holds6) * 5; }
static int tail(struct holds5 *a) { return a->tail; }
static int in4(int n) { struct holds4 h4; h4.h.v = n; return h4.h.v; }
static int in6(struct holds6 *a) { return a->c; }
union un { uint64_t whole; struct { uint64_t lo : 36, hi : 28; } p; };
#define DECLARE(T, N) static T N##_get(T x) { return x + 1; }
DECLARE(int, i)
DECLARE(long, l)
#define ITEM(N) static int N##_v = 3; static int N##_f(void) { return N##_v++; }
ITEM(one) ITEM(two)
#define SWAP(a, b) do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } while (0)
#define EACH(i, n) for (int i = 0; i < (n); i++)
static struct wide w = { 0xabcdef1234ull, 0x123456, -5, ~0ull, 5, -1234567890123ll, 21 };
static struct pk pk = {1, 0x1ffffffffull, 0xfffffffffffffffull, 7};
static void show(const void *p, size_t n) { const unsigned char *c = p; while (n--) printf("%02x", *c++); putchar('\n'); }
static struct holds hh = { 'x', {{1, 2, 3, 4}} };
static struct holds give(struct holds a) { a.q.v[1] += a.c; return a; }
/* gcc computes wide bit-fields in their own width. */
static void widths(struct wide *p, int n, unsigned u, long l, unsigned long ul) {
  long some[] = { p->a + 1, p->a * 3, p->a << 9, p->a << n, ~p->a, -p->a, p->a - n * 4000000, p->a | -n, p->a ^ u, p->a + l, p->a + ul,
    p->a == -1, p->a > -n, p->a + n > p->a, (p->a + p->b) * 7, p->c << 30, -p->c, p->c * 99999999 + n, p->c - u, p->f * 3 + l, p->d + 1,
    n ? p->a << 3 : n, (p->a + n, p->a + p->a), p->a++ * 2, (p->a += 5) << 20, (p->b = 3) - 4, p->b - 4, p->e - 6, p->a / 7 % 1000, p->a >> 3, (unsigned long)p->a << 9,
    (int)(p->a << 4), p->a * 1UL << 13, sizeof(p->a + 1L), !(p->a + 1), p->a && p->a + 3 };
  for (unsigned k = 0; k < sizeof some / sizeof *some; k++) printf("%ld%c", some[k], k % 6 == 5 ? '\n' : ' ');
  printf("%f %d\n", (double)(p->a + p->a), p->a + p->a > p->a); switch (p->a + 2) { case 1: puts("wrapped"); break; default: puts("not"); }
}
int main(void) {
  show(&w, sizeof w); w.a += 3; w.c--; w.f /= 3; w.b ^= 0xffff; w.d <<= 1; w.g++; show(&w, sizeof w);
  printf("%llu %llu %lld %llu %u %lld %d\n", (unsigned long long)w.a, (unsigned long long)w.b, (long long)w.c, (unsigned long long)w.d, w.e, (long long)w.f, w.g);
  struct wide v = w; widths(&v, 3, 4000000000u, 1l << 50, 1ul << 60); v.a = ~0ul; v.c = -(1l << 36); widths(&v, -7, 1, -1, 5);
  struct strad s; memset(&s, 0, sizeof s); s.a = 21; s.b = 0x2aaaaaaaaaaaaul; s.c = 0xfffff; show(&s, sizeof s); s.b++; s.a--; printf("%u %lu %u %zu\n", s.a, (unsigned long)s.b, s.c, sizeof s);
  show(&pk, sizeof pk); pk.a--; pk.b -= 2; show(&pk, sizeof pk); printf("%lld %zu\n", (long long)(pk.a + pk.b), sizeof pk);
  hh = give(hh); show(&hh, sizeof hh); printf("%zu %zu %zu %zu %zu\n", sizeof hh, sizeof(struct holds2), sizeof(struct holds3), sizeof(struct al32), _Alignof(struct holds2));
  struct holds3 h3; memset(&h3, 0, sizeof h3); h3.h.x = 77; h3.s = 4; h3.h.d = 2; show(&h3, sizeof h3);
  struct al32 a3 = { 1, {{5}}, 6 }; a3.q.v[2] = a3.t; printf("%d %d %d\n", a3.c, a3.q.v[2], a3.t); 
  union un u; u.whole = 0x123456789abcdefull; u.p.hi += 1; printf("%llx %llx\n", (unsigned long long)u.whole, (unsigned long long)u.p.lo);
  printf("%d %ld %d %d %d\n", i_get(3), l_get(4), one_f(), two_f(), one_f()); int x = 1, y = 2; SWAP(x, y); EACH(k, 3) x += k; printf("%d %d\n", x, y);
  static struct holds5 h5; static struct holds6 h6; h5.tail = 5;  h6.c = 3; printf("%d %d %d %d\n", sizes(), tail(&h5), in4(9), in6(&h6)); return 0; }

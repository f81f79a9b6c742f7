/* Where members lie: bit-fields that begin a new unit, alignment that is asked for, packing. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
struct moved { unsigned b : 31; union { short e; unsigned char f[8]; unsigned g; }; unsigned long c : 39; unsigned short a; _Bool d[4]; };
struct split { char a; int : 0; char b; long c : 40; long d : 30; char e; };
struct wide { char a; int b __attribute__((aligned(16))); char c; };
struct tight { char a; int b : 9; short c; int d; } __attribute__((packed));
struct unit { int a : 3; char b; int c : 20; long d; };
union several { unsigned a : 3; signed b : 20; unsigned char c : 8; short whole; };
struct bits { unsigned a : 5; signed b : 7; };
struct asked { char c; short s __attribute__((aligned(8))); char tail; };
struct around { char c; struct bits b; struct asked k; union several u; struct bits list[2]; short end; } __attribute__((packed));
static union several sixth = {.b = -5};
static struct around seventh = {1, {2, -3}, {4, 5, 6}, {.a = 7}, {{8, 9}, {10, -11}}, 12};
static struct around passed(struct around one, struct bits b) { one.b = b; one.list[1].b++; one.u.c = 200; one.k.s -= 9; return one; }
static struct moved first = {.c = 5, .a = 0xf0, .d = {1, [2] = 3}};
static struct split second = {1, 2, 3, 4, 5};
static struct wide third[2] = {{1, 2, 3}, {.c = 4}};
static struct tight fourth = {1, -2, 3, 4};
static struct unit fifth = {1, 2, 3, 4};
static void bytes(const void *at, size_t size) { for (size_t n = 0; n < size; n++) printf("%02x", ((const unsigned char *)at)[n]); puts(""); }
/* Variables that are aligned to more than their types ask for, some by a macro. */
#define LINE (2 * 32)
_Alignas(LINE) static char line[10] = "aligned"; int shared_word __attribute__((aligned(32))) = 5; static __thread short own __attribute__((aligned(64))) = 6;
static int off(const void *at, unsigned long by) { return (int)((unsigned long)at % by); }
static int aligned(int n) { static long kept __attribute__((aligned(2UL * 64))); char c = 1; _Alignas(16) int list[3] = {n, 2}; int big[100] __attribute__((aligned)), plain __attribute__((aligned(2))) = 3; big[99] = c; list[2] = kept++;
    for (int i = 0; i < 2; i++) { float f __attribute__((aligned(32))) = i; if (off(&f, 32)) return -1; n += (int)f; if (n == 100) goto out; } big[0] = off(&kept, 128) + off(list, 16) + off(big, 16) + off(line, 64) + off(&shared_word, 32) + off(&own, 64);
    out: return big[0] * 1000 + list[0] + list[2] + big[99] + plain + line[1] + own++ + shared_word--; }
struct packet { short a; unsigned b : 3; signed c : 5; _Bool d : 1; unsigned long e : 37; enum { LOW, HIGH = 3 } f : 2; unsigned g : 9; unsigned char h; };
static const struct packet packets[] = {{-3, 5, -7, 2, 0x1234567891ul, HIGH, 300, 'x'}, {.c = 15, .g = -1, .h = 0}, {0, 9, .d = 0.5 > 0.25, .e = ~0ul}, {0}};
static unsigned long packed_up(int n) { struct packet p = {n, n, n, n, n, LOW, 77, n}, q = {.b = 6, .c = n + 1, .d = 1, .g = 5}; union { unsigned u : 12; short s; } v = {0xabcd};
    return p.a + p.b * 3ul + p.c * 5 + p.d * 7 + (unsigned long)p.e * 11 + p.f + p.g * 13 + p.h + q.b * 17 + q.c * 19 + q.d * 23 + q.g * 29 + v.s; }
static void packing(void) { const unsigned char *at = (const unsigned char *)packets; unsigned sum = 0;
    for (unsigned n = 0; n < sizeof packets; n++) sum = sum * 31 + at[n];
    for (int n = 0; n < 4; n++) { const struct packet *p = &packets[n]; printf("%d %u %d %d %lx %d %u %d\n", p->a, p->b, p->c, p->d, (unsigned long)p->e, p->f, p->g, p->h); }
    printf("%u %lu %lu\n", sum, packed_up(3), packed_up(-2)); }
int main(void) { packing();
    printf("%d %d %zu\n", aligned(1), aligned(2), sizeof line + sizeof own);
    bytes(&first, sizeof first); bytes(&second, sizeof second); bytes(third, sizeof third); bytes(&fourth, sizeof fourth); bytes(&fifth, sizeof fifth);
    bytes(&sixth, sizeof sixth); bytes(&seventh, sizeof seventh); struct around back = passed(seventh, (struct bits){.b = 31}); struct bits alone = back.list[1];
    printf("%zu %zu %zu %zu %d %d %d %u %d\n", sizeof(union several), sizeof(struct around), _Alignof(struct around), _Alignof(struct bits), sixth.b, sixth.whole, alone.b, back.u.a, back.k.s); bytes(&back, sizeof back);
    struct moved copy = first; copy.c = ~0ul; copy.g = 0x01020304; printf("%lx %x %d %d\n", (unsigned long)copy.c, copy.a, copy.e, copy.d[2]);
    printf("%zu %zu %zu %zu %zu\n", offsetof(struct moved, a), offsetof(struct split, e), offsetof(struct wide, c), offsetof(struct tight, d), offsetof(struct unit, d));
    second.d = -7; second.e = 9; fourth.d++; printf("%d %d %d %d %d\n", (int)second.d, second.e, third[1].c, fourth.d, fifth.c);
    return 0;
}

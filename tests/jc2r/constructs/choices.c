#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#define KIND(x) _Generic((x), int: 1, long: 2, double: 3, char *: 4, default: 5)
#define TEXT(x) _Generic((x), int: of_int, double: of_double, const char *: of_text)(x)
#define MAX(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define SWAP(a, b) do { __auto_type _t = (a); (a) = (b); (b) = _t; } while (0)
static int of_int(int n) { return n + 1; } static int of_double(double d) { return (int)(d * 2); } static int of_text(const char *t) { return t[0]; }
static int calls; static int next(void) { return ++calls; } static int log2_of(unsigned n) { return n ? 31 - __builtin_clz(n) : -1; }
int main(void) {
    int i = 3; long l = 4; double d = 2.5; const char *t = "text"; char *c = 0; printf("%d %d %d %d %d %d\n", KIND(i), KIND(l), KIND(d), KIND(c), KIND(t), KIND(1.f));
    printf("%d %d %d %d %d\n", TEXT(i), TEXT(d), TEXT(t), MAX(i, 7), MAX(next(), next())); SWAP(i, calls); printf("%d %d %d %d\n", i, calls, next() ?: 9, 0 ?: 8);
    printf("%d %d %d\n", __builtin_choose_expr(1, 3, 4.0), __builtin_types_compatible_p(int, long), __builtin_constant_p(3)); printf("%d %d %d %d\n", isnan(NAN) != 0, isinf(-INFINITY), signbit(-0.0) != 0, fpclassify(1.0) == FP_NORMAL);
    printf("%d %d %d %d %d\n", __builtin_popcount(255), __builtin_ctz(8), __builtin_ffs(12), __builtin_parity(7), log2_of(1000)); int sum; unsigned char small; bool over = __builtin_add_overflow(2000000000, 2000000000, &sum); printf("%d %d %d %d\n", over, sum, __builtin_mul_overflow(20, 20, &small), small);
    printf("%x %lx %d\n", __builtin_bswap32(0x12345678), (long)__builtin_bswap64(1), __builtin_expect(i == 2, 1)); printf("%g %g\n", sqrt(2.25), fmax(HUGE_VAL, 1)); unsigned u = -1; printf("%d %d %u\n", u > 0, -1 < u, (unsigned)(unsigned char)(int)300.7);
    char grow = 100; grow += 100; short sh = 1; sh <<= 14; sh *= 2; unsigned char uc = 200; uc >>= 1L; uc = ~uc; printf("%d %d %d %d\n", grow, sh, uc, (uc ^ 0x80) >> 4); int *p = &i, **pp = &p; printf("%d %ld %d\n", **pp, (long)(&p[2] - p), p == *pp); return !t;
}

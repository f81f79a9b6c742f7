/* Complex numbers: what operators make of them, how they travel, what libm makes of them. */
#include <complex.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TWICE(Z) ((Z) + (Z))
#define J (0.0 + 2.5 * I)

typedef struct { int n; double complex z; float complex w; } holder;
typedef struct { float complex w; } small;

static double complex unit = I;
static const double complex corner = 1.5 - 2.0 * I;
static float complex row[4] = {1, 2.5f, I, CMPLXF(3, -4)};
static holder held = {7, 1 + 2 * I, 3.0f};
double complex shared[2];

static void say(const char *what, double complex z)
{
    unsigned long long bits[2];
    double parts[2] = {creal(z), cimag(z)};
    if (parts[0] != parts[0]) parts[0] = NAN;
    if (parts[1] != parts[1]) parts[1] = NAN;
    memcpy(bits, parts, sizeof bits);
    bits[0] &= parts[0] != parts[0] ? 0x7fffffffffffffffull : ~0ull;
    bits[1] &= parts[1] != parts[1] ? 0x7fffffffffffffffull : ~0ull;
    printf("%s %.17g %.17g %llx %llx\n", what, parts[0], parts[1], bits[0], bits[1]);
}

/* So that a table of them is called by the C library, and by C. */
static int order(const void *a, const void *b)
{
    double one = cabs(*(const double complex *)a), two = cabs(*(const double complex *)b);
    return (one > two) - (one < two);
}

static double complex many(int n, double complex a, float b, float complex c, double d,
                           double complex e, long f, float complex g, double complex h,
                           double complex i)
{
    return a * n + b * c - d / e + f * g + h * i;
}

static float complex narrow(float complex a, float b) { return a * a / b + conjf(a); }
static small boxed(small a, small b) { small c = {a.w * b.w}; return c; }
static holder changed(holder one) { one.z *= one.w; one.w -= one.n; return one; }

static int truths(double complex z)
{
    int n = 0;
    _Bool b = z;
    if (z) n |= 1;
    if (!z) n |= 2;
    if (z && n) n |= 4;
    while (z) { z = z == 1 ? 0 : 1; n += 8; }
    return n + b + (z ? 100 : 200);
}

static double complex jumps(int n)
{
    double complex sum = 0, step;
    switch (n % 3) {
    case 0: sum += 1;
        for (step = I; n-- > 0; step *= 1 + I) {
    case 1: sum += 2 * I; if (n < -3) goto out;
        }
    default: sum -= 0.5;
    }
out:
    return sum;
}

static double complex power(double complex z, int n)
{
    double complex result = 1;
    for (; n; n >>= 1, z *= z) if (n & 1) result *= z;
    return result;
}

static double complex last(int n, double complex z, float complex w, ...)
{
    va_list list;
    double part = creal(z) + cimag(w);
    va_start(list, w);
    while (n--) part = part * 2 + va_arg(list, double);
    va_end(list);
    return part * I;
}

int main(void)
{
    static const double edges[] = {0.0, -0.0, 1.0, -2.5, INFINITY, -INFINITY, NAN, 1e308};
    double complex (*table[])(double complex) = {csqrt, cexp, clog, csin, ccos, ctanh, conj, cproj};
    volatile double told[] = {3, -4, 0.1, 0.7}; /* what is known is worked out by compilers */
    double complex z = told[0] + told[1] * I, *at = shared;
    float complex w = told[2] + told[3] * I;
    double x = told[0] / 1.7;
    int n = (int)told[0];
    for (int a = 0; a < 8; a++) for (int b = 0; b < 8; b++) for (int c = 0; c < 8; c += 3)
        for (int d = 0; d < 8; d++) {
            double complex one = CMPLX(edges[a], edges[b]), two = CMPLX(edges[c], edges[d]);
            say("*", one * two); say("/", one / two); say("r/", edges[a] / two);
            say("r*", edges[d] * one); say("+", one + two); say("-", edges[c] - one);
            float complex less = one, other = two;
            say("f*", less * other); say("f/", less / other); say("f-", less - other);
            printf("%d%d", one == two, one != edges[c]);
        }
    for (int k = 0; k < 8; k++) { say("f", table[k](z)); say("g", table[k](z / 7 * w)); }
    say("many", many(2, z, 0.3f, w, 1.1, unit, 5, row[3], corner, held.z));
    say("narrow", narrow(w, 3)); say("narrow", narrow(row[2], 0.1f));
    say("boxed", boxed((small){w}, (small){row[3]}).w);
    holder other = changed(held);
    say("held", other.z); say("held", other.w); say("held", held.z);
    printf("%d %d %d\n", truths(0), truths(z), truths(1));
    for (int k = 0; k < 8; k++) say("jumps", jumps(k));
    say("power", power(0.3 + 0.9 * I, 19));
    say("last", last(3, z, w, 1.0, 2.0, 3.5));
    z += n; say("+=", z); z *= w; say("*=", z); z -= x; say("-=", z); z /= 2 - I; say("/=", z);
    w += z; say("w", w); w /= n; say("w", w); x *= z; printf("%.17g\n", x); n += z;
    x /= w; printf("%.17g %d\n", x, n); w *= 3.3; say("w", w); w = w - 'a'; say("w", w);
    z++; --z; ++z; say("step", z); say("old", z--); say("neg", -z); say("conj", ~z);
    __real__ z = 5; __imag__ z += 1.5; say("parts", z); __imag__ row[1] = __real__ z;
    printf("%g %g %g\n", __real__ x, __imag__ z, crealf(row[1] * I));
    double *parts = (double *)&z, *real = &__real__ z;
    parts[1] = 9; *real -= 2; say("pointed", z);
    at[0] = z; at[1] = 2 * I; qsort(shared, 2, sizeof *shared, order); say("sorted", *at);
    *at++ *= 3; say("stepped", *at); say("twice", TWICE(z)); say("J", J * z - J);
    say("if", n > 2 ? z : x); say("if", n > 100 ? 1 : w); z = (n = 2, w); say("comma", z);
    x = z; n = (int)(creal(z) * 10); printf("%.17g %d %d %zu %zu\n", x, n, (int)z, sizeof z, sizeof w);
    volatile double complex quick = z; quick = quick * 2; say("volatile", quick);
    printf("%g %g %g\n", cabs(3 + 4 * I), carg(I), (double)cabsf(row[3]));
    double complex made[] = {[2] = 1, z, [5] = I}, grid[2][2] = {{1, I}, {I}};
    for (int k = 0; k < 6; k++) say("made", made[k]);
    say("grid", grid[0][1] * grid[1][0] + grid[1][1]);
    say("literal", *(&(double complex){1 - I})); z = z == z ? z : -z; say("=", z);
    printf("%d %d\n", z == 2, creal(z) == z);
    return 0;
}

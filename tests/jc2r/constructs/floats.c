#include <stdio.h>
#include <math.h>
static float half(float x) { return x / 2; }
int main(void) {
    double d = 1.5; float f = 0.1f; int n = 7; d += n; f *= 3; n = (int)(d * 2.9); n += 0.7;
    printf("%f %.3f %d %g\n", d, f, n, (double)(n / 2) + n / 2.0);
    printf("%.2f %.2f %d %d\n", sqrt(2.0), fabs(-d), d > f, !d); d = -d; printf("%g %g\n", d, half(n));
    d++; --f; printf("%g %g %u\n", d, f, (unsigned)3.99); return 0;
}

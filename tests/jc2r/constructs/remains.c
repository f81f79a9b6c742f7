#include <complex.h>
#include <setjmp.h>
#include "remains.h"
static jmp_buf back; HIDDEN int depth; static long double wide = 1.25L;
const static unsigned char steps[] = {3, 4}; unsigned long const static late = 5;
static long twice(long n) { long r; n += steps[1] - sizeof steps; n -= late - 3; __asm__("lea (%1,%1), %0 #%=" : "=r"(r) : "r"(n)); depth++; return r; }
static void leave(int n) { /* This one is: "*/
#define TIMES 2 /* "
  twice */
 if (n > 3) longjmp(back, n); depth++; leave(n + 1); }
static int caught(int n) { int got = setjmp(back); if (got) return got * 10; leave(n); return -1; }
static double exact(double d) { long double l = d; l = l * wide + (long double)depth; return (double)l; }
static double length(double re, double im) { double complex z = re + im * I; return creal(z * conj(z)); }
struct gauge { int n; long double peak; double complex at; char end; };
static struct gauge gauges[2] = {{1, .end = 'a'}, {2}};
static void counted(struct gauge *g) { g->n += 5; g[1].end = g->end; }
static double raised(struct gauge *g, double d) { g->peak += d; return (double)g->peak; }
static int shared(void) { /* A remark is none:
#search 1
   */ return depth * TIMES; }
int main(void) { printf("%ld %d\n", twice(21), caught(1)); printf("%g %g %d\n", exact(2.5), length(3, 4), shared()); counted(gauges); printf("%g %d %c\n", raised(gauges, 1.5), gauges[0].n, gauges[1].end); return 0; }

#include <stdio.h>
static int g, i, a[10]; static struct S { int t, u[4]; } s; static struct S *ps = &s;
static int f(int k) { printf("f%d ", k); g += 10; i++; s.t += 100; a[0] += 10; return k; }
static int two(int x, int y) { return x * 10 + y; }
#define R g = 1; i = 2; a[0] = 1; s.t = 1;
int main(void) {
    R g += f(1); printf("%d\n", g); R ps->t += f(2); printf("%d\n", s.t); R a[i] = f(3); printf("%d %d\n", a[2], a[3]); R a[i] += f(4); printf("%d %d\n", a[2], a[3]);
    R printf("%d\n", two(f(1), f(2))); a[f(5)] = f(6); printf("%d %d\n", f(7), f(8)); int v = f(1) + f(2) * f(3); printf("%d\n", v);
    R printf("%d\n", g - f(1)); R printf("%d\n", g + f(1)); R printf("%d\n", g * 2 + f(1)); R printf("%d\n", a[0] + f(1)); R printf("%d\n", ps->t + f(1)); R printf("%d\n", g < f(5)); R printf("%d\n", g == f(1));
    R printf("%d %d\n", g, f(1)); R v = f(1) + g; printf("%d\n", v); R a[g] = f(2); printf("%d\n", a[1]); R ps->u[g] = f(1); printf("%d\n", s.u[1]); int local = 1; local += f(1) + (local = 5); printf("%d\n", local); return 0;
}

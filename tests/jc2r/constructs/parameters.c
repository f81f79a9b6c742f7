#include <stdio.h>
static int len(const char s[]) { int n = 0; while (*s++) n++; return n; }
static int tot(int v[], int n) { int t = 0; int *e = v + n; for (; v < e; v++) t += *v; return t + (v == e) + (int)(e - v) + (v != 0); }
int main(int argc, char *argv[]) { int a[] = {1,2,3}; argv++; argv += 0; if (*argv) puts(*argv); printf("%d %d %d\n", len("four"), tot(a, 3), argv[0] != 0); --argv; return !argv; }

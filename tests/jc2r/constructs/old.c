#include <stdio.h>
#include <stdlib.h>
int add(); static double half(f, n) float f; short n; { return f / 2 + n; } char *name(which) int which; { return which ? "yes" : "no"; }
int count(text, c) char *text; char c; { int n = 0; while (*text) if (*text++ == c) n++; return n; } none() { return 7; }
static int apply(f, x) int (*f)(); int x; { return (*f)(x, x + 1); }
extern int absent_until_below();
static int said(const char text[], char *const all[3]) { int puts(), strcmp(); return puts(text) + strcmp(text, all[0]); }
static int second(v, n) char **v; int n; { return v[1][n]; } static int through(int (*f)(), char *v[]) { return f(v, 1); }
static int told(format, a, b, c) char *format; long a, b, c; { return printf(format, a, b, c); } static int none_of(); static double of_half(f, c) float f; char c; { return f == 9 ? c : f / 2; }
int main(argc, argv) int argc; char **argv; { int (*table[2])() = {add, none}; printf("%d %.2f %s %d %d\n", add(1, 2), half(3.0f, 4), name(0), count("banana", 'a'), none());
    printf("%d %d %d\n", apply(add, 5), table[0](3, 4), absent_until_below(2, "xyz"));
    int calls = 0; told("none\n"); told("%ld %s\n", 5L, "words"); told("%ld\n", (long)calls++, 2L, 3L, calls++, calls++); printf("%d %d %.1f\n", calls, none_of(calls++), of_half(3.0));
    char *all[] = {"one", "two", "three"}; printf("%d %c\n", said("four", all) > 9, through(second, all)); return argc > 9; }
int add(a, b) int a, b; { return a + b; } int absent_until_below(n, t) int n; const char *t; { return n + t[0]; } static int none_of() { return 8; }

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
struct big { long a, b, c; };
struct pair { int a, b; };
static int sum(int n, ...) { va_list l; int s = 0; va_start(l, n); while (n-- > 0) s += va_arg(l, int); va_end(l); return s; }
double mean(const char *kinds, ...) { va_list l, again; double total = 0; va_start(l, kinds); va_copy(again, l);
    for (const char *k = kinds; *k; k++) { if (*k == 'd') total += va_arg(l, double); else if (*k == 'i') total += va_arg(l, int);
        else if (*k == 'l') total += va_arg(l, long); else total += strlen(va_arg(l, char *)); }
    va_end(l); if (*kinds == 'i') total += va_arg(again, int); va_end(again); return total / strlen(kinds); }
static void say(const char *form, ...) { va_list l; va_start(l, form); vprintf(form, l); va_end(l); putchar('\n'); }
static int text(char *to, size_t size, const char *form, va_list l) { return vsnprintf(to, size, form, l); }
static char *made(char *to, size_t size, const char *form, ...) { va_list l; va_start(l, form); text(to, size, form, l); va_end(l); return to; }
static long big(int n, ...) { va_list l; va_start(l, n); struct big b = va_arg(l, struct big); struct pair p = va_arg(l, struct pair);
    long r = b.a + b.b + b.c + p.a * p.b + va_arg(l, int); va_end(l); return r; }
static unsigned char small(float first, ...) { va_list l; va_start(l, first); unsigned char c = va_arg(l, int); float f = va_arg(l, double); va_end(l); return c + (int)(f + first); }
static long many(int a, int b, char c, long d, short e, const char *f, ...) { va_list l; va_start(l, f); long r = a + b + c + d + e + strlen(f) + va_arg(l, int) * 100 + (long)va_arg(l, double) + va_arg(l, int); va_end(l); return r; }
static long more(int a, int b, char c, long d, short e, const char *f, double x, unsigned char g, long h, ...) { va_list l; va_start(l, h); long r = a + b + c + d + e + *f + (long)x + g * 7 + h; while ((a = va_arg(l, int))) r = r * 3 + a; va_end(l); return r; }
int main(void) {
    char buffer[64]; struct big b = {1, 2, 3}; struct pair p = {4, 5}; int (*through)(int, ...) = sum;
    printf("%d %d %d\n", sum(0), sum(3, 1, 2, 3), through(9, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    printf("%.3f\n", mean("idlsidddddddddddd", 7, 1.5, 100000000000L, "four", 3, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.));
    say("%s %c %5.2f %ld", "words", 'x', 3.14159, -5L); puts(made(buffer, sizeof buffer, "%d-%s", 42, "end"));
    printf("%ld %d\n", big(0, b, p, 6), small(1.25f, 'a', 2.5f));
    printf("%ld %ld\n", many(1, 2, 3, 4, 5, "six", 7, 8.5, 9), more(1, 2, 3, 4, 5, "six", 7.5, 8, 9, 10, 11, 12, 0));
    return 0;
}

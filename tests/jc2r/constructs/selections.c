/* What only the text of a function tells: branches of one type, rows in sizeof. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME(x) _Generic((x), int: "int", unsigned: "unsigned", double: "double", float: "float", \
  char *: "char*", const char *: "cchar*", long: "long", default: "other")

struct pair { int a, b; };
typedef struct pair pair_t;

static const char *names(int c, char **v) {
    static char all[200];
    const double d = c;
    float f = 1;
    all[0] = 0;
    strcat(all, NAME(c)); strcat(all, NAME(d)); strcat(all, NAME(f)); strcat(all, NAME(v[0]));
    strcat(all, NAME("_Generic(x)")); strcat(all, NAME((const char *) "y")); strcat(all, NAME(1L));
    strcat(all, NAME((short) 1)); strcat(all, NAME(v)); strcat(all, NAME('c'));
    return all;
}

static size_t rows(int n) {
    char *text = malloc(sizeof(char[n + 2]));
    size_t all = sizeof(struct pair[n]) + sizeof(char *[n][2]) * 1000 + sizeof(pair_t[n]) * 7;
    char own[n];
    strcpy(text, "a");
    text = realloc(text, sizeof(char[strlen(text) + 2]));
    all += sizeof(const unsigned short[++n]) + n + sizeof own + sizeof(struct pair[3]);
    free(text);
    return all;
}

static int twice(int n) { return 2 * n; }

static int called(int n, ...) {
    va_list list;
    int all = 0;
    va_start(list, n);
    while (n--) {
        int (*f)(int) = va_arg(list, int (*)(int));
        all = all * 10 + f(n);
    }
    va_end(list);
    return all;
}

int main(int c, char **v) {
    printf("%s\n", names(c, v));
    printf("%zu %zu %d\n", rows(3), rows(5), called(2, twice, abs));
    return 0;
}

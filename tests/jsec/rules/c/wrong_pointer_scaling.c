#include <stddef.h>

struct item { int a; int b; };
typedef unsigned char byte;

int scaled(int *row, struct item *items, size_t n) {
    int *third = row + 2 * sizeof(int); // expect: wrong-pointer-scaling
    int first = *(row + (1 * sizeof(int))); // expect: wrong-pointer-scaling
    items += sizeof(struct item); // expect: wrong-pointer-scaling
    items = items + n * sizeof(*items); // expect: wrong-pointer-scaling
    return *third + first + items->a;
}

int fine(int *row, char *bytes, byte *raw, size_t n) {
    int *third = row + 2; // ok
    char *next = bytes + n * sizeof(int); // ok
    byte *other = raw + sizeof(struct item); // ok
    int *end = row + sizeof(int[4]) / sizeof(int); // ok
    char *cast = (char *)row + n * sizeof(int); // ok
    size_t size = n + 2 * sizeof(int); // ok
    return *third + *next + *other + *end + *cast + (int)size;
}

struct text { char *ptr; };
struct many { char **ptr; };
char *after_prefix(struct text *t) {
    return t->ptr + sizeof("Basic ") - 1; // ok
}
char *after_head(struct text *t) {
    return t->ptr + sizeof(struct many); // ok
}

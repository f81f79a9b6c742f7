#include <stdlib.h>
#include <string.h>

void keep(char *text);

void second_value(const char *a, const char *b) {
    char *name = strdup(a);
    name = strdup(b); // expect: overwritten-allocation
    free(name);
}

void set_null(size_t n) {
    char *p = malloc(n);
    if (p == NULL)
        return;
    p = NULL; // expect: overwritten-allocation
}

void freed(const char *a, const char *b) {
    char *name = strdup(a);
    free(name);
    name = strdup(b); // ok
    free(name);
}

void kept(const char *a, const char *b) {
    char *name = strdup(a);
    keep(name);
    name = strdup(b); // ok
    keep(name);
}

void tried_again(size_t n) {
    char *p = malloc(n);
    if (!p)
        p = malloc(n / 2); // ok
    free(p);
}

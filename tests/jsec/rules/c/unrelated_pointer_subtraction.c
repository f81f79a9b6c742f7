#include <stdlib.h>
#include <string.h>

extern void show(size_t);

void different(void) {
    char first[] = "abc/opqrs/";
    char second[] = "abc/opqrs/";
    char *slash = strchr(first, '/');
    if (slash == NULL) return;
    show(slash - second); // expect: unrelated-pointer-subtraction
    show(second - first); // expect: unrelated-pointer-subtraction
}

void elements(void) {
    int rows[4] = {0}, columns[4] = {0};
    show(&rows[3] - &columns[0]); // expect: unrelated-pointer-subtraction
    show(&rows[3] - columns); // expect: unrelated-pointer-subtraction
    show(&rows[3] - &rows[0]); // ok
    show(*rows - *columns); // ok
    show(*&rows[3] - *&columns[0]); // ok
}

void same(void) {
    char first[] = "abc/opqrs/";
    char *slash = strchr(first, '/');
    char *end = &first[4];
    if (slash == NULL) return;
    show(slash - first); // ok
    show(end - first); // ok
}

void unknown(char *p, char *q, int a, int b) {
    show(p - q); // ok
    show(a - b); // ok
}

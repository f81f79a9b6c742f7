#include <stdlib.h>
#include <stdio.h>

struct buffer { char *data; size_t size; };

int grow(struct buffer *b) {
    b->data = realloc(b->data, b->size * 2); // expect: realloc-assign-back
    return b->data != NULL;
}

char *local(char *p, size_t n) {
    p = (char *)realloc(p, n); // expect: realloc-assign-back
    return p;
}

#define RESIZE realloc
void macro(char *p) {
    p = RESIZE(p, 100); // expect: realloc-assign-back
    free(p);
}

int in_condition(char *p, size_t n) {
    if ((p = realloc(p, n)) == NULL) // expect: realloc-assign-back
        return -1;
    free(p);
    return 0;
}

char *temporary(char *p, size_t n) {
    char *bigger = realloc(p, n); // ok
    if (bigger == NULL) {
        free(p);
        return NULL;
    }
    return bigger;
}

char *other(char *p, char *q, size_t n) {
    q = realloc(p, n); // ok
    return q;
}

char *fresh(char *p, size_t n) {
    p = NULL;
    p = realloc(p, n); // ok
    return p;
}

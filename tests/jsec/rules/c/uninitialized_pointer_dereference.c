#include <stdlib.h>
#include <string.h>

struct item { int size; };
void obtain(struct item **to);

void write_through(void) {
    char *name;
    *name = 'x'; // expect: uninitialized-pointer-dereference
}

void member(void) {
    struct item *p;
    p->size = 1; // expect: uninitialized-pointer-dereference
}

void copy(const char *text) {
    char *name;
    strcpy(name, text); // expect: uninitialized-pointer-dereference
}

void sometimes(int c, struct item *given) {
    struct item *p;
    if (c)
        p = given;
    p->size = 1; // missed: uninitialized-pointer-dereference (assigned on some paths: needs flow analysis)
}

void set_first(struct item *given) {
    struct item *p;
    p = given;
    p->size = 1; // ok
}

void by_address(void) {
    struct item *p;
    obtain(&p);
    p->size = 1; // ok
}

void allocated(void) {
    struct item *p;
    p = malloc(sizeof *p); // ok
    if (p)
        p->size = 1;
    free(p);
}

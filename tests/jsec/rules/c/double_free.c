#include <stdlib.h>

struct item { char *name; struct item *next; };

void twice(struct item *p) {
    free(p->name);
    p->next = 0;
    free(p->name); // expect: double-free
}

void reset(struct item *p) {
    free(p->name);
    p->name = NULL;
    free(p->name); // ok
}

void branches(char *p, int bad) {
    if (bad) {
        free(p);
        return;
    }
    free(p); // ok
}

void either(char *p, int bad) {
    if (bad)
        free(p);
    else
        free(p); // ok
}

void after_branch(char *p, int bad) {
    if (bad) {
        free(p);
    }
    free(p); // expect: double-free
}

void macro_free(char *p) {
#if 0
    free(p);
#endif
    free(p); // ok
}

#define RELEASE free
void alias(char *p) {
    RELEASE(p);
    RELEASE(p); // expect: double-free
}

void aliased_pointer(char *p) {
    char *q = p;
    free(p);
    free(q); // missed: double-free (needs to know that q is p)
}

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

void release_in_loop(char **names, int n) {
    for (int i = 0; i < n; i++)
        free(names[i]); // ok
}

void members_of_array(struct item *items, int n) {
    for (int i = 0; i < n; i++) {
        free(items[i].name); // ok
    }
}

void each_element(struct item *p) {
    for (int i = 0; i < 3; i++) {
        struct item *one = p + i;
        free(one->name); // ok
    }
}

void filled_again(struct item *p, void fill(struct item *)) {
    free(p->name);
    fill(p);
    free(p->name); // ok
}

void by_goto(int bad) {
    char *p = malloc(4);
    if (p == NULL)
        return;
    if (bad)
        goto fail;
    free(p);
    return;
fail:
    free(p); // ok
}

void falls_into_fail(int bad) {
    char *p = malloc(4);
    if (p == NULL)
        return;
    if (bad)
        goto fail;
    free(p);
fail:
    free(p); // expect: double-free
}

void aliased_pointer(char *p) {
    char *q = p;
    free(p);
    free(q); // expect: double-free
}

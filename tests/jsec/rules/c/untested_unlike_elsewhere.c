#include <stddef.h>

struct entry {
    int value;
    struct entry *next;
};
struct table {
    struct entry *first;
    struct entry *last;
};
struct entry *lookup_in(struct table *t, int k);
static const int names[8] = {1, 2};

static int position(struct table *t, int k) {
    int at = 0;
    for (struct entry *e = t->first; e != NULL; e = e->next, at++)
        if (e->value == k)
            return at;
    return -1;
}

int first(struct table *t) {
    struct entry *e = lookup_in(t, 1);
    if (e == NULL)
        return -1;
    return e->value; // ok
}

int second(struct table *t) {
    struct entry *e;
    if (!(e = lookup_in(t, 2)))
        return -1;
    return e->value; // ok
}

int third(struct table *t) {
    struct entry *e = lookup_in(t, 3);
    return e ? e->value : 0; // ok
}

int fourth(struct table *t) {
    struct entry *e = lookup_in(t, 4);
    return e->value; // expect: untested-unlike-elsewhere
}

int name_of_first(struct table *t) {
    int at = position(t, 1);
    return at < 0 ? 0 : names[at]; // ok
}

int name_of_second(struct table *t) {
    int at = position(t, 2);
    if (at >= 0)
        return names[at]; // ok
    return 0;
}

int name_of_third(struct table *t) {
    int at = position(t, 3);
    if (at == -1)
        return 0;
    return names[at]; // ok
}

int name_of_fourth(struct table *t) {
    int at = position(t, 4);
    return names[at]; // expect: untested-unlike-elsewhere
}

int last_a(struct table *t) {
    return t->last == NULL ? 0 : t->last->value; // ok
}

int last_b(struct table *t) {
    if (!t->last)
        return 0;
    return t->last->value; // ok
}

int last_c(struct table *t) {
    struct entry *end = t->last;
    if (end && end->value > 1)
        return 1;
    return t->last ? t->last->value : 2; // ok
}

int last_d(struct table *t, struct entry *more) {
    t->last = more;
    return t->last->value; // ok
}

int last_e(struct table *t) {
    while (t->last)
        t->last = t->last->next; // ok
    return 0;
}

int last_f(struct table *t) {
    return t->last && t->last->value; // ok
}

int last_g(struct table *t) {
    return t->last->value; // expect: untested-unlike-elsewhere
}

#define ALWAYS(x) (1)

int fifth(struct table *t) {
    struct entry *e = lookup_in(t, 5);
    if (ALWAYS(e) && t->first)
        return e->value; // ok
    return 0;
}

int sixth(struct table *t) {
    struct entry *e = lookup_in(t, 6);
    return e == NULL ? 0 : e->value; // ok
}

int seventh(struct table *t) {
    struct entry *e = lookup_in(t, 7);
    return e != NULL && e->value; // ok
}

int eighth(struct table *t) {
    struct entry *e = lookup_in(t, 8);
    if (!e)
        return 0;
    return e->value; // ok
}

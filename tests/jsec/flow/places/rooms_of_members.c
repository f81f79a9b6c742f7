#include <stdlib.h>
struct list { int *items; unsigned n, cap; };
struct text { char *buf; size_t len; size_t room; };

struct list *make(unsigned cap) {
    struct list *l = malloc(sizeof *l);
    if (!l) return NULL;
    l->items = malloc(cap * sizeof(int));
    if (!l->items) { free(l); return NULL; }
    l->cap = cap;
    l->n = 0;
    return l;
}
int add(struct list *l, int v) {
    if (l->n > l->cap)
        return -1;
    l->items[l->n++] = v; // expect: index-beyond-room
    return 0;
}
int add_ok(struct list *l, int v) {
    if (l->n >= l->cap)
        return -1;
    l->items[l->n++] = v;
    return 0;
}
int start(struct text *t) {
    t->room = 64;
    t->buf = malloc(t->room);
    t->len = 0;
    return t->buf != NULL;
}
void put(struct text *t, char c) {
    if (t->len < t->room) {
        t->buf[t->len++] = c;
        t->buf[t->len] = '\0'; // expect: index-beyond-room
    }
}
void put_ok(struct text *t, char c) {
    if (t->len + 1 < t->room) {
        t->buf[t->len++] = c;
        t->buf[t->len] = '\0';
    }
}
char *copy(const char *s, unsigned n) {
    char *p = malloc(n);
    if (!p) return NULL;
    for (unsigned i = 0; i <= n; i++)
        p[i] = s[i]; // expect: index-beyond-room
    return p;
}
char *copy_ok(const char *s, unsigned n) {
    char *p = malloc(n + 1);
    if (!p) return NULL;
    for (unsigned i = 0; i <= n; i++)
        p[i] = s[i];
    return p;
}
struct pair { int key, value; };
struct map { struct pair *pairs; int used, size; };
int grow(struct map *m, int n) {
    struct pair *more = realloc(m->pairs, n * sizeof(*more));
    if (more == NULL)
        return -1;
    m->pairs = more;
    m->size = n;
    return 0;
}
int set(struct map *m, int at, int value) {
    if (at < 0 || at > m->size)
        return -1;
    m->pairs[at].value = value; // expect: index-beyond-room
    return 0;
}
int set_checked(struct map *m, int at, int value) {
    if (at < 0 || at >= m->size)
        return -1;
    m->pairs[at].value = value;
    return 0;
}

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

void stop_because(const char *why);
void grow_or_stop(struct buffer *b) {
    b->data = realloc(b->data, 100); // expect: realloc-assign-back
    if (b->data == NULL)
        stop_because("out of memory");
    b->data[0] = 'x';
}

int grow_copy(struct buffer **b) {
    struct buffer *grown = *b;
    grown = realloc(grown, 100); // expect: realloc-assign-back
    if (grown == NULL)
        return -1;
    *b = grown;
    return 0;
}

void released(struct buffer *b) {
    b->data = realloc(b->data, 0); // ok
}

void *grown_or_exit(void *p, size_t n);
#ifdef ALONE
#define grown_or_exit realloc
#endif
void by_build(char *p) {
    p = grown_or_exit(p, 100); // ok
    free(p);
}

char *first_block(size_t n) {
    char *p = NULL;
    char spare[10];
    use(spare);
    p = realloc(p, n); // ok
    return p;
}

char *first_either_way(int wide, size_t n) {
    char *p = NULL;
    if (wide) {
        p = realloc(p, n * 2); // ok
        use(p);
    } else {
        p = realloc(p, n); // ok
    }
    return p;
}

char *kept_between_calls(size_t n) {
    static char *p = NULL;
    p = realloc(p, n); // expect: realloc-assign-back
    return p;
}

char *sometimes_first(int fresh, char *p, size_t n) {
    if (fresh)
        p = NULL;
    use(p);
    p = realloc(p, n); // expect: realloc-assign-back
    return p;
}

char *first_of_many(int many) {
    char *p = NULL;
    for (int i = 1; i < many; i++) {
        p = realloc(p, i); // expect: realloc-assign-back
        use(p);
    }
    return p;
}

char *filled_by_another(size_t n) {
    char *p = NULL;
    fill(&p);
    p = realloc(p, n); // expect: realloc-assign-back
    return p;
}

int append(struct buffer *b, char byte) {
    b->data = realloc(b->data, b->size + 1); // expect: realloc-assign-back
    if (b->data == NULL)
        return -1;
    b->data[b->size++] = byte;
    return 0;
}

int append_in_condition(struct buffer *b, char byte) {
    if (!(b->data = realloc(b->data, b->size + 1))) // expect: realloc-assign-back
        return -1;
    b->data[b->size++] = byte;
    return 0;
}

int larger_than_it_is(struct buffer *b) {
    b->size *= 2;
    b->data = realloc(b->data, b->size); // expect: realloc-assign-back
    if (b->data == NULL)
        return -1;
    return 0;
}

int fatal_in_condition(struct buffer *b) {
    if ((b->data = realloc(b->data, b->size + 1)) == NULL) { // ok
        use("no memory");
        exit(1);
    }
    if (!(b->data = realloc(b->data, b->size + 2))) // ok
        err(1, "realloc");
    return 0;
}

void fatal_later(struct buffer *b) {
    b->data = realloc(b->data, b->size + 64); // ok
    b->size += 64;
    if (b->data == NULL) {
        use("no memory");
        exit(1);
    }
}

int goes_on(struct buffer *b) {
    if ((b->data = realloc(b->data, b->size + 1)) != NULL) // expect: realloc-assign-back
        exit(0);
    return -1;
}

int another_is_fatal(struct buffer *b, char *other) {
    b->data = realloc(b->data, b->size + 1); // expect: realloc-assign-back
    if (other == NULL)
        exit(1);
    return b->data != NULL;
}

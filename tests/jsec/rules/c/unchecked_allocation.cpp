#include <cstdlib>
#include <cstring>
#include <cstdio>
#include <new>

struct point { int x; int y; };
void use(const char *text);
void *xmalloc(size_t n);
void die(const char *why);

void at_once(const char *text, size_t n) {
    char *copy = (char *)malloc(n + 1);
    memcpy(copy, text, n); // expect: unchecked-allocation
    free(copy);
}

void member(size_t n) {
    struct point *p = (struct point *)calloc(n, sizeof *p);
    p->x = 1; // expect: unchecked-allocation
    free(p);
}

void duplicate(const char *text) {
    char *copy = strdup(text);
    copy[0] = 'x'; // expect: unchecked-allocation
    free(copy);
}

void without_throw() {
    point *p = new (std::nothrow) point;
    p->x = 1; // expect: unchecked-allocation
    delete p;
}

void handed_on(const char *text, size_t n) {
    use(strcpy((char *)malloc(n), text)); // expect: unchecked-allocation
}

void into_member(struct buffer *b, size_t n);
struct buffer { char *data; };
void into_member(struct buffer *b, size_t n) {
    b->data = (char *)malloc(n);
    b->data[0] = 0; // expect: unchecked-allocation
}

void tested(size_t n) {
    char *p = (char *)malloc(n);
    if (p == NULL)
        return;
    p[0] = 0; // ok
    free(p);
}

void tested_inside(size_t n) {
    char *p;
    if ((p = (char *)malloc(n)) != NULL) {
        p[0] = 0; // ok
        free(p);
    }
}

void both(size_t n) {
    char *p = (char *)malloc(n), *q = (char *)malloc(n);
    if (!p || !q) {
        free(p);
        free(q);
        return;
    }
    p[0] = q[0] = 0; // ok
    free(p);
    free(q);
}

void ends(size_t n) {
    char *p = (char *)malloc(n);
    if (!p)
        die("no memory");
    p[0] = 0; // ok
    free(p);
}

void never_null(size_t n) {
    char *p = (char *)xmalloc(n);
    p[0] = 0; // ok
    int *q = new int[n];
    q[0] = 0; // ok
    delete[] q;
    free(p);
}

#define CHECK(p) do { if (!(p)) abort(); } while (0)
void by_macro(size_t n) {
    char *p = (char *)malloc(n);
    CHECK(p);
    p[0] = 0; // ok
    free(p);
}

void short_circuit(size_t n) {
    char *p = (char *)malloc(n);
    if (p && p[0]) // ok
        use(p);
    free(p);
}

void *in_helper(size_t n) { return malloc(n); }
void from_helper(size_t n) {
    char *p = (char *)in_helper(n);
    p[0] = 0; // expect: unchecked-allocation
    free(p);
}

int rarely_fails(void) {
    point *one = (point *)malloc(sizeof *one);
    point *two = (point *)malloc(sizeof *two);
    if (__builtin_expect(one == NULL || two == NULL, 0)) {
        free(one);
        free(two);
        return 1;
    }
    one->x = two->x = 2; // ok
    free(one);
    free(two);
    return 0;
}

int tested_for_another(point *other) {
    point *one = (point *)malloc(sizeof *one);
    if (unlikely(other == NULL)) {
        free(one);
        return 1;
    }
    one->x = 2; // expect: unchecked-allocation
    free(one);
    return 0;
}

int *doubled(const int *from, size_t count) {
    int *to = (int *)malloc(count * 2 * sizeof *to);
    to[0] = from[0]; // expect: unchecked-allocation
    return to;
}

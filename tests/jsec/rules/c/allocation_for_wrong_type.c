#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct { int a; int b; char c[9]; } item;

void bytes(void) {
    int *data = NULL;
    data = (int *)alloca(10); // expect: allocation-for-wrong-type
    data = (int *)alloca(10 * sizeof(int)); // ok
    data[0] = 0;
}

void smaller(void) {
    int64_t *data = malloc(25 * sizeof(int32_t)); // expect: allocation-for-wrong-type
    int64_t *right = malloc(25 * sizeof(int64_t)); // ok
    char *text = malloc(10); // ok
    free(data);
    free(right);
    free(text);
}

void pointer(int n) {
    item *one = malloc(sizeof(item *)); // expect: allocation-for-wrong-type
    item **list = malloc(n * sizeof(item *)); // ok
    item *two = malloc(sizeof(item)); // ok
    item *three = malloc(sizeof(*three)); // ok
    free(one);
    free(list);
    free(two);
    free(three);
}

void *unknown(size_t n) {
    void *p = malloc(10); // ok
    int *q = malloc(n); // ok
    free(p);
    return q;
}

long *none_of_them(void) {
    long *list = malloc(1); // ok
    return list;
}

long *three_bytes(void) {
    long *list = malloc(3); // expect: allocation-for-wrong-type
    return list;
}

struct any { void **list; int count; };
int grown(struct any *of)
{
    void *list = realloc(of->list, of->count * sizeof(void *)); // ok
    if (list == NULL)
        return 0;
    of->list = list;
    return 1;
}

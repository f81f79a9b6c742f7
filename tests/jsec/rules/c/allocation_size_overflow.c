#include <stdio.h>
#include <stdlib.h>
#include <alloca.h>

struct item { int a; int b; };

void *table(int rows, int columns) {
    return malloc(rows * columns); // expect: allocation-size-overflow
}

void *with_header(int rows, int columns, void *old) {
    return realloc(old, 8 + rows * columns); // expect: allocation-size-overflow
}

void *limited(int rows, int columns) {
    if (rows > 100 || columns > 100) return NULL;
    return malloc(rows * columns); // ok
}

void *items(size_t n) {
    return malloc(n * sizeof(struct item)); // ok
}

void *zeroed(size_t n, size_t m) {
    return calloc(n, m); // ok
}

void *constant_product(void) {
    return malloc(30 * 40); // ok
}

int *from_input(void) {
    int data = 0;
    fscanf(stdin, "%d", &data);
    return (int *)malloc(data * sizeof(int)); // expect: allocation-size-overflow
}

int *from_input_limited(void) {
    int data = 0;
    fscanf(stdin, "%d", &data);
    if (data < 0 || data > 1000) return NULL;
    return (int *)malloc(data * sizeof(int)); // ok
}

int *replaced(void) {
    int data = 0;
    fscanf(stdin, "%d", &data);
    data = 20;
    return (int *)malloc(data * sizeof(int)); // ok
}

void *widened(int rows, int columns) {
    return malloc((size_t)rows * columns); // ok
}

struct item *from_message(FILE *in) {
    size_t count = 0;
    if (fscanf(in, "%zu", &count) != 1)
        return NULL;
    return malloc(count * sizeof(struct item)); // expect: allocation-size-overflow
}

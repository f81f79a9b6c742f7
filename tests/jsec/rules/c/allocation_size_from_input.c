#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELLO "hello"

char *only_lower(void) {
    size_t data = 0;
    char line[100] = "";
    if (fgets(line, 100, stdin) != NULL) {
        data = strtoul(line, NULL, 0);
    }
    if (data > strlen(HELLO)) {
        return (char *)malloc(data * sizeof(char)); // expect: allocation-size-from-input
    }
    return NULL;
}

char *both(void) {
    size_t data = 0;
    char line[100] = "";
    if (fgets(line, 100, stdin) != NULL) {
        data = strtoul(line, NULL, 0);
    }
    if (data > strlen(HELLO) && data < 100) {
        return (char *)malloc(data * sizeof(char)); // ok
    }
    return NULL;
}

void *many(void) {
    unsigned n;
    if (scanf("%u", &n) != 1) return NULL;
    return calloc(n, 16); // expect: allocation-size-from-input
}

void *constant_size(void) {
    int n = rand();
    n = 20;
    return malloc(n); // ok
}

void *from_caller(size_t n) {
    return malloc(n); // ok
}

static size_t sum_of(size_t a, size_t b) {
    size_t sum = a + b;
    return sum >= a ? sum : SIZE_MAX;
}

char *sized_by_sums(size_t first, size_t second) {
    return malloc(sum_of(sum_of(first, second), 1)); // ok
}

char *much_too_large(void) {
    size_t n = 4000000000;
    return malloc(n); // expect: allocation-size-from-input
}

#include <stdint.h>
#include <stdlib.h>

void *grow(void *block, unsigned capacity, unsigned needed) {
    while (capacity < needed)
        capacity *= 2; // expect: doubled-size-may-wrap
    return realloc(block, capacity);
}

void *grow_free(void *block, size_t capacity, size_t used, size_t wanted) {
    while (wanted >= (capacity - used)) capacity <<= 1; // expect: doubled-size-may-wrap
    return realloc(block, capacity);
}

void *grow_checked(void *block, size_t capacity, size_t needed) {
    while (capacity < needed) {
        if (capacity > SIZE_MAX / 2)
            return NULL;
        capacity *= 2; // ok
    }
    return realloc(block, capacity);
}

void *grow_limited(void *block, size_t capacity, size_t needed) {
    if (needed > 1000000)
        return NULL;
    while (capacity < needed)
        capacity *= 2; // ok
    return realloc(block, capacity);
}

void *to_constant(void) {
    unsigned capacity = 1;
    while (capacity < 4096)
        capacity *= 2; // ok
    return malloc(capacity);
}

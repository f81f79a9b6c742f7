#include <stdio.h>
#include <string.h>

int unpack(char *target, const char *source, size_t left, size_t n) {
    int error = 0;
    if (left < n)
        error = 2;
    memset(target, *source, n); // expect: limit-tested-without-effect
    return error;
}

int unpack_told(char *target, const char *source, size_t left, size_t n) {
    if (n > left) {
        fprintf(stderr, "overrun");
    }
    memcpy(target, source, n); // expect: limit-tested-without-effect
    return 0;
}

int unpack_left(char *target, const char *source, size_t left, size_t n) {
    int error = 0;
    if (left < n) {
        error = 2;
        return error;
    }
    memset(target, *source, n); // ok
    return error;
}

int unpack_limited(char *target, const char *source, size_t left, size_t n) {
    int error = 0;
    if (left < n) {
        error = 2;
        n = left;
    }
    memset(target, *source, n); // ok
    return error;
}

int unpack_or(char *target, const char *source, size_t left, size_t n) {
    if (left < n)
        printf("overrun");
    else
        memcpy(target, source, n); // ok
    return 0;
}

int at(const int *numbers, int count, int index) {
    if (index >= count)
        printf("too far");
    return numbers[index]; // expect: limit-tested-without-effect
}

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))

int copy(char *target, const char *data, size_t size, size_t offset, size_t count) {
    if (offset + count > size) // expect: sum-wraps-in-bound
        return -1;
    memcpy(target, data + offset, count);
    return 0;
}

int copy_checked(char *target, const char *data, size_t size, size_t offset, size_t count) {
    if (offset > size || count > size - offset)
        return -1;
    memcpy(target, data + offset, count); // ok
    return 0;
}

size_t copy_least(char *target, const char *data, size_t size, size_t offset, size_t count) {
    if (offset > size)
        return 0;
    size_t end = MIN(offset + count, size); // expect: sum-wraps-in-bound
    count = end - offset;
    memcpy(target, data + offset, count);
    return count;
}

size_t copy_least_checked(char *target, const char *data, size_t size, size_t offset, size_t count) {
    if (offset > size || offset > SIZE_MAX - count)
        return 0;
    size_t end = MIN(offset + count, size); // ok
    count = end - offset;
    memcpy(target, data + offset, count);
    return count;
}

int limited(char *target, const char *data, size_t size, size_t offset, size_t count) {
    if (count > 4096 || offset > 4096)
        return -1;
    if (offset + count > size) // ok
        return -1;
    memcpy(target, data + offset, count);
    return 0;
}

int in_more_bits(char *target, const char *data, size_t size, uint16_t offset, uint16_t count) {
    if (offset + count > size) // ok
        return -1;
    memcpy(target, data + offset, count);
    return 0;
}

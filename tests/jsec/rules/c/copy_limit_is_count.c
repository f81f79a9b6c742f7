#include <stdlib.h>

int memcpy_s(void *target, size_t size, const void *source, size_t count);

char *behind_header(const char *source, unsigned length, unsigned total) {
    char *block = malloc(total);
    if (!block)
        return 0;
    memcpy_s(block + 4, length, source, length); // expect: copy-limit-is-count
    return block;
}

char *behind_header_bounded(const char *source, unsigned length, unsigned total) {
    char *block = malloc(total);
    if (!block)
        return 0;
    memcpy_s(block + 4, total - 4, source, length); // ok
    return block;
}

char *checked(const char *source, unsigned length, unsigned total) {
    char *block = malloc(total);
    if (!block || total < 4 || length > total - 4)
        return block;
    memcpy_s(block + 4, length, source, length); // ok
    return block;
}

char *made_for_it(const char *source, unsigned length) {
    char *block = malloc(length);
    if (!block)
        return 0;
    memcpy_s(block, length, source, length); // ok
    return block;
}

void whole(int *target, const int *source) {
    memcpy_s(target, sizeof(*target), source, sizeof(*target)); // ok
}

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void narrowed(const char *source, size_t length) {
    char target[64];
    uint8_t few = (uint8_t)length;
    if (few > 60)
        return;
    memcpy(target, source, length); // expect: narrowed-copy-tested
    puts(target);
}

void narrowed_used(const char *source, size_t length) {
    char target[64];
    uint8_t few = (uint8_t)length;
    if (few > 60)
        return;
    memcpy(target, source, few); // ok
    puts(target);
}

void whole_tested(const char *source, size_t length) {
    char target[64];
    uint16_t few = (uint16_t)length;
    if (few > 60 || length > sizeof(target))
        return;
    memcpy(target, source, length); // ok
    puts(target);
}

void of_same_width(const char *source, unsigned length) {
    char target[64];
    int same = (int)length;
    if (same > 60)
        return;
    memcpy(target, source, length); // ok
    puts(target);
}

void given_another_value(const char *source, size_t length) {
    char target[64];
    uint8_t few = (uint8_t)length;
    if (few > 60)
        return;
    length = few;
    memcpy(target, source, length); // ok
    puts(target);
}

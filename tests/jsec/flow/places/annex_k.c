#include <securec.h>

void whole(const unsigned char *from) {
    unsigned char b[8];
    memcpy_s(b, sizeof b, from, 16);
    show(b);
}

void more_room_than_there_is(void) {
    unsigned char from[16] = {0};
    unsigned char b[8];
    memcpy_s(b, 16, from, 12);  // expect: buffer-write-stack
    show(b);
}

void refused(void) {
    unsigned char from[16] = {0};
    unsigned char b[8];
    memcpy_s(b, 8, from, 12);
    show(b);
}

void filled(void) {
    unsigned char b[8];
    memset_s(b, 64, 0, 32);  // expect: buffer-write-stack
    show(b);
}

void filled_within(void) {
    unsigned char b[8];
    memset_s(b, sizeof b, 0, sizeof b);
    show(b);
}

void printed(int n) {
    char b[4];
    sprintf_s(b, sizeof b, "%d", n);
    puts(b);
}

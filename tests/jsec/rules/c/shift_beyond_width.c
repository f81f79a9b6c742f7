#include <stdint.h>

int written(int a) { return a << 33; } // expect: shift-beyond-width
int inside(int a) { return a << 3; } // ok

unsigned whole(unsigned a) { return a >> 32; } // expect: shift-beyond-width
uint64_t wide(uint64_t a) { return a >> 32; } // ok

int by_a_variable(int a) {
    int bits = 40;
    return a << bits; // expect: shift-beyond-width
}

long by_a_variable_of_enough(long a) {
    int bits = 40;
    return a << bits; // ok
}

int negative(int a) {
    int bits = -1;
    return a << bits; // expect: shift-beyond-width
}

static unsigned moved(unsigned a, int bits) {
    return a << bits; // expect: shift-beyond-width
}

unsigned from_a_caller(unsigned a) { return moved(a, 64); }

unsigned tested(unsigned a, int bits) {
    if (bits < 0 || bits > 31) return 0;
    return a << bits; // ok
}

unsigned unknown(unsigned a, int bits) { return a << bits; } // ok

void assigned(unsigned *a) {
    *a <<= 35; // expect: shift-beyond-width
}

unsigned char promoted(unsigned char c) { return c << 9; } // ok

unsigned rotated(unsigned a, unsigned n) {
    n &= 31;
    return (a << n) | (a >> ((32 - n) & 31)); // ok
}

unsigned long wide_pattern(void) {
    typedef unsigned long int word;
    word one = 0x01010101;
    if (0xffffffffU < (word) -1) {
        one |= one << 31 << 1;
        if (8 < sizeof (word))
            for (int i = 64; i < (int) sizeof (word) * 8; i *= 2)
                one |= one << i; // ok
    }
    return one;
}

unsigned long too_wide_pattern(void) {
    typedef unsigned long int word;
    word one = 0x01010101;
    if (0xffffffffU < (word) -1)
        one |= one << 64; // expect: shift-beyond-width
    return one;
}

int wide(unsigned long n) { return n > (UINT64_C(1) << 38); } // ok

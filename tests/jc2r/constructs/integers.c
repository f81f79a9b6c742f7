#include <stdio.h>
#include <stdint.h>
#include <limits.h>
int main(void) {
    unsigned char c = 250; signed char s = -3; unsigned short h = 65535; int i = INT_MAX;
    unsigned u = 3; long l = -1; unsigned long ul = (unsigned long)l; uint64_t big = 1ull << 40;
    c += 10; h++; u -= 5; i = (int)(i + 1u);
    printf("%d %d %u %u %d %lu %llu\n", c, s, h, u, i, ul, (unsigned long long)big);
    printf("%d %d %d %d\n", -7 / 2, -7 % 3, s >> 1, (s & 0xff) << 4);
    printf("%d %d %d\n", (char)200, (unsigned char)-1, (short)70000);
    printf("%d %d %d\n", s < u, -1 < (int)u, (unsigned)-1 > 1);
    c = 255; c <<= 1; printf("%d\n", c); c = 200; c *= 2; printf("%d %d\n", c, ~c);
    i = 5; i = i++ + 1; l = i-- - --i; printf("%d %ld %d\n", i, l, !i);
    printf("%d %d %d\n", 'a', '\n', L'x'); printf("%lu %lu\n", sizeof(long), sizeof c);
    _Bool b = 7; b++; printf("%d %d\n", b, (_Bool)0.5);
    printf("%d\n", i > 3 ? i : i < 0 ? -1 : 0); u = 1; u ^= u << 31; printf("%u\n", u >> 30);
    return (c, i) & 1;
}

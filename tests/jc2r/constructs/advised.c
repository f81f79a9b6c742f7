/* Statements with attributes and pragmas, which only advise a compiler. */
#include <stdio.h>
#include <stdlib.h>
#define FALLS __attribute__((__fallthrough__))

static int falls(int n)
{
    int r = 0;
    switch (n & 15) {
    case 3: r += 3; FALLS;
    case 2: do { r += 2; } while (0); __attribute__((fallthrough)); /* on purpose */
    case 1: r++; [[fallthrough]];
    default: r += 10;
    }
    return r;
}

static int ends(int n)
{
    if (!n) {
        return 3;
    } else {
        switch (n) {
        case 12: do { n++; } while (0); FALLS;
        case 8: n += 4; FALLS;
        case 4: n *= 2; return n;
        case 13: n--; FALLS;
        case 5: return n * 3;
        default: break;
        }
    }
    return 1;
}

static int sums(int n)
{
    int sum = 0;
again: __attribute__((unused));
#pragma GCC unroll 4
    for (int i = 0; i < 10; i++) { if (i == 7) break; if (i == n) continue; sum += i; }
#pragma GCC ivdep
    while (sum > 40) sum -= 7;
    if (n++ < 10) goto again;
    return sum;
}

int main(void)
{
    for (int i = 0; i < 16; i++) printf("%d %d %d\n", falls(i), ends(i), sums(i));
    return 0;
}

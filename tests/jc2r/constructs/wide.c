/* Integers of 128 bits. */
#include <stdio.h>
#include <stdint.h>
typedef unsigned __int128 u128; typedef __int128 i128;
struct wide { char c; u128 w; }; static u128 table[2] = {1, ((u128)1 << 100) + 7}; static i128 neg = -5;
static u128 mul(uint64_t a, uint64_t b) { return (u128)a * b; }
static void show(u128 v) { char s[50]; int n = 49; s[n] = 0; do { s[--n] = '0' + (int)(v % 10); v /= 10; } while (v); puts(s + n); }
static int cmp(i128 a, i128 b) { return a < b ? -1 : a > b; }
static i128 shifts(i128 v, int n) { v <<= n; v >>= 3; return v ^ ~(i128)1; }
int main(void) { show(mul(-1, -1)); show(table[1]); printf("%d %d %d\n", cmp(neg, 2), cmp(neg, -5), (int)(neg >> 1)); struct wide w = {'a', 3}; w.w *= table[1]; show(w.w); printf("%zu %zu\n", sizeof w, _Alignof(struct wide));
  show(shifts(12345, 70)); double d = (double)table[1]; printf("%g %d\n", d, (int)(u128)3.7); u128 x = -1; x++; printf("%d %d\n", x == 0, !x); switch ((int)(table[1] % 13)) { case 1: puts("1"); break; default: puts("d"); } return (int)(w.w & 3); }

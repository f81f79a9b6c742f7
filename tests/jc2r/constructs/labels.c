#include <stdio.h>
#include <stdlib.h>
static int forward(int n) { int *a = 0, *b = 0, result = -1; if (n < 0) goto end; a = malloc(4); if (n == 0) goto free_a; b = malloc(4);
    if (n == 1) goto free_b; result = n; free_b: free(b); free_a: free(a); end: return result; }
static int backward(int n) { int i = 0, sum = 0; again: if (i >= n) goto done; for (int k = 0; k < 3; k++) { if (k == 2) { i++; goto again; } sum += k + i; } done: return sum; }
static int crossing(int n) { int c = 0; if (n & 1) goto inner; top: c += 10; while (c < 50) { c++; inner: c += 3; if (c == 20) goto out; if (c > 40) goto top; } out: return c; }
static int deep(int n) { int found = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { switch (i * j) { case 6: found = i * 10 + j; goto out; case 4: continue; } } out: ; int after = found + 1; return after; }
static int computed(const char *code) { static void *table[] = {&&add, &&twice, &&stop}; int v = 1; goto *table[*code++ - '0']; add: v += 3; goto *table[*code++ - '0'];
    twice: v *= 2; goto *table[*code++ - '0']; stop: return v; }
static int inside(int n) { switch (n) { case 0: { int k = 5; n += k; case 1: n += 100; } break; default: if (n > 5) { case 2: n += 1000; } } return n; }
static int declared(int n) { switch (n) { int later; case 1: later = 4; n += later; break; case 2: ; int other = 7; n = other * 2; default: later = 9; n += later; } return n; }
static int retry(int n) { int tries = 0; retry: { int fresh = tries * 2; tries++; if (fresh < n) goto retry; } if (tries < 3) { n++; goto retry; } return tries * 100 + n; }
static int two(int n) { a: n--; if (n > 10) goto b; if (n > 5) goto a; return n; b: n -= 3; goto a; }
int main(void) {
    printf("%d %d %d %d\n", forward(-1), forward(0), forward(1), forward(2)); printf("%d %d %d\n", backward(0), backward(4), deep(6));
    for (int i = 0; i < 4; i++) printf("%d %d %d\n", crossing(i), inside(i), declared(i)); printf("%d %d %d %d\n", inside(7), computed("01102"), retry(5), two(25));
    int i = 0; loop: if (i < 3) { printf("%d", i++); goto loop; } putchar('\n'); return 0;
}

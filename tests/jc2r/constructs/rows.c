#include <stdio.h>
/* Rows of variable length beside a function that stays in C, and values of flexible arrays. */
struct flexible { int n; short data[]; };
static struct flexible first = {2, {5, 6}};
static int fill(int n, int m, int a[n][m]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = i * m + j; return (int)(sizeof(a[0]) + sizeof a[0][0]); }
static long beside(long n) { long r; int v[2][3]; fill(2, 3, v); __asm__("lea (%1,%1), %0 #%=" : "=r"(r) : "r"(n)); return r + v[1][2]; }
int whole_of(int n, int a[restrict static n][n]);
int whole_of(int n, int a[restrict static n][n]) { int all = 0; for (int i = 0; i < n * n; i++) all += a[i / n][i % n]; return all; }
#define AUTO __attribute__((cleanup(gone)))
#define FIRST __attribute__((constructor))
static int left, begun; static void gone(int *n) { left += *n; } static FIRST void begin(void) { begun = 7; }
static int scoped(int n) { AUTO int held = n; if (n > 2) { AUTO int more = 10; return left; } return held; }
__attribute__((weak)) int hook(int n) { return n + 1; }
int main(void) { int nine[3][3]; fill(3, 3, nine); left += whole_of(3, nine) - 27; left += hook(1) - 2; scoped(1); scoped(3); printf("%d %d\n", left, begun); int n = 3, w[n][n + 1][2]; printf("%ld %zu %zu %zu %d\n", beside(4), sizeof w, sizeof w[0], sizeof w[n - 1][2], fill(1, 2, w[0])); printf("%d %d\n", first.data[1], first.n); return 0; }

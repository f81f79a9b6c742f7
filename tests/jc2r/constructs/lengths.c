#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int filled(int n) { int a[n], s = 0; for (int i = 0; i < n; i++) a[i] = i * i; for (int i = 0; i < n; i++) s += a[i]; return s + (int)(sizeof a / sizeof *a); }
static long grid(int rows, int cols, int m[rows][cols]) { long s = 0; for (int i = 0; i < rows; i++) for (int j = 0; j < cols; j++) s += m[i][j] * (i + 1); return s; }
static int cube(int n) { short c[n][n + 1][2]; memset(c, 0, sizeof c); c[n - 1][n][1] = 7; c[0][1][0] = 2; short *flat = &c[0][0][0]; int s = 0; for (size_t i = 0; i < sizeof c / sizeof(short); i++) s += flat[i] * (int)(i + 1); return s; }
static char *copied(const char *text, char *to) { char *room = alloca(strlen(text) + 1); for (int i = 0; i < 3; i++) { char *more = alloca(16); memset(more, 'a' + i, 15); more[15] = 0; to[i] = more[14]; } strcpy(room, text); room[0] ^= 32; strcpy(to + 3, room); return to; }
static int rows(int n) { int (*m)[n] = malloc(sizeof(int) * n * 3); for (int i = 0; i < 3; i++) for (int j = 0; j < n; j++) m[i][j] = i * 10 + j; int r = m[2][n - 1] + grid(3, n, m); int (*second)[n] = m + 1; r += (*second)[1]; free(m); return r; }
static int again(int n) { int s = 0; top: { char room[n]; memset(room, n, n); for (int i = 0; i < n; i++) s += room[i]; } if (--n > 0) goto top; return s; }
static int moved(int n, int m, long (*p)[m]) { long a[n][m + 1], (*q)[m + 1] = a; int s = 0;
    for (int i = 0; i < n; i++) for (int j = 0; j <= m; j++) *(*(a + i) + j) = i * 10 + j;
    for (int i = 0; i < n; i++) s += (*(q + i))[m] * (i + 1) + *(q[i] + 1) + (int)*(*(1 + q - 1 + i));
    long *flat = *(p + 1); (*(p + 1))[0] = 7; s += flat[0] + (&p[2])[-1][0] + *(*(&p[0] + 2) - m);
    return s + (int)sizeof(*(q + 1)) + (int)sizeof *p + (int)((q + 2) - q) + (int)sizeof *a; }
int main(void) {
    int n = 4, m[n][3]; char to[40]; for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) m[i][j] = i + j;
    long w[3][4] = {{1, 2}}; printf("%d %ld\n", moved(3, 4, w), w[1][0]);
    printf("%d %ld %d %s %d %d %zu\n", filled(5), grid(n, 3, m), cube(3), copied("Hello", to), rows(5), again(4), sizeof m); return 0;
}

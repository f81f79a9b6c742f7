#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int sum(const int *p, int n) { int s = 0; while (n--) s += *p++; return s; }
static void set(int **where, int *what) { *where = what; }
static int matrix[3][4];
static int board[] = {5, 6, 7}, *from_two = board - 2, *behind = board + 2; /* before the table */
int main(int argc, char **argv) {
    int a[5] = {1, 2, 3, 4, 5}, *p = a + 2, *q; char text[] = "hello", *t = text;
    printf("%d %d %ld %d\n", *p, p[-1], (long)(&a[4] - p), sum(a, 5));
    *p++ = 9; *--p += 1; (*p)++; printf("%d %d\n", a[2], *p); set(&q, a); q[1] = 7; printf("%d\n", 1[q]);
    while (*t) *t++ -= 32; printf("%s %d\n", text, (int)strlen(text));
    for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) matrix[i][j] = i * j;
    int (*row)[4] = matrix + 1; printf("%d %d\n", row[1][3], (*row)[2]);
    char *heap = malloc(10); memset(heap, 'x', 9); heap[9] = 0; printf("%s\n", heap); free(heap);
    void *v = &a[1]; printf("%d %d %d\n", *(int *)v, v != NULL, p > a && p < a + 5);
    unsigned char *bytes = (unsigned char *)a; printf("%d %d\n", bytes[0], argc > 0 && argv[argc] == NULL);
    argc > 5 ? (p = a) : 0; argc > 5 ? (void)0 : (void)(char *)0; int (*say)(const char *) = puts; argc ? say : 0; (void)say; /* told nowhere of which type */
    const char *names[] = {"one", "two", 0}; for (const char **n = names; *n; n++) puts(*n);
    static int *from_three = board - 3; printf("%d %d %d\n", from_two[3], *behind, from_three[3]);
    return 0;
}

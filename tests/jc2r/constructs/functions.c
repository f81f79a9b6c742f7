#include <stdio.h>
#include <stdlib.h>
#include <stdarg.h>
#include <assert.h>
typedef int (*operation)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static operation table[] = {add, sub, NULL};
static int counter(void) { static int n = 40; return ++n; }
int old(a, b) int a; char b; { return a * b; }
static int calls;
static int total(int count, ...) { va_list list; int s = 0; va_start(list, count); calls++;
    while (count--) s += va_arg(list, int); va_end(list); return s + counter(); }
static int by_size(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static operation pick(int n) { return n ? &sub : add; }
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static void finish(void) { puts("bye"); }
#define TWICE(x) ((x) + (x))
#define MAX(a, b) ({ int _a = (a), _b = (b); _a > _b ? _a : _b; })
int main(void) {
    for (operation *o = table; *o; o++) printf("%d ", (*o)(7, 3)); printf("%d %d\n", pick(1)(9, 4), (*pick(0))(1, 1));
    int once = counter(), twice = counter(); printf("%d %d %d\n", once, twice, old(6, 7)); int all = total(3, 1, 2, 3); printf("%d %d\n", all, calls);
    int list[] = {5, 3, 9, 1}; qsort(list, 4, sizeof *list, by_size);
    for (int i = 0; i < 4; i++) printf("%d ", list[i]); printf("%d %d %d\n", fib(12), TWICE(4), MAX(3, fib(5)));
    assert(calls == 1); atexit(finish); printf("%s\n", __func__); fprintf(stderr, "done\n"); exit(calls + 2);
}

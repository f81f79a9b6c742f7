/* Parameters written like functions and arrays, which are pointers. */
#include <stdio.h>
#include <stddef.h>
#include <assert.h>
typedef int driven(int, void *);
static int twice(int a, void *b) { return a * 2 + (b != 0); }
static int drive(int n, driven in, void *o, driven out) { if (in) n = in(n, o); if (out && !in) return -1; return out ? out(n, 0) : n; }
static int also(int n, int f(int, void *)) { if (!f) return 0; int (*g)(int, void *) = f; return g(n, 0) + (f == twice) + (f != NULL); }
static size_t as_number(const char *const names[], const unsigned long numbers[3], int grid[][2]) { return ((size_t)names != 0) + ((size_t)numbers & 7) + ((ptrdiff_t)grid > 0); }
static const char *who(int a, char **b) { return a ? __PRETTY_FUNCTION__ : __FUNCTION__; }
static int fallback(int x) { return x; }
int main(void) { const char *names[] = {"a"}; unsigned long numbers[3] = {0}; int grid[2][2] = {{0}};
  printf("%d %d %d %d\n", drive(3, twice, names, 0), drive(3, 0, 0, twice), drive(3, twice, 0, twice), also(4, twice) + also(5, NULL));
  printf("%zu %d %s %s\n", as_number(names, numbers, grid), (size_t)numbers == (size_t)&numbers[0], who(1, 0), who(0, 0)); if (fallback) puts("there"); if (!names) puts("never"); 
  int (*t)(int) = 0; t = t ?: fallback; printf("%d %d\n", t(4), (names && grid[1]) ? 1 : 0); return 0; }

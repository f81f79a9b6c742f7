/* Macros that make statements, functions, lists and loops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CLAMP(x, lo, hi) ({ __typeof__(x) _x = (x); _x < (lo) ? (lo) : _x > (hi) ? (hi) : _x; })
#define TRY(e) ({ int _r = (e); if (_r < 0) goto fail; _r; })
#define FIRST(l) ({ int _f = -1; for (unsigned _i = 0; _i < sizeof(l) / sizeof *(l); _i++) if ((l)[_i] > 0) { _f = (int)_i; break; } _f; })
#define EACH(v, n) for (int v = 0, _once = 1; _once; _once = 0) for (; v < (n); v++)
#define LIST(X) X(one, 1) X(two, 2) X(three, 3)
#define ENUM(n, v) E_##n = v,
#define NAME(n, v) [v] = #n,
#define FUNC(n, v) static int f_##n(int a) { return a + v; }
enum e { LIST(ENUM) }; static const char *names[] = { LIST(NAME) }; LIST(FUNC)
#define STR(x) #x
#define XSTR(x) STR(x)
#define CAT(a, b) a##b
#define VAR(...) (sizeof((int[]){__VA_ARGS__}) / sizeof(int))
#define LOG(f, ...) printf(f "\n", ##__VA_ARGS__)
#define CONTAINER(p, t, m) ((t *)((char *)(p) - __builtin_offsetof(t, m)))
struct node { int key; struct node *next; }; struct item { int v; struct node link; };
#define PUSH(h, n) do { (n)->next = *(h); *(h) = (n); } while (0)
#define FOREACH(n, h) for (struct node *n = (h), *_t; n && (_t = n->next, 1); n = _t)
static int risky(int n) { return n > 3 ? -1 : n; }
static int run(int n) { int a = TRY(risky(n)), b = TRY(risky(n + 1)); return a * 10 + b; fail: return -1; }
#define SWITCH(v) switch (v) { case 0 ... 4: return "low"; case 5: case 7: return "odd"; default: return "none"; }
static const char *name(int v) { SWITCH(v) }
#define GEN(T) static T max_##T(const T *l, int n) { T m = l[0]; while (--n > 0) if (l[n] > m) m = l[n]; return m; }
GEN(int) GEN(double) GEN(long)
int main(void) {
  int l[] = {-1, 0, 4}; LOG("%d %d", CLAMP(7, 1, 5), FIRST(l)); LOG("none"); LOG("%d %d %d", run(1), run(3), run(9)); LOG("%s %s %zu %s", names[2], XSTR(CAT(a, 5)), VAR(1, 2, 3), name(7));
  struct node *head = 0; struct item *i; EACH(k, 3) { i = malloc(sizeof *i); i->v = k * k; i->link.key = k; PUSH(&head, &i->link); }
  FOREACH(n, head) { LOG("%d %d", n->key, CONTAINER(n, struct item, link)->v); free(CONTAINER(n, struct item, link)); }
  double d[] = {1.5, -2, 9.25}; long g[] = {4, 5}; LOG("%d %g %ld %d", max_int(l, 3), max_double(d, 3), max_long(g, 2), f_one(1) + f_three(E_two));
  return ({ int z = 3; z += 4; z; }); }

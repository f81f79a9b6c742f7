#include <stddef.h>
#include <stdio.h>
struct point { int x, y; }; struct line { struct point from, to; const char *name; int marks[4]; };
union number { int i; float f; unsigned char bytes[8]; }; struct mixed { int tag; union { int i; double d; }; struct { short a, b; }; unsigned low : 4, : 3, high : 5; };
static struct line lines[] = {[1] = {.to = {3, 4}, .name = "one"}, [0].from.y = 7, [0].marks = {1, 2}, [2] = {{1, 2}, .marks[1] = 5, 6, .to.x = 9}};
static int range[12] = {[1 ... 3] = 5, 6, [9] = 1, 2}; static int grid[3][3] = {{1}, {[1] = 2, 3}, [2][0] = 4, 5}; static int flat[2][2] = {1, 2, 3, 4};
static union number set = {.f = 1.5f}, first = {65}; static struct mixed mix = {1, {.d = 2.5}, {3, 4}, 5, 6}, other = {.b = 9, .i = 8, .high = 30};
static struct point *at = &(struct point){11, 12}; static int *list = (int[]){1, 2, 3}; static struct point *chosen[] = {&lines[1].to, &(struct point){.y = 1}};
static int (*table[3])(int); static int twice(int n) { return 2 * n; } static int (*table[3])(int) = {[1] = twice}; static size_t where = offsetof(struct line, marks[2]);
struct flexible { int n; short data[]; }; static char names[][8] = {"ab", {'c', 'd'}, "efgh"}; static struct { int a; struct point p[2]; } nested = {1, 2, 3, 4, 5};
static union number as_union(float f) { union number u = (union number)f; return u.i > 0 ? u : (union number)7; }
int main(void) {
    for (int i = 0; i < 3; i++) printf("%d %d %d %d %s %d %d %d\n", lines[i].from.x, lines[i].from.y, lines[i].to.x, lines[i].to.y, lines[i].name ? lines[i].name : "-", lines[i].marks[0], lines[i].marks[1], lines[i].marks[2]);
    for (int i = 0; i < 12; i++) printf("%d ", range[i]); for (int i = 0; i < 9; i++) printf("%d", grid[0][i]); printf(" %d\n", flat[1][0]);
    printf("%g %d %d %g %d %d %u %u\n", set.f, first.bytes[0], mix.tag, mix.d, mix.a, mix.b, mix.low, mix.high); printf("%d %d %u %u\n", other.b, other.i, other.low, other.high);
    printf("%d %d %d %d %d %zu %zu\n", at->y, list[2], chosen[0]->y, chosen[1]->y, table[1](21), where, sizeof(struct flexible)); printf("%s %s %s %d\n", names[0], names[1], names[2], nested.p[1].y);
    struct point p = {.y = 2}, q = p, *r = &(struct point){p.y, q.x}; struct line l = {p, .to = *r, .marks = {[2] = p.y}}; int n = 3, own[] = {n, n * 2, [4] = n * 3}; printf("%d %d %d %d %zu\n", l.from.y, l.to.x, l.marks[2], own[4], sizeof own / sizeof *own);
    r = &(struct point){.x = ({ int t = 4; t * t; })}; printf("%d %d %d\n", r->x, ((struct point){5, 6}).y, (int[]){7, 8}[1]); union number u = {0}; u.bytes[3] = 0x40; printf("%g\n", u.f);
    printf("%g %d %d\n", as_union(2.5f).f, as_union(-1).bytes[0], ((union number)n).i);
    return p.x;
}

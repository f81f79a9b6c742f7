#include <stdio.h>
#include <stddef.h>
#include <string.h>
struct point { int x, y; };
union number { int i; float f; unsigned char b[4]; };
struct flags { unsigned a : 3; int b : 5; unsigned c : 12; unsigned char d; unsigned e : 1; };
typedef struct { char tag; union { long l; struct point p; }; struct point list[2]; } mixed;
struct __attribute__((packed)) tight { char c; int i; };
struct node { int value; struct node *next; };
static struct point moved(struct point p, int by) { p.x += by; return p; }
static const mixed start = {'m', {5}, {{1, 2}, {.y = 4}}};
static struct flags preset = {5, -3, 100, 7, 1};
int main(void) {
    struct point a = {1, 2}, b = a, *p = &b; p->x = 10; a = moved(*p, 5);
    printf("%d %d %d %d\n", a.x, a.y, b.x, (&a)->y);
    union number n; n.f = 1.0f; printf("%x %d\n", n.i, n.b[3]);
    struct flags f = {0}; f.a = 9; f.b = -2; f.c = 4095; f.c++; f.b -= 4; f.d = 200; f.e = 1;
    printf("%d %d %d %d %d %d\n", f.a, f.b, f.c, f.d, f.e, (int)sizeof f);
    printf("%d %d %d %d\n", preset.a, preset.b, preset.c, preset.e);
    mixed m = start; m.p.x = 3; printf("%c %ld %d %d\n", m.tag, m.l, m.list[1].y, (int)sizeof(mixed));
    printf("%d %d\n", (int)sizeof(struct tight), (int)offsetof(mixed, list));
    struct tight t; t.i = 77; t.c = 1; printf("%d\n", t.i + t.c);
    struct node second = {2, NULL}, first = {1, &second}; int s = 0;
    for (struct node *at = &first; at; at = at->next) s += at->value; printf("%d\n", s);
    a = (struct point){.y = 8}; p = &(struct point){3, 4}; printf("%d %d %d\n", a.x, a.y, p->x + p->y);
    return memcmp(&a, &b, sizeof a) == 0;
}

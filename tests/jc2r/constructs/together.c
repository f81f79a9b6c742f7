/* Macros that make declarations, and several of one text, beside a function that stays in C. */
#include <stdio.h>

typedef struct transform { const char *name; int count; const struct transform *next; } transform;
#define TRANSFORM(name, before) static transform transform_##name = {#name, 3, before}
TRANSFORM(turn, NULL);
TRANSFORM(flip, &transform_turn);

#define STACK(name, type) \
    typedef struct name##_s { type rows[4]; int used; } name##_t; \
    static name##_t name##_all; \
    static int name##_pushes; \
    static void name##_push(type one) { name##_all.rows[name##_all.used++ & 3] = one; name##_pushes++; } \
    static type name##_sum(void) { type sum = 0; for (int n = 0; n < 4; n++) sum += name##_all.rows[n]; return sum; }
STACK(ints, int)
STACK(reals, double);

#define CASE(name) static int case_##name(int n); static int case_##name(int n)
CASE(one) { ints_push(n); return n + 1; }
CASE(two) { reals_push(n / 2.0); return case_one(n) * 2; }

static int early(int n), late(int n);
static struct pair { int a, b; } left = {1, 2}, right = {3, 4}, *both[2] = {&left, &right};

#define IN_C(name) \
    static int name##_calls = 5; \
    static long name(long n) { long r; __asm__("lea (%1,%1), %0 #%=" : "=r"(r) : "r"(n)); name##_calls++; \
        transform_flip.count++; left.b += right.a; ints_push((int)r); return r + early(1); } \
    static int name##_told(void) { return name##_calls; }
IN_C(twice)

static int early(int n) { return n + left.b; }
static int late(int n) { return early(n) + both[1]->b; }

int main(void)
{
    printf("%ld %d %d\n", twice(20), twice_told(), late(2));
    printf("%d %d %s\n", case_one(4), case_two(5), transform_flip.next->name);
    printf("%d %d %g %d %d\n", ints_sum(), ints_pushes, reals_sum(), reals_pushes, transform_flip.count);
    return 0;
}

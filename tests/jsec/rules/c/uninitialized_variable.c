#include <stdio.h>
#include <stdlib.h>
#include <stdarg.h>

void print_number(int number);
void fill(int *to);
int ready(void);

void certain(void) {
    int data;
    print_number(data); // expect: uninitialized-variable
}

int sum(const int *values, int n) {
    int total;
    for (int i = 0; i < n; i++)
        total += values[i]; // expect: uninitialized-variable
    return total;
}

int sometimes(int c) {
    int x;
    if (c)
        x = 1;
    return x; // expect: uninitialized-variable
}

int some_cases(int kind) {
    int x;
    switch (kind) {
    case 1:
        x = 1;
        break;
    case 2:
        x = 2;
        break;
    default:
        break;
    }
    return x; // expect: uninitialized-variable
}

char *pointer(void) {
    char *text;
    return text; // expect: uninitialized-variable
}

int both_branches(int c) {
    int x;
    if (c)
        x = 1;
    else
        x = 2;
    return x; // ok
}

int by_address(void) {
    int x;
    fill(&x);
    return x; // ok
}

int scanned(void) {
    int x;
    if (scanf("%d", &x) != 1)
        return 0;
    return x; // ok
}

int same_question(int c) {
    int x;
    if (c)
        x = 1;
    if (c)
        return x; // ok
    return 0;
}

int loop_sets(int n) {
    int last;
    for (int i = 0; i < n; i++)
        last = i;
    return last; // ok
}

int leaves(int c) {
    int x;
    if (!c)
        return 0;
    else
        x = 3;
    return x; // ok
}

int conditional(int a, int b) {
    int x;
    x = a > b ? a : b;
    return x; // ok
}

int chained(void) {
    int x, y;
    x = y = 3;
    return x + y; // ok
}

int forever(void) {
    int x;
    for (;;) {
        if (ready()) {
            x = 4;
            break;
        }
    }
    return x; // ok
}

#define NEXT() (last = getchar())
int by_macro(void) {
    int last;
    if (NEXT() == 'x')
        return 1;
    return last; // ok
}

int variadic(int n, ...) {
    va_list list;
    int x;
    va_start(list, n);
    x = va_arg(list, int);
    va_end(list);
    return x; // ok
}

int declared_function(void) {
    int other(void);
    return other(); // ok
}

size_t size_only(void) {
    int x;
    return sizeof(x); // ok
}

struct pair { int a; int b; };
int member(void) {
    struct pair p;
    p.a = 1;
    return p.b; // missed: uninitialized-variable (members are not followed)
}

#define local static
char in_turn(char *buffer) {
    local unsigned i;
    static int j;
    while (--j >= 0)
        buffer[0] = buffer[i++]; // ok
    return buffer[0];
}

static int fill(const char *how, ...) {
    va_list all;
    va_start(all, how);
    if (how[0] == 'b')
        *va_arg(all, int *) = 1;
    va_end(all);
    return 0;
}

int filled_by_address(void) {
    int value;
    if (fill("b", &value) != 0)
        return 0;
    return value; // ok
}

typedef void *QUEUE[2];
#define AFTER(q) (*(QUEUE **)&((*(q))[0]))
#define BEFORE(q) (*(QUEUE **)&((*(q))[1]))
#define EMPTY_QUEUE(q) do { AFTER(q) = (q); BEFORE(q) = (q); } while (0)
void *set_through_macro(void) {
    QUEUE queue;
    AFTER(&queue) = &queue;
    return AFTER(&queue); // ok
}
void *set_by_statement_macro(void) {
    QUEUE queue;
    EMPTY_QUEUE(&queue);
    return BEFORE(&queue); // ok
}
void *never_set_behind_macro(void) {
    QUEUE queue;
    return AFTER(&queue); // expect: uninitialized-variable
}

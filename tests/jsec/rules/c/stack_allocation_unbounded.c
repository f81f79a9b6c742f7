#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 64
#define STACK alloca
extern void show(void *);

void arrays(int n, const char *s) {
    char one[n]; // expect: stack-allocation-unbounded
    char two[SIZE]; // ok
    char three[strlen(s) + n]; // expect: stack-allocation-unbounded
    const int m = 5;
    char four[m]; // ok
    char five[sizeof(int) * 4]; // ok
    show(one); show(two); show(three); show(four); show(five);
}

void calls(size_t n, const char *s) {
    show(alloca(n)); // expect: stack-allocation-unbounded
    show(alloca(SIZE * sizeof(int))); // ok
    show(STACK(strlen(s) + 1)); // expect: stack-allocation-unbounded
    if (n > 100) return;
    show(alloca(n)); // ok
}

void limited(int n) {
    if (n > 0 && n <= SIZE) {
        char one[n]; // ok
        show(one);
    }
}

void input(void) {
    int n = atoi(getenv("N"));
    char one[n]; // expect: stack-allocation-unbounded
    show(one);
}

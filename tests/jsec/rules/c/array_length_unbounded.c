#include <stdlib.h>
#include <string.h>

#define SIZE 64
extern void show(void *);

void arrays(int n, const char *s) {
    char one[n]; // expect: array-length-unbounded
    char two[SIZE]; // ok
    char three[strlen(s) + n]; // expect: array-length-unbounded
    const int m = 5;
    char four[m]; // ok
    char five[sizeof(int) * 4]; // ok
    show(one); show(two); show(three); show(four); show(five);
}

void limited(int n) {
    if (n > 0 && n <= SIZE) {
        char one[n]; // ok
        show(one);
    }
}

void input(void) {
    int n = atoi(getenv("N"));
    char one[n]; // expect: array-length-unbounded
    show(one);
}

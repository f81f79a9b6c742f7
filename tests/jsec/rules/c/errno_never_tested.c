#include <errno.h>
#include <math.h>
#include <stdlib.h>

double root(double x) {
    errno = 0; // expect: errno-never-tested
    return sqrt(x);
}

long number(const char *text) {
    errno = 0; // ok
    long value = strtol(text, NULL, 10);
    if (errno != 0)
        return -1;
    return value;
}

void reset(void) {
    errno = 0; // ok
}

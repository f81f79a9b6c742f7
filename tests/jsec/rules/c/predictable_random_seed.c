#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/random.h>

void by_time(void) {
    srand(time(NULL)); // expect: predictable-random-seed
}

void by_variable(void) {
    time_t now = time(NULL);
    srandom((unsigned) now); // expect: predictable-random-seed
}

void by_both(void) {
    srand(time(NULL) ^ getpid()); // expect: predictable-random-seed
}

void fixed(void) {
    srand(42); // expect: predictable-random-seed
}

int strong(void) {
    unsigned seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return -1;
    srand(seed); // ok
    return 0;
}

void given(unsigned seed) {
    srand(seed); // ok
}

void mixed(unsigned seed) {
    srand(seed ^ time(NULL)); // ok
}

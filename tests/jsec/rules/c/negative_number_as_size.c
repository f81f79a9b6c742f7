#include <stdlib.h>
#include <string.h>

void negative(const char *from) {
    char to[100];
    int length = -1;
    if (length < 100)
        memcpy(to, from, length); // expect: negative-number-as-size
}

void tested(const char *from) {
    char to[100];
    int length = 20;
    if (length >= 0 && length < 100)
        memcpy(to, from, length); // ok
}

void from_outside(int argc, char **argv) {
    char to[100];
    char *text = getenv("LENGTH");
    int length = text != NULL ? atoi(text) : 0;
    if (length < 100)
        memset(to, 'a', length); // expect: negative-number-as-size
}

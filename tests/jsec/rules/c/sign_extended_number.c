#include <stdlib.h>
#include <string.h>

void narrow(const char *from) {
    char to[100];
    short length = -1;
    if (length < 100)
        memcpy(to, from, length); // expect: sign-extended-number
}

void narrow_and_tested(const char *from) {
    char to[100];
    short length = 12;
    if (length >= 0 && length < 100)
        memcpy(to, from, length); // ok
}

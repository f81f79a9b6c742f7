#include <stddef.h>

void again(const char *s, size_t at);
unsigned digits(const char *s);

void decode(const char *s, size_t n) {
    size_t i = 0;
    while (i < n) {
        if (s[i] == '%') {
            unsigned value = digits(s + ++i);
            i += 3;
            if (value == 7) {
                i++;
                if (s[i] == '%') // expect: cursor-moved-past-its-test
                    again(s, i);
            }
        }
        i++;
    }
}

void decode_checked(const char *s, size_t n) {
    size_t i = 0;
    while (i < n) {
        if (s[i] == '%') {
            unsigned value = digits(s + ++i);
            i += 3;
            if (value == 7 && i + 1 < n && s[i + 1] == '%') { // ok
                i++;
                if (s[i] == '%') // ok
                    again(s, i);
            }
        }
        i++;
    }
}

void back_to_the_head(const char *s, size_t n) {
    size_t i = 0;
    while (i < n) {
        if (s[i] == '%') { // ok
            i += 3;
            continue;
        }
        again(s, s[i]); // ok
        i++;
    }
}

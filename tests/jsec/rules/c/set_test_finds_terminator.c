#include <string.h>

#define HEX DIGITS "abcdef"
#define DIGITS "0123456789"

const char *skip_blanks(const char *p) {
    while (strchr(" \t", *p)) // expect: set-test-finds-terminator
        p++;
    return p;
}

const char *skip_blanks_checked(const char *p) {
    while (*p && strchr(" \t", *p)) // ok
        p++;
    return p;
}

const char *find_blank(const char *p) {
    while (!strchr(" \t", *p)) // ok
        p++;
    return p;
}

size_t skip_digits(const char *s) {
    size_t i;
    for (i = 0; strchr(DIGITS, s[i]) != NULL; i++) // expect: set-test-finds-terminator
        ;
    return i;
}

size_t skip_digits_of(const char *s, size_t n) {
    size_t i;
    for (i = 0; i < n && strchr(DIGITS, s[i]) != NULL; i++) // ok
        ;
    return i;
}

int is_escape(const char *p) {
    const char second = *++p;
    if (strchr(HEX, second) != NULL) { // expect: set-test-finds-terminator
        const char third = *++p;
        return third != 0;
    }
    return 0;
}

int is_escape_checked(const char *p) {
    const char second = *++p;
    if (second != '\0' && strchr(HEX, second) != NULL) { // ok
        const char third = *++p;
        return third != 0;
    }
    return 0;
}

int is_escape_left(const char *p) {
    const char second = *++p;
    if (second == '\0')
        return 0;
    if (strchr(HEX, second) != NULL) { // ok
        const char third = *++p;
        return third != 0;
    }
    return 0;
}

int is_sign(const char *p) {
    return strchr("+-", *p) != NULL; // ok
}

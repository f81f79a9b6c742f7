#include <ctype.h>

int hex(char c);
void put(int c);

void decode(const char *s) {
    int i;
    for (i = 0; s[i]; i++)
        if (s[i] == '%')
            put(hex(s[i + 1]) * 16 + hex(s[i + 2])); // expect: read-behind-terminator
}

void decode_checked(const char *s) {
    int i;
    for (i = 0; s[i]; i++)
        if (s[i] == '%' && isxdigit(s[i + 1]) && isxdigit(s[i + 2])) // ok
            put(hex(s[i + 1]) * 16 + hex(s[i + 2])); // ok
}

void decode_pointer(const char *s) {
    for (; *s != '\0'; s++) {
        if (*s != '%')
            continue;
        char high = s[1], low = s[2]; // expect: read-behind-terminator
        put(hex(high) * 16 + hex(low));
    }
}

void decode_pointer_checked(const char *s) {
    for (; *s != '\0'; s++) {
        if (*s != '%')
            continue;
        char high = s[1];
        if (high == '\0')
            return;
        char low = s[2]; // ok
        put(hex(high) * 16 + hex(low));
    }
}

void counted(const char *s, int n) {
    for (int i = 0; i + 2 < n; i++)
        put(s[i + 1] + s[i + 2]); // ok
}

void bounded_inside(const char *s, int n) {
    for (int i = 0; s[i]; i++) {
        if (i >= n)
            break;
        put(s[i + 1] + s[i + 2]); // ok
    }
}

char *escapes(const char *s, char *out) {
    char *to = out;
    while (*s) {
        if (*s == '\\' && isdigit(s[1])) {
            *to++ = (s[1] - '0') * 100 + (s[2] - '0') * 10 + s[3] - '0'; // expect: read-behind-terminator
            s += 4;
        } else {
            *to++ = *s++;
        }
    }
    return out;
}

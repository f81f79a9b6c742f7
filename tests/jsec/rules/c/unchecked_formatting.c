#include <stdio.h>
#include <unistd.h>

void cut(const char *folder, const char *name) {
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", folder, name); // expect: unchecked-formatting
    unlink(path);
    snprintf(path, sizeof(path), "%s/old", folder); // ok
    unlink(path);
}

int whole(const char *folder, const char *name) {
    char path[64];
    int length = snprintf(path, sizeof(path), "%s/%s", folder, name); // ok
    if (length < 0 || length >= (int)sizeof(path))
        return -1;
    return unlink(path);
}

void number(int value) {
    char digits[16];
    snprintf(digits, sizeof(digits), "%d", value); // ok
    puts(digits);
}

void decided(const char *name) {
    char shown[16];
    (void) snprintf(shown, sizeof(shown), "%s", name); // ok
    puts(shown);
}

#define FORMAT snprintf
void through_macro(const char *name) {
    char shown[16];
    FORMAT(shown, sizeof(shown), "%s", name); // expect: unchecked-formatting
    puts(shown);
}

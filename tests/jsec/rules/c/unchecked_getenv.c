#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void keep(const char *);

void direct(char *path) {
    snprintf(path, 100, "%s/.rc", getenv("HOME")); // expect: unchecked-getenv
    if (strcmp(getenv("SHELL"), "/bin/sh") == 0) // expect: unchecked-getenv
        puts("sh");
}

int stored(void) {
    const char *n = getenv("N"); // expect: unchecked-getenv
    return atoi(n);
}

int dereferenced(void) {
    char *n = getenv("N"); // expect: unchecked-getenv
    return *n == 'x';
}

int checked(void) {
    const char *n = getenv("N"); // ok
    if (n == NULL)
        return 0;
    return atoi(n);
}

int checked_together(void) {
    const char *n = getenv("N"); // ok
    return n != NULL && *n == '1';
}

int defaulted(void) {
    const char *n;
    n = getenv("N"); // ok
    if (!n) n = "1";
    return atoi(n);
}

void only_kept(void) {
    keep(getenv("HOME")); // ok
    if (getenv("DEBUG")) // ok
        puts("debug");
}

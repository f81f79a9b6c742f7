#include <string.h>
#include <stdio.h>
#include <stdlib.h>

void looks_bounded(const char *from) {
    char word[16];
    strncpy(word, from, strlen(from)); // expect: copy-bounded-by-source
    memcpy(word, from, strlen(from) + 1); // expect: copy-bounded-by-source
}

void through_variable(const char *from) {
    char word[16];
    size_t n = strlen(from);
    memcpy(word, from, n); // expect: copy-bounded-by-source
}

void checked(const char *from) {
    char word[16];
    size_t n = strlen(from);
    if (n >= sizeof(word))
        return;
    memcpy(word, from, n + 1); // ok
    if (strlen(from) < sizeof(word))
        memcpy(word, from, strlen(from) + 1); // ok
}

void small_source(void) {
    char from[16];
    char word[16];
    if (fgets(from, sizeof(from), stdin) == NULL) return;
    memcpy(word, from, strlen(from) + 1); // ok
}

void outside(void) {
    char word[16];
    const char *home = getenv("HOME");
    if (home == NULL) return;
    memcpy(word, home, strlen(home)); // expect: copy-bounded-by-source
}

void outside_with_its_end(void) {
    char word[16];
    const char *home = getenv("HOME");
    if (home == NULL) return;
    memcpy(word, home, strlen(home) + 1); // expect: copy-bounded-by-source
}

void outside_but_short(void) {
    char word[16];
    const char *home = getenv("HOME");
    if (home == NULL) return;
    size_t n = strlen(home);
    if (n >= sizeof(word)) return;
    memcpy(word, home, n + 1); // ok
}

char *allocated(const char *from) {
    char *copy = malloc(strlen(from) + 1);
    if (copy != NULL)
        memcpy(copy, from, strlen(from) + 1); // ok
    return copy;
}

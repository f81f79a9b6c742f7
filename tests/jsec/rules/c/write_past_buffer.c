#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill(char *to, int count) {
    for (int i = 0; i < count; i++)
        to[i] = 'x'; // expect: write-past-buffer
}

void too_many(void) {
    char room[8];
    fill(room, 9);
}

static void fill_well(char *to, int count) {
    for (int i = 0; i < count; i++)
        to[i] = 'x'; // ok
}

void as_many(void) {
    char room[8];
    fill_well(room, 8);
}

void text(int argc, char **argv) {
    char long_text[40];
    char *copy = malloc(20);
    if (copy == NULL)
        return;
    memset(long_text, 'a', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    strcpy(copy, long_text); // expect: write-past-buffer
    free(copy);
}

void measured(void) {
    char long_text[40];
    memset(long_text, 'a', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    char *copy = malloc(strlen(long_text) + 1);
    if (copy == NULL)
        return;
    strcpy(copy, long_text); // ok
    free(copy);
}

void format_is_the_text(void) {
    char from[100], small[50], large[100];
    memset(from, 'C', 99);
    from[99] = 0;
    snprintf(small, 100, from); // expect: write-past-buffer
    snprintf(large, 100, from); // ok
}

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

void tested_last(void) {
    char room[4];
    int i = 0;
    do {
        room[i] = 'x'; // expect: write-past-buffer
        i++;
    } while (i <= 4);
}

void tested_last_well(void) {
    char room[5];
    int i = 0;
    do {
        room[i] = 'x'; // ok
        i++;
    } while (i <= 4);
}

void tested_within(void) {
    char room[4];
    int i = 0;
    for (;;) {
        room[i] = 'x'; // expect: write-past-buffer
        i++;
        if (i > 4)
            break;
    }
}

void tested_within_well(void) {
    char room[5];
    int i = 0;
    for (;;) {
        room[i] = 'x'; // ok
        i++;
        if (i > 4)
            break;
    }
}

char *as_long(const char *text) {
    size_t length = strlen(text);
    char *copy = malloc(length);
    if (copy == NULL)
        return NULL;
    strcpy(copy, text); // expect: write-past-buffer
    return copy;
}

char *longer(const char *text) {
    size_t length = strlen(text) + 1;
    char *copy = malloc(length);
    if (copy == NULL)
        return NULL;
    strcpy(copy, text); // ok
    return copy;
}

char *cut_before(char *text) {
    size_t length = strlen(text);
    if (length == 0)
        return NULL;
    text[length - 1] = 0;
    char *copy = malloc(length);
    if (copy == NULL)
        return NULL;
    strcpy(copy, text); // ok
    return copy;
}

char *as_long_block(const char *text) {
    size_t length = strlen(text);
    char *copy = malloc(length * sizeof(char));
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length + 1); // expect: write-past-buffer
    return copy;
}

char *without_terminator(const char *text) {
    size_t length = strlen(text);
    char *copy = malloc(length);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length); // ok
    return copy;
}

char *ended_behind(const char *text) {
    int length = (int)strlen(text);
    char *copy = malloc(length);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = 0; // expect: write-past-buffer
    return copy;
}

char *ended_within(const char *text) {
    size_t length = strlen(text);
    char *copy = malloc(length);
    if (copy == NULL || length == 0)
        return copy;
    memcpy(copy, text, length);
    copy[length - 1] = 0; // ok
    return copy;
}

char *another_text(const char *text, const char *other) {
    char *copy = malloc(strlen(text));
    if (copy == NULL)
        return NULL;
    strcpy(copy, other); // ok
    return copy;
}

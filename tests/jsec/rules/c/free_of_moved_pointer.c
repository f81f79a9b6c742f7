#include <stdlib.h>
#include <string.h>
#include <stdio.h>

void skip_blanks(const char *line) {
    char *p = strdup(line);
    if (!p)
        return;
    while (*p == ' ')
        p++;
    puts(p);
    free(p); // expect: free-of-moved-pointer
}

void search(void) {
    char *data = malloc(100);
    if (data == NULL)
        exit(1);
    strcpy(data, "fixed");
    for (; *data != '\0'; data++) {
        if (*data == 'x') {
            puts("found");
            break;
        }
    }
    free(data); // expect: free-of-moved-pointer
}

void header_too(char *block) {
    free(block + 4); // expect: free-of-moved-pointer
}

void keeps_start(const char *line) {
    char *copy = strdup(line);
    char *p = copy;
    if (!copy)
        return;
    while (*p == ' ')
        p++;
    puts(p);
    free(copy); // ok
}

void by_index(void) {
    char *data = malloc(100);
    if (data == NULL)
        return;
    size_t i;
    for (i = 0; i < 100; i++)
        data[i] = 'x';
    free(data); // ok
}

void moved_and_set(const char *line) {
    char *p = strdup(line);
    free(p);
    p = strdup("y");
    free(p); // ok
}

void moved_parameter(char *text) {
    text++;
    free(text); // expect: free-of-moved-pointer
}

void parameter_kept(char *text) {
    char *end = text;
    end++;
    free(text); // ok
}

#include <stdio.h>
#include <string.h>

char last(const char *text) {
    return text[strlen(text) - 1]; // expect: last-character-of-empty-text
}

char last_of_some(const char *text) {
    if (*text == '\0') return 0;
    return text[strlen(text) - 1]; // ok
}

char last_by_length(const char *text) {
    size_t length = strlen(text);
    if (length == 0) return 0;
    return text[strlen(text) - 1]; // ok
}

char last_and_first(const char *text) {
    return text[0] != '\0' ? text[strlen(text) - 1] : 0; // ok
}

void lines(FILE *file) {
    char line[80];
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strlen(line) - 1] = '\0'; // expect: last-character-of-empty-text
        puts(line);
    }
}

void lines_cut(FILE *file) {
    char line[80];
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0'; // ok
        puts(line);
    }
}

char other(const char *text, const char *beside) {
    return text[strlen(beside) - 1]; // ok
}

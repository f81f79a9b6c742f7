#include <stdlib.h>
#include <string.h>
#include <stdio.h>

size_t home_length(void) {
    return strlen(getenv("HOME")); // expect: unchecked-lookup-result
}

void copy_home(char *to, size_t size) {
    const char *home = getenv("HOME");
    if (size > 0 && strlen(home) < size) // expect: unchecked-lookup-result
        strcpy(to, home);
}

void value(char *line) {
    char *mark = strchr(line, '=');
    *mark = '\0'; // expect: unchecked-lookup-result
}

void cut(char *line) {
    *strchr(line, '\n') = '\0'; // expect: unchecked-lookup-result
}

void word(char *line) {
    char *first = strtok(line, " ");
    printf("%c\n", first[0]); // expect: unchecked-lookup-result
}

void cut_well(char *line) {
    char *end = strchr(line, '\n');
    if (end)
        *end = '\0'; // ok
}

void asked(char *line) {
    if (strchr(line, '\n'))
        *strchr(line, '\n') = '\0'; // ok
}

size_t end_of(char *line) {
    return strlen(strchr(line, '\0')); // ok
}

const char *home_or(const char *other) {
    const char *home = getenv("HOME");
    return home ? home + strlen(home) : other; // ok
}

void words(char *line) {
    for (char *w = strtok(line, " "); w != NULL; w = strtok(NULL, " "))
        puts(w); // ok
}

int asked_twice(void) {
    if (getenv("REUSE"))
        return atoi(getenv("REUSE")); // ok
    return 0;
}

int asked_for_another(void) {
    if (getenv("REUSE"))
        return atoi(getenv("OTHER")); // expect: unchecked-lookup-result
    return 0;
}

int parse_pair(char *line, char **value) {
    char *mark = strchr(line, '=');
    *mark = '\0'; // expect: unchecked-lookup-result
    *value = mark + 1;
    if (**value < 0)
        return -1;
    return 0;
}

const char *behind_directories(const char *path) {
    while (strchr(path, '\\')) {
        path = strchr(path, '\\');
        if (*path == '\\') // ok
            path++;
    }
    return path;
}

const char *behind_another(const char *path) {
    while (strchr(path, '/')) {
        path = strchr(path, ':');
        if (*path == ':') // expect: unchecked-lookup-result
            path++;
    }
    return path;
}

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

char *none(const char *name) {
    char *copy = malloc(strlen(name)); // expect: missing-terminator-space
    if (copy) strcpy(copy, name);
    return copy;
}

char *inside(const char *name) {
    return malloc(strlen(name + 1)); // expect: missing-terminator-space
}

char *times(const char *name) {
    return (char *)malloc(strlen(name) * sizeof(char)); // expect: missing-terminator-space
}

char *fine(const char *name, const char *more) {
    char *copy = malloc(strlen(name) + 1); // ok
    free(copy);
    copy = malloc(strlen(name) + strlen(more) + 2); // ok
    free(copy);
    return malloc((strlen(name) + 1) * sizeof(char)); // ok
}

wchar_t *wide(const wchar_t *name) {
    wchar_t *copy = malloc(wcslen(name) + 1); // expect: missing-terminator-space
    free(copy);
    return malloc((wcslen(name) + 1) * sizeof(wchar_t)); // ok
}

int *one_per_letter(const char *name) {
    return malloc(strlen(name) * sizeof(int[2])); // ok
}

#include <stdio.h>
#include <string.h>
#include <wchar.h>

struct user { char name[16]; };

void words(struct user *u, const char *line) {
    char word[20];
    int n;
    char *p;
    scanf("%s", word); // expect: scanf-without-width
    scanf("%19s", word); // ok
    scanf("%20s", word); // expect: scanf-without-width
    fscanf(stdin, "%d %15s", &n, u->name); // ok
    fscanf(stdin, "%d %s", &n, u->name); // expect: scanf-without-width
    scanf("%[^\n]", word); // expect: scanf-without-width
    scanf("%19[a-z]", word); // ok
    scanf("%*s %d", &n); // ok
    scanf("%ms", &p); // ok
    sscanf(line, "%s", word); // expect: scanf-without-width
    scanf("%d%%s", &n); // ok
    scanf("%c", word); // ok
}

void short_source(void) {
    char line[10];
    char word[20];
    if (fgets(line, sizeof(line), stdin) == NULL) return;
    sscanf(line, "%s", word); // ok
}

void wide(void) {
    wchar_t word[20];
    wscanf(L"%ls", word); // expect: scanf-without-width
    wscanf(L"%19ls", word); // ok
}

void width_of_a_macro(const char *line) {
    char word[LONGEST + 1];
    sscanf(line, "%" LONGEST_TEXT "s", word); // ok
    sscanf(line, "%" PRIu64 " %s", (uint64_t *) 0, word); // expect: scanf-without-width
}

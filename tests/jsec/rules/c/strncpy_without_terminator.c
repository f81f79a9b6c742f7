#include <stdio.h>
#include <string.h>
#include <wchar.h>

struct record { char name[32]; };
extern void show(const char *);

void cut_off(void) {
    char data[150], dest[100];
    memset(data, 'A', 149);
    data[149] = '\0';
    strncpy(dest, data, 99); // expect: strncpy-without-terminator
    show(dest);
}

void terminated(void) {
    char data[150], dest[100];
    memset(data, 'A', 149);
    data[149] = '\0';
    strncpy(dest, data, 99); // ok
    dest[99] = '\0';
    show(dest);
}

void whole(struct record *r, const char *name) {
    char word[16];
    strncpy(word, name, sizeof(word)); // expect: strncpy-without-terminator
    show(word);
    strncpy(r->name, name, sizeof(r->name)); // expect: strncpy-without-terminator
}

void zero_before(const char *name) {
    char word[16] = {0};
    char other[16];
    strncpy(word, name, sizeof(word) - 1); // ok
    memset(other, 0, sizeof(other));
    strncpy(other, name, sizeof(other) - 1); // ok
    show(word);
    show(other);
}

void short_source(void) {
    char word[16];
    strncpy(word, "short", sizeof(word)); // ok
    show(word);
}

void length_of_source(char *to, const char *from) {
    strncpy(to, from, strlen(from)); // expect: strncpy-without-terminator
    show(to);
}

void wide(const wchar_t *from) {
    wchar_t word[16];
    wchar_t open[16];
    wcsncpy(open, from, 16); // expect: strncpy-without-terminator
    wcsncpy(word, from, 16); // ok
    word[15] = L'\0';
}

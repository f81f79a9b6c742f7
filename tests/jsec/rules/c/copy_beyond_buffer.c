#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIZE 32
typedef struct { int first; int second; } pair;
typedef struct { char first[16]; void *second; void *third; } mixed;

void constant_sizes(const void *from) {
    char buffer[SIZE];
    memcpy(buffer, from, 32); // ok
    memcpy(buffer, from, SIZE + 1); // expect: copy-beyond-buffer
    memcpy(buffer + 8, from, sizeof(buffer)); // expect: copy-beyond-buffer
    memcpy(&buffer[8], from, 24); // ok
    memset(buffer, 0, sizeof buffer); // ok
    memset(buffer, 0, 64); // expect: copy-beyond-buffer
    fgets(buffer, 64, stdin); // expect: copy-beyond-buffer
    fgets(buffer, SIZE, stdin); // ok
    snprintf(buffer, 100, "%s", (const char *)from); // expect: copy-beyond-buffer
}

void stack_memory(void) {
    pair *data;
    pair *small = (pair *)alloca(50 * sizeof(pair));
    pair *large = (pair *)alloca(100 * sizeof(pair));
    pair source[100];
    data = small;
    memcpy(data, source, 100 * sizeof(pair)); // expect: copy-beyond-buffer
    data = large;
    memmove(data, source, 100 * sizeof(pair)); // ok
}

void heap(int fd) {
    char *data = malloc(50);
    if (data == NULL) return;
    if (read(fd, data, 100) < 0) return; // expect: copy-beyond-buffer
    if (recv(fd, data, 50, 0) < 0) return; // ok
    free(data);
}

void wide(const wchar_t *from) {
    wchar_t data[50];
    wmemcpy(data, from, 50); // ok
    wmemcpy(data, from, 51); // expect: copy-beyond-buffer
    wcsncpy(data, from, 100); // expect: copy-beyond-buffer
}

void length_of_source(void) {
    char source[100];
    char small[50] = "";
    memset(source, 'A', 100 - 1);
    source[100 - 1] = '\0';
    memcpy(small, source, strlen(source) * sizeof(char)); // expect: copy-beyond-buffer
    memset(source, 'A', 50 - 1);
    source[50 - 1] = '\0';
    memcpy(small, source, strlen(source) * sizeof(char)); // ok
}

void field_of_struct(const char *text) {
    mixed m;
    mixed *p = &m;
    memcpy(m.first, text, sizeof(m)); // expect: copy-beyond-buffer
    memcpy(m.first, text, sizeof(m.first)); // ok
    memcpy(p->first, text, sizeof(*p)); // expect: copy-beyond-buffer
}

struct tail { int n; char rest[1]; };
void flexible(struct tail *t, const void *from) {
    memcpy(t->rest, from, 100); // ok
}

void unknown(char *to, const void *from, size_t n) {
    char buffer[8];
    memcpy(to, from, 100); // ok
    memcpy(buffer, from, n); // missed: copy-beyond-buffer (the size comes from a caller)
}

void chosen(int big, const void *from) {
    char small[10], large[100];
    char *p = big ? large : small;
    memcpy(p, from, 20); // expect: copy-beyond-buffer
}

void wide(const wchar_t *text) {
    wchar_t line[20];
    _snwprintf(line, 40, L"%s", text); // expect: copy-beyond-buffer
    _snwprintf(line, 20, L"%s", text); // ok
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define WORD "AAAAAAAAAA"
#define PUT strcpy
#define JOIN(a, b) strcat(a, b)
typedef char Text;
struct entry { char name[16]; char *path; };
extern void show(const char *);

void too_long(void) {
    char *data;
    char small[50];
    char source[100];
    data = small;
    data[0] = '\0';
    memset(source, 'C', 100 - 1);
    source[100 - 1] = '\0';
    strcpy(data, source); // expect: unbounded-string-copy
}

void long_enough(void) {
    char *data;
    char large[100];
    char source[100];
    data = large;
    data[0] = '\0';
    memset(source, 'C', 100 - 1);
    source[100 - 1] = '\0';
    strcpy(data, source); // ok
    data[0] = '\0';
    strcat(data, source); // ok
}

void no_room_for_zero(void) {
    char *data = (char *)malloc(10 * sizeof(char));
    char source[10 + 1] = WORD;
    if (data == NULL) return;
    strcpy(data, source); // expect: unbounded-string-copy
    free(data);
}

void room_for_zero(void) {
    char *data = (char *)malloc((10 + 1) * sizeof(char));
    char source[10 + 1] = WORD;
    if (data == NULL) return;
    strcpy(data, source); // ok
    free(data);
}

void wide(wchar_t *from) {
    wchar_t small[8];
    wcscpy(small, L"short"); // ok
    wcscpy(small, L"much too long"); // expect: unbounded-string-copy
    wcscpy(small, from); // expect: unbounded-string-copy
}

void literals(Text *unknown, const Text *from) {
    Text box[12];
    strcpy(box, "eleven char"); // ok
    strcpy(box, "twelve chars"); // expect: unbounded-string-copy
    PUT(unknown, "x"); // expect: unbounded-string-copy
    PUT(box, from); // expect: unbounded-string-copy
    JOIN(box, from); // expect: unbounded-string-copy
}

int main(int argc, char **argv) {
    char box[64];
    if (argc > 1) strcpy(box, argv[1]); // expect: unbounded-string-copy
    show(box);
    return 0;
}

void allocated(struct entry *e, const char *from) {
    size_t n = strlen(from) + 1;
    char *copy = malloc(n);
    if (!copy) return;
    strcpy(copy, from); // ok
    e->path = malloc(strlen(from) + strlen(WORD) + 1);
    if (!e->path) return;
    strcpy(e->path, from); // ok
    strcpy(e->name, from); // expect: unbounded-string-copy
    strcpy(e->name, "fits"); // ok
}

void branches(int a) {
    char small[4], large[40];
    char *p;
    if (a)
        p = small;
    else
        p = large;
    strcpy(p, "eight ch"); // expect: unbounded-string-copy
    p = large;
    strcpy(p, "eight ch"); // ok
}

#if 0
void removed(char *a, char *b) { strcpy(a, b); }
#endif

static char *old_style(to, from) char *to; char *from; {
    return strcpy(to, from); // expect: unbounded-string-copy
}

static void strlcpy_like(char *strcpy_buffer) { show("strcpy(a, b)"); show(strcpy_buffer); } // ok

void through_function(char *p) { p[0] = 0; }
void hidden(void) {
    char small[4];
    char *p = small;
    through_function(p);
    strcpy(small, "abc"); // ok
}

wchar_t *wide_twin(void *text) {
    size_t length = wcslen((wchar_t *)text);
    void *twin = malloc((length + 1) * sizeof(wchar_t));
    if (twin == NULL)
        return NULL;
    wcscpy((wchar_t *)twin, (wchar_t *)text); // ok
    return twin;
}

wchar_t *twin_of_another(void *text, void *other) {
    size_t length = wcslen((wchar_t *)other);
    void *twin = malloc((length + 1) * sizeof(wchar_t));
    if (twin == NULL)
        return NULL;
    wcscpy((wchar_t *)twin, (wchar_t *)text); // expect: unbounded-string-copy
    return twin;
}

static char last_error[BUFSIZ];
static char short_error[UNKNOWN_SIZE];

void keep_error(int number, const char *path) {
    strcpy(last_error, "open: "); // ok
    strcat(last_error, strerror(number)); // ok
    strcpy(last_error, path); // expect: unbounded-string-copy
    strcpy(short_error, "open: "); // expect: unbounded-string-copy
}

char *own_twin(const char *from) {
    char *twin = check_malloc(strlen(from) + 1);
    strcpy(twin, from); // ok
    return twin;
}

char *own_twin_of_another(const char *from, const char *other) {
    char *twin = check_malloc(strlen(other) + 1);
    strcpy(twin, from); // expect: unbounded-string-copy
    return twin;
}

char *own_twin_without_its_end(const char *from) {
    char *twin = check_malloc(strlen(from));
    strcpy(twin, from); // expect: unbounded-string-copy
    return twin;
}

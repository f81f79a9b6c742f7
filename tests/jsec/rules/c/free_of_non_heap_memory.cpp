#include <cstdlib>
#include <alloca.h>

static char table[16];
void fill(char *to);

void through_pointer() {
    char name[64];
    char *p = name;
    fill(p);
    free(p); // expect: free-of-non-heap-memory
}

void array_itself() {
    char name[64];
    free(name); // expect: free-of-non-heap-memory
}

void file_scope() {
    free(table); // expect: free-of-non-heap-memory
}

void address() {
    int count = 0;
    free(&count); // expect: free-of-non-heap-memory
}

void stack_block() {
    char *p = (char *)alloca(10);
    free(p); // expect: free-of-non-heap-memory
}

void literal() {
    char *p = (char *)"text";
    free(p); // expect: free-of-non-heap-memory
}

void deleted() {
    int numbers[3];
    int *p = numbers;
    delete[] p; // expect: free-of-non-heap-memory
}

void heap() {
    char *p = (char *)malloc(10);
    free(p); // ok
}

void small_or_heap(size_t n) {
    char small[16];
    char *p = small;
    if (n > sizeof small)
        p = (char *)malloc(n);
    if (p != small)
        free(p); // ok
}

struct box { char *text; };
void member(struct box b, char *given[]) {
    free(b.text); // ok
    free(given); // ok
}

struct pair { int a, b; };

void placed() {
    char room[10 * sizeof(struct pair)];
    struct pair *p = new (room) struct pair[10];
    p[0].a = 1;
    delete[] p; // expect: free-of-non-heap-memory
}

void not_placed() {
    struct pair *p = new struct pair[10];
    p[0].a = 1;
    delete[] p; // ok
}

void one_of_two(const char *id, unsigned n) {
#if HAVE_ARRAYS_OF_ANY_SIZE
    char text[n];
#else
    char small[100];
    char *text = n < 100 ? small : (char *) malloc(n);
#endif
    fill(text, id);
#if !HAVE_ARRAYS_OF_ANY_SIZE
    if (text != small) free(text); // ok
#endif
}

void cleared(void *memory) {
    void *held = memory;
    g_clear_pointer(&held, g_free);
}

void handed_on() {
    int count = 0;
    g_free(&count); // expect: free-of-non-heap-memory
}

#if 0
void never_compiled() {
    char name[64];
    free(name);
}
#elif 0
void not_compiled_either() {
    char name[64];
    free(name);
}
#else
void compiled() {
    char name[64];
    free(name); // expect: free-of-non-heap-memory
}
#endif

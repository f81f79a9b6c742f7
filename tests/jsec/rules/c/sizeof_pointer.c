#include <stdlib.h>
#include <string.h>
#include <stdio.h>

struct box { char *text; char fixed[16]; };

void allocation(void) {
    double *data = NULL;
    data = (double *)malloc(sizeof(data)); // expect: sizeof-pointer
    if (data == NULL) return;
    free(data);
    data = (double *)malloc(sizeof(*data)); // ok
    free(data);
}

void parameter(char line[100], struct box *b) {
    memset(line, 0, sizeof(line)); // expect: sizeof-pointer
    memset(b, 0, sizeof(*b)); // ok
    memset(b, 0, sizeof b); // expect: sizeof-pointer
    snprintf(b->text, sizeof(b->text), "x"); // expect: sizeof-pointer
    snprintf(b->fixed, sizeof(b->fixed), "x"); // ok
    memcpy(b->fixed, &line, sizeof(line)); // ok
}

int count(int list[], int *end) {
    int own[10];
    int n = sizeof(list) / sizeof(list[0]); // expect: sizeof-pointer
    n += sizeof(own) / sizeof(own[0]); // ok
    n += sizeof(end) / sizeof(*end); // expect: sizeof-pointer
    return n;
}

void clear(void) {
    char *p;
    memset(&p, 0, sizeof(p)); // ok
    puts(p);
}

struct pair { int left; int right; long more; };

void by_type(void) {
    struct pair *p = malloc(sizeof(struct pair));
    struct pair *several[4];
    if (p == NULL) return;
    memset(p, 0, sizeof(struct pair *)); // expect: sizeof-pointer
    memset(p, 0, sizeof(struct pair)); // ok
    memset(several, 0, sizeof(struct pair *)); // ok
    free(p);
}

int same(const char *given, const char *wanted) {
    char name[16] = "";
    if (strncmp(given, wanted, sizeof(wanted)) == 0) return 1; // expect: sizeof-pointer
    return strncmp(given, name, sizeof(name)) == 0; // ok
}

struct parsed { int kind; unsigned char *items; };
unsigned count_items(const unseen_t *list) {
    return sizeof(list->items) / sizeof(list->items[0]); // ok
}
unsigned count_parsed(const struct parsed *list) {
    return sizeof(list->items) / sizeof(list->items[0]); // expect: sizeof-pointer
}
#define MANY 20
struct sample { int kind; };
struct samples {
#ifdef MANY
    struct sample list[MANY];
#else
    struct sample list[1];
#endif
};
struct chain { int kind; struct chain *list; };
unsigned count_samples(const struct samples *all) {
    return sizeof(all->list) / sizeof(all->list[0]); // ok
}

typedef struct { int kind; unsigned char *bytes; } constants_t;
unsigned count_constants(const constants_t *all) {
    return sizeof(all->bytes) / sizeof(all->bytes[0]); // expect: sizeof-pointer
}

void wiped(char *given) {
#ifdef OWN_COPY
    char block[64];
    memcpy(block, given, 64);
#else
    char *block = given;
#endif
    work(block);
#ifdef OWN_COPY
    memset(block, 0, sizeof(block)); // ok
#endif
}
void wiped_inside(char *given) {
    { char block[64]; work(block); }
    char *block = given;
    memset(block, 0, sizeof(block)); // expect: sizeof-pointer
}

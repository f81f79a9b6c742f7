#include <stdlib.h>
#include <stdio.h>

struct item { int size; char *name; struct item *next; };
void log_line(const char *text);
struct item *find(int id);

int never_set(void) {
    int *count = NULL;
    return *count; // expect: null-dereference
}

void wrong_operator(struct item *p) {
    if (p == NULL && p->size > 0) // expect: null-dereference
        log_line("x");
}

void wrong_branch(struct item *p) {
    if (!p)
        log_line(p->name); // expect: null-dereference
}

void or_instead_of_and(struct item *p) {
    if (p != NULL || p->size > 0) // expect: null-dereference
        log_line("x");
}

void goes_on(struct item *p) {
    if (p == NULL) {
        log_line("no item");
    }
    p->size = 1; // expect: null-dereference
}

void only_inside(struct item *p) {
    if (p != NULL) {
        log_line(p->name);
    }
    p->size = 1; // expect: null-dereference
}

int leaves(struct item *p) {
    if (p == NULL) {
        log_line("no item");
        return -1;
    }
    return p->size; // ok
}

void replaced(struct item *p, struct item *other) {
    if (p == NULL)
        p = other;
    p->size = 1; // ok
}

void ends(struct item *p) {
    if (p == NULL)
        exit(1);
    p->size = 1; // ok
}

int both(struct item *p) {
    return p != NULL && p->size > 0; // ok
}

int either(struct item *p) {
    if (p == NULL || p->size == 0) // ok
        return 0;
    return p->size; // ok
}

void set_before(int id) {
    struct item *p = NULL;
    p = find(id);
    p->size = 1; // ok
}

void in_loop(struct item *p) {
    struct item *last = NULL;
    for (; p; p = p->next)
        last = p;
    if (last)
        last->size = 1; // ok
}

void flag(struct item *p) {
    int ok = 1;
    if (p == NULL) {
        ok = 0;
    }
    if (ok)
        p->size = 1; // ok
}

size_t size_only(void) {
    struct item *p = NULL;
    return sizeof(*p); // ok
}

void with_length(char *text, int n) {
    if (text == NULL && n != 0)
        return;
    for (int i = 0; i < n; i++)
        text[i] = 0; // ok
}

#define RETURN_IF_NULL(p) if (!(p)) return
void by_macro(struct item *p) {
    RETURN_IF_NULL(p);
    p->size = 1; // ok
}

void set_null(struct item **out) { *out = NULL; }
void from_helper(void) {
    struct item *p;
    set_null(&p);
    p->size = 1; // expect: null-dereference
}

static int first_of(const int *numbers) { return numbers[0]; } // expect: null-dereference
static int none_of(const int *numbers) { return numbers != NULL; }
static int (*table[])(const int *) = {none_of, first_of};

int through_a_table(void) { return table[1](NULL); }

static int second_of(const int *numbers) { return numbers[1]; } // ok
static int (*const fixed_table[])(const int *) = {none_of, second_of};

int through_the_other(void) { return fixed_table[0](NULL); }

struct tagged { int kind; int value; };
#define IS_NUMBER(t) ((t) && ((t)->kind) == 3)
#define MAY_BE_NUMBER(t) ((!t) || ((t)->kind) == 3)

static int number_of(const struct tagged *t) {
    if (!IS_NUMBER(t))
        return 0;
    return t->value; // ok
}

static int number_or_none(const struct tagged *t) {
    if (!MAY_BE_NUMBER(t))
        return 0;
    return t->value; // expect: null-dereference
}

int numbers(void) {
    return number_of(NULL) + number_or_none(NULL);
}

int plain_condition(struct tagged *t) {
    struct tagged *none = NULL;
    if ((none) && ((none)->kind) == 3)
        return none->value; // ok
    return 0;
}

typedef union { struct { unsigned low, high; }; char *place; } either;
unsigned written_as_another_member(unsigned high) {
    either both = {0};
    both.high = high;
    return *(unsigned *)(both.place + 8); // ok
}

#define AS_VALUE(x) ((typeof(((struct tagged *)0)->value))(x))
int of_the_type_of_a_member(int number) {
    return AS_VALUE(number); // ok
}

#define FAIL goto failed
int left_by_a_macro(struct tagged *t) {
    if (t == NULL) {
        FAIL;
        t->value = 0; // ok
    }
    return 0;
failed:
    return -1;
}

#include <cstdlib>
#include <cstring>
#include <cstdio>

struct pair { int a; int b; };
struct list { struct pair *first; };
int read_line(FILE *file, int size);
void keep(char *text);
void print_line(const char *text);

void at_end(const char *text) {
    char *copy = strdup(text); // expect: memory-leak
    if (copy == NULL)
        return;
    print_line(copy);
}

int early(FILE *file, int size) {
    char *line = (char *)malloc(size); // expect: memory-leak
    if (line == NULL)
        return -1;
    if (read_line(file, size) < 0)
        return -1;
    free(line);
    return 0;
}

void object() {
    pair *p = new pair; // expect: memory-leak
    p->a = 1;
}

void never_used(int n) {
    char *p = (char *)malloc(n); // expect: memory-leak
}

void in_block(int n) {
    if (n > 3) {
        char *p = (char *)malloc(n); // expect: memory-leak
        if (p)
            memset(p, 0, n);
    }
}

char *returned(const char *text) {
    char *copy = strdup(text);
    return copy; // ok
}

void stored(struct list *l) {
    struct pair *p = (struct pair *)malloc(sizeof *p);
    l->first = p;
} // ok

void out(struct pair **to) {
    struct pair *p = (struct pair *)malloc(sizeof *p);
    *to = p;
} // ok

void base(int **to) {
    struct pair *p = (struct pair *)malloc(sizeof *p);
    *to = &p->a;
} // ok

void handed_over(const char *text) {
    char *copy = strdup(text);
    keep(copy);
} // ok

int by_goto(FILE *file, int size) {
    int result = -1;
    char *line = (char *)malloc(size);
    if (!line)
        goto out;
    if (read_line(file, size) < 0)
        goto out;
    result = 0;
out:
    free(line);
    return result; // ok
}

int null_is_free(int size) {
    char *line = (char *)malloc(size);
    if (line) {
        line[0] = 0;
        free(line);
    }
    return 0; // ok
}

int main(int argc, char **argv) {
    char *copy = strdup(argv[0]);
    return argc; // ok
}

#include <memory>
void owned_by_object() {
    pair *raw = new pair;
    std::unique_ptr<pair> owner(raw);
    raw->a = 1;
} // ok

struct counted { int n; };

struct counted *counted(void) {
    struct counted *one = (struct counted *)malloc(sizeof *one);
    if (!one)
        return NULL;
    one->n = 1;
    return one;
}

int test_that_frees(void) {
    struct counted *one, *two;
    if (!assert((one = counted()) != NULL))
        return 1;
    if (!assert((two = counted()) != NULL)) {
        free(one);
        return 2;
    }
    one->n = two->n;
    free(two);
    free(one);
    return 0; // ok
}

int test_that_forgets(void) { // expect: memory-leak
    struct counted *one, *two;
    if (!assert((one = counted()) != NULL))
        return 1;
    if (!assert((two = counted()) != NULL))
        return 2;
    one->n = two->n;
    free(two);
    free(one);
    return 0;
}

struct work { foreign_pointer buffer; int size; };

int kept_in_foreign_type(struct work *work) {
    work->buffer = (foreign_pointer)malloc(work->size);
    if (work->buffer == NULL)
        return -1;
    return 0; // ok
}

int kept_nowhere(struct work *work) {
    void *buffer = malloc(work->size); // expect: memory-leak
    if (buffer == NULL)
        return -1;
    return 0;
}

#include <stdio.h>
#include <stdlib.h>

void use(FILE *file);

void empty(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL) { // expect: ignored-failure
    }
    use(file);
}

void semicolon(const char *path) {
    if (remove(path) != 0); // expect: ignored-failure
}

int handled(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL) { // ok
        return -1;
    }
    use(file);
    return 0;
}

void other(int a, int b) {
    if (a == b) { // ok
    }
}

void with_alternative(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL) { // ok
    } else {
        use(file);
    }
}

int explained(int fd, const void *address, unsigned length) {
    if (connect(fd, address, length) == -1) {
        if (errno == EINPROGRESS) // expect: ignored-failure
            ; /* not an error: of little confidence */
    }
    return 0;
}

int handled_in_some_builds(int fd, const void *address, unsigned length) {
    if (connect(fd, address, length) == -1) {
        if (errno == EINPROGRESS) // ok
            ;
#ifdef STRICT
        else if (errno == ECONNREFUSED)
            return -1;
#endif
    }
    return 0;
}

void choose(const char *word) {
    if (!strcmp(word, "keymap")) // ok
        ;
    run(word);
}

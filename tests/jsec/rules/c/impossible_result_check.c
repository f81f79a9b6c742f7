#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int read_line(char *line, FILE *file) {
    if (fgets(line, 100, file) < 0) // expect: impossible-result-check
        return -1;
    if (fgets(line, 100, file) == NULL) // ok
        return -1;
    return 0;
}

int counts(char *block, FILE *file) {
    size_t got = fread(block, 1, 10, file);
    if (got < 0) // expect: impossible-result-check
        return -1;
    if (fwrite(block, 1, 10, file) != 10) // ok
        return -1;
    int put = fwrite(block, 1, 10, file);
    if (put < 0) // expect: impossible-result-check
        return -1;
    return 0;
}

char *memory(void) {
    char *p;
    if ((p = malloc(10)) < 0) // expect: impossible-result-check
        return NULL;
    if ((p = malloc(10)) == NULL) // ok
        return NULL;
    return p;
}

int map(int fd) {
    void *p = mmap(0, 10, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == NULL) // expect: impossible-result-check
        return -1;
    void *q = mmap(0, 10, PROT_READ, MAP_PRIVATE, fd, 0);
    if (q == MAP_FAILED) // ok
        return -1;
    return 0;
}

int start(pthread_t *thread, void *(*run)(void *)) {
    if (pthread_create(thread, NULL, run, NULL) < 0) // expect: impossible-result-check
        return -1;
    if (pthread_create(thread, NULL, run, NULL) != 0) // ok
        return -1;
    return 0;
}

int print(FILE *file) {
    if (fprintf(file, "%s\n", "text") == 0) // expect: impossible-result-check
        return -1;
    if (fputs("text", file) == 0) // expect: impossible-result-check
        return -1;
    if (fputs("text", file) < 0) // ok
        return -1;
    if (fputs("text", file) == EOF) // ok
        return -1;
    return 0;
}

int unsigned_read(int fd, char *block) {
    size_t got = read(fd, block, 10);
    if (got < 0) // expect: impossible-result-check
        return -1;
    ssize_t well = read(fd, block, 10);
    if (well < 0) // ok
        return -1;
    return 0;
}

void move(const char *a, const char *b) {
    if (rename(a, b) == 0) // expect: impossible-result-check
        puts("rename failed");
    if (rename(a, b) != 0) // ok
        puts("rename failed");
    if (rename(a, b) == 0) // ok
        puts("moved");
}

int numbers(FILE *file, int *out) {
    int n = 0;
    while (fscanf(file, "%d", out) != EOF) // expect: impossible-result-check
        n++;
    while (fscanf(file, "%d", out) == 1) // ok
        n++;
    if (fscanf(file, "%9s", (char *) out) == EOF) // ok
        return -1;
    return n;
}

int order(const char *a, const char *b) {
    if (strcmp(a, b) == 1) // expect: impossible-result-check
        return 1;
    return strcmp(a, b) > 0; // ok
}

int descriptors(const char *path) {
    int fd = open(path, 0);
    if (fd == 0) // expect: impossible-result-check
        return -1;
    int well = open(path, 0);
    if (well == -1) // ok
        return -1;
    if (setuid(1000) == 1) // expect: impossible-result-check
        return -1;
    return fd + well;
}

int windows(void *pipe) {
    if (ImpersonateNamedPipeClient(pipe) == ERROR_INVALID_HANDLE) // expect: impossible-result-check
        return -1;
    if (!ImpersonateNamedPipeClient(pipe)) // ok
        return -1;
    if (CreateMutexA(NULL, FALSE, NULL) == INVALID_HANDLE_VALUE) // expect: impossible-result-check
        return -1;
    return CreateMutexA(NULL, FALSE, NULL) == NULL; // ok
}

int suffix(const char *tail, const char *what) {
    int i, j;
    j = strlen(tail);
    for (i = strlen(what); j >= 0; j--, i--) // ok
        if (tail[j] != what[i])
            break;
    return j;
}

int hex(const char *in, int kind) {
    int length;
    if (kind)
        length = parse(in);
    else {
        unhide(in);
        length = strlen(in);
    }
    if (length == -1) // ok
        return -1;
    return length;
}

int plain(const char *in, int kind) {
    int length = parse(in);
    if (kind) {
        length = strlen(in);
        if (length == -1) // expect: impossible-result-check
            return -1;
    }
    return length;
}

int counted(const char *in) {
    size_t length = strlen(in);
    while (length < 0) // expect: impossible-result-check
        in = next(in);
    return length;
}

int given(const char *in, int length) {
    if (length == 0)
        length = strlen(in);
    if (length < 0) // ok
        return -1;
    return length;
}

int narrowed(const char *in) {
    int length = strlen(in);
    if (length < 0) // ok
        return -1;
    return length;
}

int standard_input(const char *path) {
    close(0);
    if (open(path, O_RDONLY)) // ok
        return -1;
    return 0;
}

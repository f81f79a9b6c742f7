#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void show(char *);

void upper_only(void) {
    int data = -1;
    char source[100];
    char dest[100] = "";
    fscanf(stdin, "%d", &data);
    memset(source, 'A', 100 - 1);
    source[100 - 1] = '\0';
    if (data < 100) {
        memcpy(dest, source, data); // expect: unchecked-size-from-input
        dest[data] = '\0';
    }
    show(dest);
}

void both(void) {
    int data = -1;
    char source[100] = "";
    char dest[100] = "";
    fscanf(stdin, "%d", &data);
    if (data >= 0 && data < 100) {
        memcpy(dest, source, data); // ok
    }
    show(dest);
}

void negative(void) {
    int data;
    char source[100] = "";
    char dest[100] = "";
    data = -1;
    if (data < 100) {
        strncpy(dest, source, data); // expect: unchecked-size-from-input
    }
    data = 100 - 1;
    if (data < 100) {
        strncpy(dest, source, data); // ok
    }
    show(dest);
}

void small(void) {
    short data;
    data = (short)atoi(getenv("N"));
    if (data < 100) {
        char *p = (char *)malloc(data); // expect: unchecked-size-from-input
        free(p);
    }
}

void no_limit(int fd, char *to, const char *from) {
    unsigned n;
    if (read(fd, &n, sizeof(n)) != sizeof(n)) return;
    memmove(to, from, n); // expect: unchecked-size-from-input
}

void result(int fd, char *to, const char *from) {
    char buffer[64];
    ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n < 0) return;
    memcpy(to, from, n); // ok
}

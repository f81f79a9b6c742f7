#include <stdlib.h>
#include <string.h>

void under(const char *from) {
    char *data;
    char buffer[100];
    data = buffer - 8; // expect: pointer-before-buffer
    memcpy(data, from, 20);
}

void fine(const char *from) {
    char *data;
    char buffer[100];
    char *end = buffer + 100;
    data = buffer;
    memcpy(data, from, 20);
    memcpy(end - 20, from, 20); // ok
    memcpy(data + 16 - 8, from, 20); // ok
}

void heap(void) {
    char *block = malloc(100);
    char *data;
    if (block == NULL) return;
    data = block - 8; // expect: pointer-before-buffer
    data[0] = 0;
    free(block);
}

void unknown(char *p, int n) {
    char *q = p - 8; // ok
    q[n - 8] = 0; // ok
}

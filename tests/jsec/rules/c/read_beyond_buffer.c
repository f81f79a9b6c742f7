#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void short_source(char *to) {
    char *data;
    char small[50];
    char dest[100];
    memset(small, 'A', 50 - 1);
    small[50 - 1] = '\0';
    data = small;
    memset(dest, 'C', 100 - 1);
    dest[100 - 1] = '\0';
    memcpy(dest, data, strlen(dest) * sizeof(char)); // expect: read-beyond-buffer
    memcpy(to, small, 50); // ok
}

void long_source(void) {
    char *data;
    char large[100];
    char dest[100];
    data = large;
    memset(data, 'A', 100 - 1);
    data[100 - 1] = '\0';
    memset(dest, 'C', 100 - 1);
    dest[100 - 1] = '\0';
    memmove(dest, data, strlen(dest) * sizeof(char)); // ok
}

void literal(char *to) {
    memcpy(to, "abc", 4); // ok
    memcpy(to, "abc", 8); // expect: read-beyond-buffer
}

void out(int fd) {
    int value = 3;
    int row[4];
    char *heap = malloc(10);
    if (!heap) return;
    if (write(fd, &value, sizeof(value)) < 0) return; // ok
    if (write(fd, &value, sizeof(long)) < 0) return; // expect: read-beyond-buffer
    fwrite(row, sizeof(int), 5, stdout); // expect: read-beyond-buffer
    fwrite(row, sizeof(row[0]), 4, stdout); // ok
    if (memcmp(heap, row, 16) == 0) return; // expect: read-beyond-buffer
    free(heap);
}

size_t filled_to_the_end(void) {
    char *block = malloc(8);
    size_t length;
    if (block == NULL) return 0;
    memset(block, 'z', 8);
    length = strlen(block); // expect: read-beyond-buffer
    free(block);
    return length;
}

size_t filled_but_for_one(void) {
    char *block = malloc(8);
    size_t length;
    if (block == NULL) return 0;
    memset(block, 'z', 7);
    block[7] = 0;
    length = strlen(block); // ok
    free(block);
    return length;
}

void copied_to_the_end(void) {
    char text[150], part[100];
    memset(text, 'A', 149);
    text[149] = 0;
    strncpy(part, text, sizeof(part)); // expect: strncpy-without-terminator
    puts(part); // expect: read-beyond-buffer
}

void ended_behind(void) {
    char text[150], part[100];
    memset(text, 'A', 149);
    text[149] = 0;
    strncpy(part, text, sizeof(part));
    part[99] = 0;
    puts(part); // ok
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chunk;
int chunk_read(struct chunk *chunk, char *to, size_t size);

int show(FILE *file, size_t size) {
    char *text = malloc(size);
    if (!text || fread(text, 1, size, file) != size)
        return -1;
    printf("%s\n", text); // expect: text-without-terminator
    free(text);
    return 0;
}

int show_chunk(struct chunk *chunk, size_t size) {
    char *text = malloc(size);
    int length;
    if (!text || chunk_read(chunk, text, size) < 0)
        return -1;
    length = (int)strlen(text); // expect: text-without-terminator
    free(text);
    return length;
}

int show_ended(FILE *file, size_t size) {
    char *text = malloc(size + 1);
    if (!text || fread(text, 1, size, file) != size)
        return -1;
    text[size] = '\0';
    printf("%s\n", text); // ok
    free(text);
    return 0;
}

int show_cleared(FILE *file, size_t size) {
    char *text = calloc(size + 1, 1);
    if (!text || fread(text, 1, size, file) != size)
        return -1;
    printf("%s\n", text); // ok
    free(text);
    return 0;
}

int show_part(FILE *file, size_t size) {
    char *text = malloc(size);
    if (!text || fread(text, 1, size, file) != size)
        return -1;
    printf("%.*s\n", (int)size, text); // ok
    free(text);
    return 0;
}

int begins(FILE *file) {
    char magic[4];
    if (fread(magic, 1, 4, file) != 4)
        return -1;
    return strcmp(magic, "RIFF"); // ok
}

int number(FILE *file) {
    char digits[8];
    if (fread(digits, 1, sizeof(digits), file) != sizeof(digits))
        return -1;
    return atoi(digits); // expect: text-without-terminator
}

int line(FILE *file) {
    char text[80];
    if (!fgets(text, sizeof(text), file))
        return -1;
    return atoi(text); // ok
}

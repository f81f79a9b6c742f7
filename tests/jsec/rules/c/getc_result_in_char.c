#include <stdio.h>

void put(int c);

void copy(FILE *file) {
    char c;
    while ((c = getc(file)) != EOF) // expect: getc-result-in-char
        put(c);
}

void copy_well(FILE *file) {
    int c;
    while ((c = getc(file)) != EOF) // ok
        put(c);
}

void stored(FILE *file) {
    unsigned char c = fgetc(file); // expect: getc-result-in-char
    if (c == EOF)
        return;
    put(c);
}

void counted(FILE *file, int n) {
    char c;
    while (n-- > 0) {
        c = fgetc(file); // ok
        put(c);
    }
}

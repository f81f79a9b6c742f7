#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

extern void show(int);

void to_char(void) {
    int data = -1;
    fscanf(stdin, "%d", &data);
    {
        char small = (char)data; // expect: truncated-input-value
        show(small);
    }
}

void to_short(void) {
    short data;
    data = (short)atoi(getenv("N")); // expect: truncated-input-value
    show(data);
}

void checked(void) {
    int data = -1;
    char small;
    fscanf(stdin, "%d", &data);
    if (data < 0 || data > CHAR_MAX) return;
    small = (char)data; // ok
    show(small);
}

void replaced(void) {
    int data = -1;
    char small;
    fscanf(stdin, "%d", &data);
    data = CHAR_MAX - 5;
    small = (char)data; // ok
    show(small);
}

void same_width(void) {
    short data;
    short other;
    fscanf(stdin, "%hd", &data);
    other = data; // ok
    show(other);
}

void byte_order_mark(unsigned char *bytes) {
    int k = 0;
    bytes[k++] = '\xff'; // ok
    bytes[k++] = '\xfe'; // ok
    int less = -2;
    bytes[k++] = less; // expect: truncated-input-value
}

#include <stdio.h>
#include <string.h>

static int read_at(const int *table, int index) {
    return table[index]; // expect: read-before-buffer
}

int below(void) {
    int table[4] = {1, 2, 3, 4};
    return read_at(table, -2);
}

int inside(void) {
    int table[4] = {1, 2, 3, 4};
    const int *last = table + 3;
    return last[-2]; // ok
}

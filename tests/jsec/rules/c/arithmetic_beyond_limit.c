#include <limits.h>
#include <stdint.h>

extern void show(long);

void over(void) {
    char data;
    data = ' ';
    data = CHAR_MAX;
    {
        char result = data + 1; // expect: arithmetic-beyond-limit
        show(result);
    }
}

void checked(void) {
    char data;
    data = CHAR_MAX;
    if (data < CHAR_MAX) {
        char result = data + 1; // ok
        show(result);
    }
}

void replaced(void) {
    int data = INT_MAX;
    data = 2;
    show(data + 1); // ok
}

void under(void) {
    int64_t data = INT64_MIN;
    data--; // expect: arithmetic-beyond-limit
    show(data);
}

void product(void) {
    unsigned int data = UINT_MAX;
    if (data > 0)
        show(data * 2); // expect: arithmetic-beyond-limit
}

int smallest(const int *list, int n) {
    int best = INT_MAX;
    for (int i = 0; i < n; i++)
        if (list[i] < best) best = list[i]; // ok
    return best - 1; // ok
}

int64_t square(void) {
    int64_t data = 0;
    if (scanf("%" SCNd64, &data) != 1)
        return 0;
    return data * data; // expect: arithmetic-beyond-limit
}

int64_t small_square(void) {
    int64_t data = 0;
    if (scanf("%" SCNd64, &data) != 1)
        return 0;
    if (imaxabs((intmax_t)data) <= sqrtl(LLONG_MAX))
        return data * data; // ok
    return 0;
}

static unsigned table[8][8];
void turned_table(void) {
    unsigned x, y;
    for (y = 1; y < 8; y++)
        for (x = 0; x < 8; x++)
            table[y][x] = table[y - 1][(x - 1) & 7]; // ok
}

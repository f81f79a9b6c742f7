#include <stdlib.h>
#include <string.h>

#define SIZE 12
extern void show(int *);

void inclusive(int n) {
    int sums[SIZE];
    int copies[n];
    int i;
    for (i = 0; i <= SIZE; i++)
        sums[i] = 0; // expect: loop-past-array-end
    for (i = 0; i < SIZE; i++)
        sums[i] = 0; // ok
    for (i = 1; i <= SIZE; i++)
        sums[i - 1] = 0; // ok
    for (i = 0; i < SIZE; i++)
        sums[i + 1] = 0; // expect: loop-past-array-end
    for (i = 0; i < SIZE; i += 2)
        sums[i + 1] = 0; // ok
    for (i = 0; i <= n; i++)
        copies[i] = 0; // expect: loop-past-array-end
    show(sums);
    show(copies);
}

void small_target(void) {
    char *data;
    char small[50];
    char large[100];
    char source[100];
    size_t i;
    memset(source, 'C', 100 - 1);
    source[100 - 1] = '\0';
    data = small;
    for (i = 0; i < 100; i++) {
        data[i] = source[i]; // expect: loop-past-array-end
    }
    data = large;
    for (i = 0; i < 100; i++) {
        data[i] = source[i]; // ok
    }
}

void by_length(void) {
    char data[50];
    char dest[100];
    size_t i, n;
    memset(data, 'A', 50 - 1);
    data[50 - 1] = '\0';
    memset(dest, 'C', 100 - 1);
    dest[100 - 1] = '\0';
    n = strlen(dest);
    for (i = 0; i < n; i++) {
        dest[i] = data[i]; // missed: loop-past-array-end (the limit is a variable: flow tells it)
    }
}

void bytes_for_ints(void) {
    int i;
    int source[10] = {0};
    int *data = (int *)malloc(10);
    if (data == NULL) return;
    for (i = 0; i < 10; i++) {
        data[i] = source[i]; // expect: loop-past-array-end
    }
    free(data);
    data = (int *)malloc(10 * sizeof(int));
    if (data == NULL) return;
    for (i = 0; i < 10; i++) {
        data[i] = source[i]; // ok
    }
    free(data);
}

void guarded(int *from) {
    int row[4];
    int i;
    for (i = 0; i < 100; i++) {
        if (i >= 4) break;
        row[i] = from[i]; // ok
    }
    for (i = 0; i <= 4; i++) {
        if (i != 4 && from[i] > 0) row[i] = 1; // ok
    }
    show(row);
}

void nested(void) {
    int grid[3][4];
    int r, c;
    for (r = 0; r < 3; r++)
        for (c = 0; c <= 4; c++)
            grid[r][c] = 0; // expect: loop-past-array-end
    show(&grid[0][0]);
}

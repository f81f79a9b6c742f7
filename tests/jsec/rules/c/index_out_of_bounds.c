#include <stdlib.h>

#define LAST 9
#define COUNT (LAST + 1)
enum { RED, GREEN, BLUE, COLOURS };
struct table { int rows[COLOURS]; int *heap; struct table *next; };
static const char *names[] = {"a", "b"};

int plain(void) {
    int scores[10];
    int grid[3][4];
    scores[9] = 0; // ok
    scores[10] = 0; // expect: index-out-of-bounds
    scores[-1] = 0; // expect: index-out-of-bounds
    scores[LAST] = 1; // ok
    scores[COUNT] = 1; // expect: index-out-of-bounds
    grid[2][3] = 0; // ok
    grid[3][0] = 0; // expect: index-out-of-bounds
    grid[0][4] = 0; // expect: index-out-of-bounds
    return scores[0x0a]; // expect: index-out-of-bounds
}

int fields(struct table *t) {
    t->rows[BLUE] = 1; // ok
    t->rows[COLOURS] = 1; // expect: index-out-of-bounds
    return t->next->rows[3]; // expect: index-out-of-bounds
}

int pointers(int *p) {
    int row[4];
    int *q = row + 2;
    int *end = &row[4]; // ok
    int *heap = malloc(4 * sizeof(int));
    if (!heap) return 1;
    heap[4] = 1; // expect: index-out-of-bounds
    heap[3] = 1; // ok
    free(heap);
    q[-2] = 1; // ok
    q[-3] = 1; // expect: index-out-of-bounds
    p[100] = 1; // ok
    return q[1] + (int)(end - row); // ok
}

void variable(void) {
    int data;
    int buffer[10] = {0};
    data = 10;
    buffer[data] = 1; // missed: index-out-of-bounds (write-past-buffer tells it, by flow)
    data = 7;
    buffer[data] = 1; // ok
    data = -1;
    if (data >= 0) {
        buffer[data] = 1; // ok
    }
}

unsigned long measured(void) {
    char line[8];
    return sizeof(line[8]); // ok
}

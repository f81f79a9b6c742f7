#include <stdlib.h>
#include <string.h>

void in_front(void) {
    char room[16];
    char *at = room - 4;
    memset(at, 0, 8); // expect: write-before-buffer
}

void at_start(void) {
    char room[16];
    char *at = room;
    memset(at, 0, 8); // ok
}

static void put(char *room, int index) {
    room[index] = 'x'; // expect: write-before-buffer
}

void below(void) {
    char room[16];
    put(room, -1);
}

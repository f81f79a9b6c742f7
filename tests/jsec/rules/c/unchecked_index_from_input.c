#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

extern int table[10];

void lower_only(void) {
    int data = -1;
    char line[20] = "";
    int buffer[10] = {0};
    if (fgets(line, sizeof(line), stdin) != NULL) {
        data = atoi(line);
    }
    if (data >= 0) {
        buffer[data] = 1; // expect: unchecked-index-from-input
    }
}

void both(void) {
    int data = -1;
    char line[20] = "";
    int buffer[10] = {0};
    if (fgets(line, sizeof(line), stdin) != NULL) {
        data = atoi(line);
    }
    if (data >= 0 && data < (10)) {
        buffer[data] = 1; // ok
    }
}

int upper_only(void) {
    int data = 0;
    fscanf(stdin, "%d", &data);
    if (data < 10)
        return table[data]; // expect: unchecked-index-from-input
    return 0;
}

int unsigned_number(void) {
    unsigned data = 0;
    scanf("%u", &data);
    if (data >= 10) return 0;
    return table[data]; // ok
}

int too_far(void) {
    int buffer[10] = {0};
    int data = atoi(getenv("N"));
    if (data < 0 || data > 10) return 0;
    return buffer[data]; // expect: unchecked-index-from-input
}

int early(char **argv) {
    int data = atoi(argv[1]);
    if (data < 0 || data >= 10) {
        puts("bad");
        return 1;
    }
    return table[data]; // ok
}

int masked(void) {
    int data = rand() % 10;
    return table[data]; // ok
}

int from_socket(int fd) {
    int data;
    if (recv(fd, &data, sizeof(data), 0) != sizeof(data)) return 0;
    return table[data]; // expect: unchecked-index-from-input
}

int replaced(void) {
    int data = 0;
    fscanf(stdin, "%d", &data);
    data = 7;
    return table[data]; // ok
}

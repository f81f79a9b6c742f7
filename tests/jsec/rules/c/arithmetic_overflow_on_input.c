#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

extern void show(long);

void sum(void) {
    int data = 0;
    fscanf(stdin, "%d", &data);
    {
        int result = data + 1; // expect: arithmetic-overflow-on-input
        show(result);
    }
}

void sum_checked(void) {
    int data = 0;
    fscanf(stdin, "%d", &data);
    if (data < INT_MAX) {
        int result = data + 1; // ok
        show(result);
    }
}

void sum_replaced(void) {
    int data = 0;
    fscanf(stdin, "%d", &data);
    data = 2;
    show(data + 1); // ok
}

void product(void) {
    int data = atoi(getenv("N"));
    if (data > 0) {
        int result = data * 2; // expect: arithmetic-overflow-on-input
        show(result);
    }
}

void product_checked(void) {
    int data = atoi(getenv("N"));
    if (data > 0) {
        if (data < (INT_MAX / 2)) {
            int result = data * 2; // ok
            show(result);
        }
    }
}

void square(void) {
    int data = 0;
    fscanf(stdin, "%d", &data);
    if (abs((long)data) <= (long)sqrt((double)INT_MAX)) {
        show(data * data); // ok
    }
}

void difference(int fd) {
    int64_t data = 0;
    if (recv(fd, &data, sizeof(data), 0) != sizeof(data)) return;
    show(data - 1); // expect: arithmetic-overflow-on-input
    if (data > INT64_MIN) {
        show(data - 1); // ok
    }
}

void steps(void) {
    int data = rand();
    data++; // expect: arithmetic-overflow-on-input
    show(data);
}

void steps_checked(void) {
    unsigned int data = 0;
    fscanf(stdin, "%u", &data);
    if (data > 0) {
        --data; // ok
        show(data);
    }
    while (data--) // ok
        show(1);
}

void not_a_number(char *text) {
    int n = 1;
    scanf("%d", &n);
    show(*(text + n)); // ok
}

void parameter(int data) {
    show(data + 1 + rand() % 3); // ok
}

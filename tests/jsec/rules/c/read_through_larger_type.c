#include <stdio.h>
#include <stddef.h>

void print_number(int number);

void through_void(void) {
    void *data;
    short number = 8;
    data = &number;
    print_number(*((int *)data)); // expect: read-through-larger-type
}

void direct(void) {
    char letter = 'a';
    print_number(*(int *)&letter); // expect: read-through-larger-type
}

void written(void) {
    int number = 0;
    *(long long *)&number = 1; // expect: read-through-larger-type
    print_number(number);
}

void same_size(void) {
    int number = 8;
    void *data = &number;
    print_number(*((int *)data)); // ok
}

void smaller(void) {
    int number = 8;
    print_number(*(char *)&number); // ok
}

void array(void) {
    char bytes[8] = {0};
    print_number(*(int *)bytes); // ok
}

void unknown(void *data) {
    print_number(*((int *)data)); // ok
}

#include <stdio.h>
#include <stdlib.h>

#define NUMBER atoi

int parse(const char *text) {
    int a = NUMBER(text); // expect: number-parsed-without-check
    double b = atof(text); // expect: number-parsed-without-check
    int c = atoi("12"); // ok
    char *end;
    long d = strtol(text, &end, 10); // ok
    return a + (int)b + c + (int)d;
}

int main(int argc, char **argv) {
    return argc > 1 ? atoi(argv[1]) : 0; // expect: number-parsed-without-check
}

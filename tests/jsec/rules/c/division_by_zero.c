#include <stdio.h>
#include <stdlib.h>

int zero(int a) {
    int parts = 0;
    return a / parts; // expect: division-by-zero
}

int not_zero(int a) {
    int parts = 3;
    return a / parts; // ok
}

int from_outside(void) {
    char line[16] = "";
    if (fgets(line, sizeof line, stdin) == NULL)
        return 0;
    int parts = atoi(line);
    return 100 % parts; // expect: division-by-zero
}

int from_outside_tested(void) {
    char line[16] = "";
    if (fgets(line, sizeof line, stdin) == NULL)
        return 0;
    int parts = atoi(line);
    if (parts == 0)
        return 0;
    return 100 % parts; // ok
}

#include <stdio.h>

int next(void);

int conditions(int a, int b) {
    if (a = 5) // expect: assignment-in-condition
        return 1;
    if (a == 5) // ok
        return 2;
    if (a = b) // expect: assignment-in-condition
        return 3;
    if ((a = b)) // ok
        return 4;
    while (a = next()) // ok
        b++;
    while ((a = getchar()) != EOF) // ok
        b++;
    if (b && (a = 1)) // expect: assignment-in-condition
        return 5;
    if ((a = b) > 3) // ok
        return 6;
    return (a = 0) ? 1 : 2; // expect: assignment-in-condition
}

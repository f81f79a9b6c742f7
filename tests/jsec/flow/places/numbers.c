
#include <math.h>
#include <stdlib.h>
void shown(double number);
void text_shown(unsigned long length);

void near_zero() {
    float number = (float)rand();
    if (fabs(number) > 0.000001) shown(100.0 / number);
}

void perhaps_zero() {
    float number = (float)rand();
    shown(100.0 / number); // expect: divide-by-zero
}

int two_digits(const char *text) {
    int number = 0;
    if (sscanf(text, "%2d", &number) != 1) return 0;
    return number * 1000;
}

int any_digits(void) {
    int number = 0;
    if (scanf("%d", &number) != 1) return 0;
    return number * 1000; // expect: integer-overflow
}

int few_digits(void) {
    int number = 0;
    if (scanf("%2d", &number) != 1) return 0;
    return number * 1000;
}

void untested() {
    char *home = getenv("HOME");
    text_shown(strlen(home)); // expect: unchecked-allocation
}

void tested() {
    char *home = getenv("HOME");
    if (home) text_shown(strlen(home));
}

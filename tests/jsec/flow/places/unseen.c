
#include <stdlib.h>
void show(const char *text);
void show_number(int number);

int keeps(void) {
    char *text = (char *)malloc(8); // expect: leak
    if (text == NULL) return 1;
    text[0] = 'a'; text[1] = 0;
    show(text);
    return 0;
}

int gives(void) {
    char *text = (char *)malloc(8);
    if (text == NULL) return 1;
    text[0] = 'a'; text[1] = 0;
    show(text);
    free(text);
    return 0;
}

void unset(void) {
    int number;
    show_number(number); // expect: uninitialized
}

void set(void) {
    int number = 3;
    show_number(number);
}

void may_be_a_macro(void) {
    int number;
    GET_NUMBER(number);
    show_number(number);
}


int given_there(int *number) {
#include "rest.h"
}

int not_given(int *number) {
    return *number == 4 ? 1 : 2; // expect: uninitialized
}

int asked(void) {
    int one;
    return given_there(&one) == 2 && one == 3;
}

int asked_in_vain(void) {
    int one;
    return not_given(&one) == 2 && one == 3;
}

#include <cstring>

bool fits(const char (&buffer)[32], size_t length) {
    return length < sizeof(buffer) / sizeof(buffer[0]); // ok
}

bool guessed(const char *buffer, size_t length) {
    return length < sizeof(buffer) / sizeof(buffer[0]); // expect: sizeof-pointer
}

void through_reference(double *&made, int (&whole)[4]) {
    made = (double *)malloc(sizeof(made)); // expect: sizeof-pointer
    memset(whole, 0, sizeof(whole)); // ok
}

class owner {
public:
    owner();

private:
    double *held;
    double kept[4];
};

owner::owner() {
    held = (double *)malloc(sizeof(held)); // expect: sizeof-pointer
    memset(kept, 0, sizeof(kept)); // ok
    memset(held, 0, sizeof(*held)); // ok
}

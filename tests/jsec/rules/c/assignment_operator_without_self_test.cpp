#include <cstring>
#include <utility>

struct Text {
    char *data;
    unsigned size;
    Text &operator=(const Text &other) {
        delete[] data; // expect: assignment-operator-without-self-test
        data = new char[other.size];
        memcpy(data, other.data, other.size);
        return *this;
    }
};

struct Tested {
    char *data;
    unsigned size;
    Tested &operator=(const Tested &other) {
        if (this != &other) {
            delete[] data; // ok
            data = new char[other.size];
            memcpy(data, other.data, other.size);
        }
        return *this;
    }
};

struct Copied {
    char *data;
    unsigned size;
    Copied &operator=(const Copied &other) {
        char *fresh = new char[other.size];
        memcpy(fresh, other.data, other.size);
        delete[] data; // ok
        data = fresh;
        return *this;
    }
};

struct Number {
    int value;
    Number &operator=(const Number &other) {
        value = other.value; // ok
        return *this;
    }
};

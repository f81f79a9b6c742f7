#include <stdexcept>

int close_file(int fd);

struct File {
    int fd;
    ~File() {
        if (close_file(fd) != 0)
            throw std::runtime_error("close"); // expect: throw-in-destructor
    }
};

struct Outside { ~Outside(); void close(); };
Outside::~Outside() {
    throw 1; // expect: throw-in-destructor
}

struct Allowed {
    ~Allowed() noexcept(false) {
        throw 1; // expect: throw-in-destructor
    }
};

struct Caught {
    ~Caught() {
        try {
            throw 1; // ok
        } catch (...) {
        }
    }
};

void Outside::close() {
    throw 1; // ok
}

struct Bits {
    int bits;
    int operator~() const;
};

int Bits::operator~() const {
    if (!bits)
        throw 1; // ok
    return ~bits;
}

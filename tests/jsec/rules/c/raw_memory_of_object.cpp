#include <cstring>
#include <string>
#include <vector>

struct plain { int a; char b[4]; };

void strings() {
    std::string name;
    memset(&name, 0, sizeof name); // expect: raw-memory-of-object
}

void vectors(std::vector<int> a, const std::vector<int> &b) {
    memcpy(&a, &b, sizeof a); // expect: raw-memory-of-object
}

class Widget {
public:
    Widget() { memset(this, 0, sizeof(*this)); } // expect: raw-memory-of-object
    virtual ~Widget();
    virtual void draw();
};

struct Flat {
    Flat() { memset(this, 0, sizeof(*this)); } // ok
    int a, b;
};

void structures(std::vector<int> &numbers) {
    plain p;
    memset(&p, 0, sizeof p); // ok
    memset(numbers.data(), 0, numbers.size() * sizeof(int)); // ok
    std::string *pointer = nullptr;
    memset(&pointer, 0, sizeof pointer); // ok
}

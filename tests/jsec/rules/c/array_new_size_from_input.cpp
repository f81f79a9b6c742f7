#include <cstdlib>
#include <iostream>
#include <vector>

char *unlimited() {
    std::size_t n;
    std::cin >> n;
    return new char[n]; // expect: array-new-size-from-input
}

char *with_terminator() {
    int n = std::atoi(std::getenv("N"));
    return new char[n + 1]; // expect: array-new-size-from-input
}

char *limited() {
    std::size_t n;
    std::cin >> n;
    if (n > 1000) return nullptr;
    return new char[n]; // ok
}

char *from_caller(std::size_t n) {
    return new char[n]; // ok
}

int *one() {
    int n;
    std::cin >> n;
    return new int(n); // ok
}

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

int elements() {
    size_t count = 0;
    if (scanf("%zu", &count) != 1) return 0;
    std::vector<int> all(count); // expect: allocation-size-from-input
    return (int)all.size();
}

int limited() {
    size_t count = 0;
    if (scanf("%zu", &count) != 1 || count > 1000) return 0;
    std::vector<int> all(count); // ok
    return (int)all.size();
}

char *read_size() {
    size_t size;
    std::cin >> size;
    return new char[size]; // expect: allocation-size-from-input
}

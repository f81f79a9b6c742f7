#include <memory>

void hold(int size) {
    std::unique_ptr<char> buffer(new char[size]); // expect: array-in-single-object-pointer
    std::shared_ptr<int> numbers{new int[size]}; // expect: array-in-single-object-pointer
    auto made = std::unique_ptr<int>(new int[size]); // expect: array-in-single-object-pointer
    buffer.reset(new char[size]); // expect: array-in-single-object-pointer
}

void well(int size) {
    std::unique_ptr<char[]> buffer(new char[size]); // ok
    std::unique_ptr<char> one(new char); // ok
    std::shared_ptr<int> with_deleter(new int[size], std::default_delete<int[]>()); // ok
    char *raw = new char[size]; // ok
    delete[] raw;
    buffer.reset(new char[size]); // ok
}

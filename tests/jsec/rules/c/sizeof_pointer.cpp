#include <cstring>

bool fits(const char (&buffer)[32], size_t length) {
    return length < sizeof(buffer) / sizeof(buffer[0]); // ok
}

bool guessed(const char *buffer, size_t length) {
    return length < sizeof(buffer) / sizeof(buffer[0]); // expect: sizeof-pointer
}

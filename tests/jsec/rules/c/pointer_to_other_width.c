#include <stddef.h>
#include <stdint.h>
#include <string.h>

int read_number(int stream, uint32_t *value);
int read_size(int stream, size_t *value);
void add_words(uint32_t *words);

int narrower(int stream, size_t *size) {
    *size = 0;
    return read_number(stream, (uint32_t *)size); // expect: pointer-to-other-width
}

int through_variable(int stream, size_t *size) {
    uint32_t number = 0;
    int done = read_number(stream, &number); // ok
    *size = number;
    return done;
}

int wider(int stream) {
    uint32_t size = 0;
    read_size(stream, (size_t *)&size); // expect: pointer-to-other-width
    return size > 0;
}

int of_same_width(int stream) {
    int number = 0;
    read_number(stream, (uint32_t *)&number); // ok
    return number;
}

void words_of_block(uint64_t *block) {
    block[0] = 1;
    add_words((uint32_t *)block); // ok
}

void bytes(uint32_t *value) {
    *value = 0;
    memset((uint8_t *)value, 1, 4); // ok
}

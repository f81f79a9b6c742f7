#include <stddef.h>
#include <stdint.h>

const uint8_t *find_tag(const uint8_t *data, size_t length, int tag, size_t *found);
void skip_bytes(size_t count);
uint8_t read_byte(void);
void use(const uint8_t *data, size_t length);

void walk(const uint8_t *p, size_t left) {
    size_t found = 0;
    while (left > 0) {
        p = find_tag(p, left, 7, &found); // expect: pointer-moved-length-kept
        if (p == NULL)
            return;
        use(p, found);
        p += found;
        left -= found + 2;
    }
}

void walk_from_start(const uint8_t *p, size_t left) {
    size_t found = 0;
    while (left > 0) {
        const uint8_t *tag = find_tag(p, left, 7, &found); // ok
        if (tag == NULL)
            return;
        use(tag, found);
        p += found;
        left -= found + 2;
    }
}

void walk_adjusted(const uint8_t *p, const uint8_t *end) {
    size_t found = 0;
    size_t left = end - p;
    while (left > 0) {
        p = find_tag(p, left, 7, &found); // ok
        left = end - p;
        p += found;
        left -= found;
    }
}

int records(size_t left) {
    while (left > 4) {
        size_t name = read_byte();
        left -= 1;
        if (left < name)
            return -1;
        skip_bytes(name);
        left -= name;
        size_t value = read_byte();
        left -= 1;
        if (left < value)
            return -1;
        skip_bytes(value); // expect: pointer-moved-length-kept
    }
    return 0;
}

int records_reduced(size_t left) {
    while (left > 4) {
        size_t name = read_byte();
        left -= 1;
        if (left < name)
            return -1;
        skip_bytes(name); // ok
        left -= name;
    }
    return 0;
}

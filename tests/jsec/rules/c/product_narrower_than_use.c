#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct header {
    uint32_t colors;
};

void read_palette(const struct header *header, uint32_t count);

void compared(const struct header *header, size_t size) {
    uint32_t colors = header->colors;
    if (size >= colors * 4) // expect: product-narrower-than-use
        read_palette(header, colors);
}

void divided(const struct header *header, size_t size) {
    uint32_t colors = header->colors;
    if (size / 4 >= colors) // ok
        read_palette(header, colors);
}

void limited(const struct header *header, size_t size) {
    uint32_t colors = header->colors;
    if (colors > 256)
        return;
    if (size >= colors * 4) // ok
        read_palette(header, colors);
}

void of_same_width(const struct header *header, uint32_t size) {
    uint32_t colors = header->colors;
    if (size >= colors * 4) // ok
        read_palette(header, colors);
}

int assigned(unsigned long units, int format) {
    int total;
    total = units * format; // expect: product-narrower-than-use
    return total;
}

uint64_t assigned_whole(unsigned long units, int format) {
    uint64_t total;
    total = units * format; // ok
    return total;
}

void *arena_alloc(size_t size);

char *as_hex(unsigned length) {
    return arena_alloc(length * 3); // expect: product-narrower-than-use
}

char *as_hex_checked(unsigned length) {
    if (length > UINT_MAX / 3)
        return NULL;
    return arena_alloc(length * 3); // ok
}

char *as_hex_wide(unsigned length) {
    return arena_alloc((size_t)length * 3); // ok
}

struct total {
    unsigned long long bits;
};

void added(struct total *total, unsigned int length) {
    total->bits += length * 8; // expect: product-narrower-than-use
}

void added_wide(struct total *total, unsigned int length) {
    total->bits += (unsigned long long)length * 8; // ok
}

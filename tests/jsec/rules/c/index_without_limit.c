#include <stddef.h>

struct header {
    unsigned count;
    unsigned char kind;
    unsigned level;
    int table[16];
};

int next_number(void *in);
unsigned char read_byte(void *in);
int minimum(int a, int b);

int filled_by_member(const struct header *header, void *in) {
    unsigned char levels[16];
    for (unsigned i = 0; i < header->count; i++)
        levels[i] = read_byte(in); // expect: index-without-limit
    return levels[0];
}

int filled_to_a_limit(const struct header *header, void *in) {
    unsigned char levels[16];
    if (header->count > 16)
        return -1;
    for (unsigned i = 0; i < header->count; i++)
        levels[i] = read_byte(in); // ok
    return levels[0];
}

int read_by_member(struct header *header) {
    return header->table[header->level]; // expect: index-without-limit
}

int read_by_masked_member(struct header *header) {
    return header->table[header->level & 15]; // ok
}

int read_by_small_type(struct header *header) {
    int table[256] = {0};
    return table[header->kind]; // ok
}

int small_type_of_too_few(struct header *header) {
    return header->table[header->kind]; // expect: index-without-limit
}

int by_parameter(struct header *header, int level) {
    int found = level + 1;
    return header->table[found]; // expect: index-without-limit
}

int by_tested_parameter(struct header *header, int level) {
    if (level < 0 || level >= 15)
        return -1;
    int found = level + 1;
    return header->table[found]; // ok
}

int by_result(struct header *header, void *in) {
    int level = next_number(in);
    return header->table[level]; // expect: index-without-limit
}

int by_limited_result(struct header *header, void *in) {
    int level = minimum(next_number(in), 15);
    return header->table[level]; // ok
}

int by_constant(struct header *header) {
    return header->table[3]; // ok
}

int up_to_a_constant(struct header *header) {
    int total = 0;
    for (int i = 0; i < 16; i++)
        total += header->table[i]; // ok
    return total;
}

int of_a_pointer(const int *table, int level) {
    return table[level]; // ok
}

unsigned read_bits(void *in, unsigned bits);
unsigned char read_byte(void *in);

struct header {
    unsigned count;
    unsigned char levels[16];
};

int levels(void *in) {
    unsigned char levels[16];
    unsigned count = read_bits(in, 16);
    for (unsigned i = 0; i < count; i++)
        levels[i] = read_byte(in); // expect: array-filled-up-to-unlimited-count
    return levels[0];
}

int levels_checked(void *in) {
    unsigned char levels[16];
    unsigned count = read_bits(in, 16);
    if (count > sizeof levels)
        return -1;
    for (unsigned i = 0; i < count; i++)
        levels[i] = read_byte(in); // ok
    return levels[0];
}

int few_bits(void *in) {
    unsigned char levels[16];
    unsigned count = read_bits(in, 4);
    for (unsigned i = 0; i < count; i++)
        levels[i] = read_byte(in); // ok
    return levels[0];
}

int one_too_many(void *in) {
    unsigned char levels[15];
    unsigned count = read_bits(in, 4);
    for (unsigned i = 0; i <= count; i++)
        levels[i] = read_byte(in); // expect: array-filled-up-to-unlimited-count
    return levels[0];
}

int member(struct header *header, void *in) {
    header->count = read_byte(in);
    for (unsigned i = 0; i < header->count; i++)
        header->levels[i] = read_byte(in); // expect: array-filled-up-to-unlimited-count
    return 0;
}

int made_elsewhere(struct header *header, void *in) {
    for (unsigned i = 0; i < header->count; i++)
        header->levels[i] = read_byte(in); // ok
    return 0;
}

int pointer(unsigned char *levels, void *in) {
    unsigned count = read_bits(in, 16);
    for (unsigned i = 0; i < count; i++)
        levels[i] = read_byte(in); // ok
    return 0;
}

int table[256];
int is_ascii_text(const char *text);

int first(const char *text) {
    return table[(int)*text]; // expect: plain-char-as-index
}

int at(const char *text, int i) {
    return table[text[i]]; // expect: plain-char-as-index
}

int next(const char *text) {
    return table[(int)*text++]; // expect: plain-char-as-index
}

int unsigned_first(const char *text) {
    return table[(unsigned char)*text]; // ok
}

int bytes(const unsigned char *text) {
    return table[*text]; // ok
}

int positive(char c) {
    if (c < 0)
        return 0;
    return table[(int)c]; // ok
}

int ascii(const char *text) {
    if (!is_ascii_text(text))
        return 0;
    return table[(int)*text]; // ok
}

int constant(void) {
    return table[(int)'\n']; // ok
}

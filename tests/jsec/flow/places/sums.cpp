
void show(char *text);

void difference() {
    char text[60];
    for (int i = 0; i < 60; i++) {
        if (60 - i > 5) text[i + 5] = 1;
        show(text);
    }
}

void difference_too_large() {
    char text[60];
    for (int i = 0; i < 60; i++) {
        if (60 - i > 4) text[i + 5] = 1; // expect: buffer-write-stack
        show(text);
    }
}

void sum() {
    char text[60];
    for (unsigned i = 0; i < 60; i++) {
        if (i + 5 < 60) text[i + 5] = 1;
        show(text);
    }
}

void sum_too_large() {
    char text[60];
    for (unsigned i = 0; i < 60; i++) {
        if (i + 4 < 60) text[i + 5] = 1; // expect: buffer-write-stack
        show(text);
    }
}

static unsigned width(char c) { return c < 9 ? 1 : c < 70 ? 2 : 4; }

static int part(const char *text, unsigned size) {
    int sum = 0;
    if (size != 2 && size != 4) return 0;
    for (unsigned i = 1; i < size; i++) sum += text[i];
    return sum;
}

int rest() {
    char text[60];
    memset(text, 1, 60);
    for (unsigned i = 0; i < 60; i++) {
        unsigned size = width(text[i]);
        if (size == 1) continue;
        if (size > 60 - i) return 0;
        if (!part(text + i, size)) return 0;
    }
    return 1;
}

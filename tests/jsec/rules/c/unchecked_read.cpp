#include <unistd.h>

class Properties {
public:
    void read(File *file, Atoms *atoms);
    void load(File *file, Atoms *atoms, int size);
};

void Properties::load(File *file, Atoms *atoms, int size) {
    read(file, atoms); // ok
    Reader reader(file);
    reader.start(size);
}

class Notes {
    int read(char *text, int size, bool swap) { return text[size] + swap; }
    void all(char *text) {
        read(text, 4, false); // ok
    }
};

void drain(int descriptor) {
    char text[64];
    read(descriptor, text, sizeof text); // expect: unchecked-read
    show(text);
}

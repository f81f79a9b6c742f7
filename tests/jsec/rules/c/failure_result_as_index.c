#include <string.h>

static int count[16];
static const char *names[16];

static int position_of(const char *name) {
    for (int i = 0; i < 16; i++)
        if (names[i] && strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static int slot_of(const char *name) {
    return name[0] & 15;
}

static int store(const char *name) {
    if (!name)
        return -1;
    return 0;
}

void counted(const char *name) {
    count[position_of(name)]++; // expect: failure-result-as-index
}

void counted_tested(const char *name) {
    int position = position_of(name);
    if (position >= 0)
        count[position]++; // ok
}

void counted_in_range(const char *name) {
    count[slot_of(name)]++; // ok
    count[store(name) + 1]++; // ok
}

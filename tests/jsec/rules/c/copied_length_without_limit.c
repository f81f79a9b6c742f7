#include <string.h>

struct record {
    unsigned length;
    unsigned char short_length;
    const char *name;
};

unsigned read_number(void *in);
void use(const char *name);

void by_member(const struct record *record) {
    char name[32];
    memcpy(name, record->name, record->length); // expect: copied-length-without-limit
    use(name);
}

void by_limited_member(const struct record *record) {
    char name[32];
    if (record->length > sizeof name)
        return;
    memcpy(name, record->name, record->length); // ok
    use(name);
}

void by_small_type(const struct record *record) {
    char name[256];
    memcpy(name, record->name, record->short_length); // ok
    use(name);
}

void small_type_of_too_few(const struct record *record) {
    char name[32];
    memcpy(name, record->name, record->short_length); // expect: copied-length-without-limit
    use(name);
}

void by_number(void *in, const char *from) {
    char name[32];
    unsigned length = read_number(in);
    memmove(name, from, length * 2); // expect: copied-length-without-limit
    use(name);
}

void by_parameter(const char *from, size_t length) {
    char name[32];
    memcpy(name, from, length); // expect: copied-length-without-limit
    use(name);
}

void by_tested_parameter(const char *from, size_t length) {
    char name[32];
    if (length < sizeof name)
        memcpy(name, from, length); // ok
    use(name);
}

void to_a_pointer(char *name, const char *from, size_t length) {
    memcpy(name, from, length); // ok
}

void by_constant(const char *from) {
    char name[32];
    memcpy(name, from, 16); // ok
    use(name);
}

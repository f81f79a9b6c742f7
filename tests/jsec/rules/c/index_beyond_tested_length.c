#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KIND 4

struct blob {
    uint8_t *bytes;
    unsigned len;
};

uint32_t get_be32(const uint8_t *p);
int has_length(size_t length, size_t wanted);

int kind(const uint8_t *data, size_t length) {
    if (length < 4)
        return -1;
    return data[KIND]; // expect: index-beyond-tested-length
}

int kind_checked(const uint8_t *data, size_t length) {
    if (length < 5)
        return -1;
    return data[KIND]; // ok
}

int kind_of_long(const uint8_t *data, size_t length) {
    if (length < 4)
        return -1;
    if (data[0] == 1 && length > KIND)
        return data[KIND]; // ok
    return data[3];        // ok
}

int kind_in_branch(const uint8_t *data, size_t length) {
    if (length >= 2) {
        int first = data[1];   // ok
        return first + data[2]; // expect: index-beyond-tested-length
    }
    return 0;
}

uint32_t number(const uint8_t *data, size_t length) {
    if (length < 6)
        return 0;
    return get_be32(data + 4); // expect: index-beyond-tested-length
}

uint32_t number_checked(const uint8_t *data, size_t length) {
    if (length < 8)
        return 0;
    return get_be32(data + 4); // ok
}

int copy(uint8_t *target, const uint8_t *data, size_t length) {
    if (length < 10)
        return -1;
    memcpy(target, data + 2, 12); // expect: index-beyond-tested-length
    return 0;
}

int copy_checked(uint8_t *target, const uint8_t *data, size_t length) {
    if (length < 14)
        return -1;
    memcpy(target, data + 2, 12); // ok
    return 0;
}

int of_blob(struct blob *blob) {
    if (blob->len < 2)
        return -1;
    return blob->bytes[2]; // expect: index-beyond-tested-length
}

int of_blob_checked(struct blob *blob) {
    if (blob->len <= 2)
        return -1;
    return blob->bytes[2]; // ok
}

int moved(const uint8_t *data, size_t length) {
    if (length < 4)
        return -1;
    data -= 8;
    return data[8]; // ok
}

int asked(const uint8_t *data, size_t length) {
    if (length < 4)
        return -1;
    if (!has_length(length, 9))
        return -1;
    return data[8]; // ok
}

int by_own_size(const uint8_t *data, size_t length, size_t header) {
    if (length < 4 || length < header)
        return -1;
    return data[8]; // ok
}

int of_options(const uint8_t *p, const uint8_t *end) {
    int sum = 0;
    while (p < end) {
        uint8_t type = p[0];
        uint8_t n = p[1]; // expect: index-beyond-tested-length
        sum += type;
        p += n;
    }
    return sum;
}

int of_options_checked(const uint8_t *p, const uint8_t *end) {
    int sum = 0;
    while (end - p >= 2) {
        uint8_t type = p[0];
        uint8_t n = p[1]; // ok
        if (n < 2 || n > end - p)
            break;
        sum += type;
        p += n;
    }
    return sum;
}

char *copied(const char *s, unsigned n) {
    char *p = malloc(n);
    if (p == NULL)
        return NULL;
    for (unsigned i = 0; i <= n; i++)
        p[i] = s[i]; // expect: index-beyond-tested-length
    return p;
}

char *copied_whole(const char *s, unsigned n) {
    char *p = malloc(n + 1);
    if (p == NULL)
        return NULL;
    for (unsigned i = 0; i <= n; i++)
        p[i] = s[i]; // ok
    return p;
}

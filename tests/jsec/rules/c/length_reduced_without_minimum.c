#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct header {
    uint8_t type;
    uint8_t length;
};

struct chunk {
    const char *data;
    size_t length;
};

void use(const void *data, size_t size);

int attribute(const struct header *header, size_t left) {
    if (header->length > left)
        return -1;
    use(header + 1, header->length - sizeof(*header)); // expect: length-reduced-without-minimum
    return 0;
}

int attribute_checked(const struct header *header, size_t left) {
    if (header->length < sizeof(*header) || header->length > left)
        return -1;
    use(header + 1, header->length - sizeof(*header)); // ok
    return 0;
}

int in_words(const struct header *header, size_t left) {
    switch (header->type) {
    case 1:
        if (header->length != 5)
            return -1;
        break;
    default:
        if (header->length * 4 > left)
            return -1;
        use(header + 1, header->length * 4 - 4); // expect: length-reduced-without-minimum
    }
    return 0;
}

int in_words_checked(const struct header *header, size_t left) {
    switch (header->type) {
    case 1:
        if (header->length != 5)
            return -1;
        break;
    default:
        if (header->length == 0 || header->length * 4 > left)
            return -1;
        use(header + 1, header->length * 4 - 4); // ok
    }
    return 0;
}

size_t without_quotes(const char *text, size_t limit) {
    size_t length = strlen(text);
    if (length == 0 || length > limit)
        return 0;
    if (text[0] == '"' && text[length - 1] == '"')
        length -= 2; // expect: length-reduced-without-minimum
    return length;
}

size_t without_quotes_checked(const char *text, size_t limit) {
    size_t length = strlen(text);
    if (length < 2 || length > limit)
        return 0;
    if (text[0] == '"' && text[length - 1] == '"')
        length -= 2; // ok
    return length;
}

void of_own_block(struct chunk *chunk) {
    use(chunk->data, chunk->length - 1); // ok
}

int signed_length(int length, int left) {
    if (length > left)
        return -1;
    use(0, length - 4); // ok
    return 0;
}

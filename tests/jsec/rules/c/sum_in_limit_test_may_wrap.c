#include <stddef.h>
#include <stdint.h>

struct buffer {
    const unsigned char *data;
    size_t size;
};

struct entry {
    uint32_t offset;
    uint32_t length;
    uint8_t extra;
};

const unsigned char *part(const struct buffer *buffer, const struct entry *entry) {
    if (entry->offset + entry->length > buffer->size) // expect: sum-in-limit-test-may-wrap
        return NULL;
    return buffer->data + entry->offset;
}

const unsigned char *part_by_difference(const struct buffer *buffer, const struct entry *entry) {
    if (entry->offset > buffer->size || entry->length > buffer->size - entry->offset) // ok
        return NULL;
    return buffer->data + entry->offset;
}

const unsigned char *part_limited(const struct buffer *buffer, const struct entry *entry) {
    if (entry->offset > 1000 || entry->length > 1000)
        return NULL;
    if (entry->offset + entry->length > buffer->size) // ok
        return NULL;
    return buffer->data + entry->offset;
}

int product(const struct buffer *buffer, const struct entry *entry) {
    return entry->offset * entry->length <= buffer->size; // expect: sum-in-limit-test-may-wrap
}

int small(const struct buffer *buffer, const struct entry *entry) {
    return entry->extra + entry->extra > (int)buffer->size; // ok
}

int with_constant(const struct buffer *buffer, const struct entry *entry) {
    return entry->offset + 4 > buffer->size; // ok
}

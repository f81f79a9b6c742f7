#include <stddef.h>
#include <string.h>

struct text {
    char *data;
    size_t length;
    size_t used;
};

void consume(const char *data, size_t length);

void rest(struct text *text) {
    consume(text->data + text->used, text->length - text->used); // expect: difference-as-length-untested
}

void rest_tested(struct text *text) {
    if (text->used > text->length)
        return;
    consume(text->data + text->used, text->length - text->used); // ok
}

void without_quotes(const char *data, size_t length) {
    consume(data + 1, length - 2); // expect: difference-as-length-untested
}

void without_quotes_tested(const char *data, size_t length) {
    if (length < 2)
        return;
    consume(data + 1, length - 2); // ok
}

void while_any_is_left(const char *data, size_t length) {
    while (length > 0) {
        size_t part = length > 16 ? 16 : length;
        consume(data, part);
        data += part;
        length -= part; // ok
    }
}

size_t reduced(struct text *text, size_t by) {
    text->length -= by; // expect: difference-as-length-untested
    return text->length;
}

size_t reduced_tested(struct text *text, size_t by) {
    if (text->length >= by)
        text->length -= by; // ok
    return text->length;
}

int no_length(int height, int top) {
    return height - top; // ok
}

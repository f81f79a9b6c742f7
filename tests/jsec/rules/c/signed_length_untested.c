#include <stddef.h>

struct parser {
    char *end;
    long position;
};

int parse(struct parser *parser, int length) {
    if (parser == NULL)
        return -1;
    parser->end += length; // expect: signed-length-untested
    return 0;
}

int parse_checked(struct parser *parser, int length) {
    if (parser == NULL || length < 0)
        return -1;
    parser->end += length; // ok
    return 0;
}

static int parse_own(struct parser *parser, int length) {
    if (parser == NULL)
        return -1;
    parser->end += length; // ok
    return 0;
}

int count(struct parser *parser, int length) {
    if (parser == NULL)
        return -1;
    parser->position += length; // ok
    return parse_own(parser, 1);
}

int parse_unsigned(struct parser *parser, size_t length) {
    if (parser == NULL)
        return -1;
    parser->end += length; // ok
    return 0;
}

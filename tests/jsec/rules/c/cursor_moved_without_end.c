#include <string.h>

struct packet {
    unsigned char *data;
    unsigned length;
};

int skip_name(struct packet *packet, unsigned char **cursor);
int skip_name_until(struct packet *packet, unsigned char **cursor, unsigned char *end);
void use(const unsigned char *data, size_t length);

int rest_of_record(struct packet *packet, unsigned char *p, int length) {
    unsigned char *end = p + length;
    if (!skip_name(packet, &p))
        return -1;
    use(p, end - p); // expect: cursor-moved-without-end
    return 0;
}

int rest_of_record_checked(struct packet *packet, unsigned char *p, int length) {
    unsigned char *end = p + length;
    if (!skip_name(packet, &p) || p > end)
        return -1;
    use(p, end - p); // ok
    return 0;
}

int rest_of_record_returned(struct packet *packet, unsigned char *p, int length) {
    unsigned char *end = p + length;
    if (!skip_name(packet, &p))
        return -1;
    if (end < p)
        return -1;
    use(p, end - p); // ok
    return 0;
}

int test_that_no_longer_holds(struct packet *packet, unsigned char *p, int length) {
    unsigned char *end = p + length;
    if (p > end)
        return -1;
    skip_name(packet, &p);
    use(p, end - p); // expect: cursor-moved-without-end
    return 0;
}

int rest_with_end(struct packet *packet, unsigned char *p, int length) {
    unsigned char *end = p + length;
    if (!skip_name_until(packet, &p, end))
        return -1;
    use(p, end - p); // ok
    return 0;
}

int rest_of_packet(struct packet *packet, unsigned char *p) {
    unsigned char *end = packet->data + packet->length;
    if (!skip_name(packet, &p))
        return -1;
    use(p, end - p); // ok
    return 0;
}

int signature(struct packet *packet, unsigned char *p, int length) {
    unsigned char *start = p;
    if (!skip_name(packet, &p))
        return -1;
    int signature_length = length - (p - start); // expect: cursor-moved-without-end
    use(p, signature_length);
    return 0;
}

int signature_checked(struct packet *packet, unsigned char *p, int length) {
    unsigned char *start = p;
    if (!skip_name(packet, &p))
        return -1;
    if (p - start > length)
        return -1;
    int signature_length = length - (p - start); // ok
    use(p, signature_length);
    return 0;
}

int signature_in_two_tests(struct packet *packet, unsigned char *p, int length) {
    unsigned char *start = p, *limit = packet->data;
    if (!skip_name(packet, &p))
        return -1;
    if (p > limit || limit - start > length)
        return -1;
    int signature_length = length - (p - start); // ok
    use(p, signature_length);
    return 0;
}

int number_of_library(unsigned char *text, unsigned char *end) {
    char *p = (char *)text;
    long value = strtol(p, &p, 10);
    use(text, end - (unsigned char *)p); // ok
    return (int)value;
}

int skip_within(struct packet packet[1], unsigned char **cursor);

int rest_with_structure(unsigned char *p, unsigned length) {
    struct packet packet = {p, length};
    unsigned char *start = p;
    if (!skip_within(&packet, &p))
        return -1;
    use(p, length - (p - start)); // ok
    return 0;
}

int word_behind_name(struct packet *packet, unsigned char *p) {
    if (!skip_name(packet, &p))
        return -1;
    unsigned char *q = p;
    while (*q > ' ')
        q++;
    use(p, q - p); // ok
    return 0;
}

void words_of(struct packet *packet, unsigned char *p) {
    while (*p) {
        unsigned char *end = p;
        while (*end > ' ')
            end++;
        use(p, end - p); // ok
        skip_name(packet, &p);
    }
}

int rest_compared_as_it_is_given(struct packet *packet, unsigned char *p, int length) {
    unsigned char *start = p;
    int left_length;
    if (!skip_name(packet, &p))
        return -1;
    if ((left_length = length - (p - start)) <= 0) // ok
        return -1;
    use(p, left_length);
    return 0;
}

int parts_in_loop(struct packet *packet, unsigned char *p, int length) {
    unsigned char *end = p + length;
    for (int part = 0; part < 4; part++) {
        if (part == 3) {
            use(p, end - p); // ok
        } else {
            if (!skip_name(packet, &p) || p > end)
                return -1;
        }
    }
    return 0;
}

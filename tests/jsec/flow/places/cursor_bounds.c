/* Reads behind a cursor that need more bytes than were tested. */
#include <stdint.h>
#include <stddef.h>
#define GET16(n, cp) { const uint8_t *t = (cp); (n) = t[0] << 8 | t[1]; (cp) += 2; }
#define NEED(p, n, end) do { if ((end) - (p) < (n)) return -1; } while (0)
#define TCHECK(p, n) if ((size_t) (end - (p)) < (size_t) (n)) goto cut

static uint32_t be32(const uint8_t *p) { return (uint32_t) p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }

int options(const uint8_t *p, const uint8_t *end) {
    int sum = 0;
    while (p < end) {
        uint8_t type = p[0], n = p[1]; // expect: cursor-beyond-test
        sum += type;
        p += n;
    }
    return sum;
}
int options_tested(const uint8_t *p, const uint8_t *end) {
    int sum = 0;
    while (end - p >= 2) {
        uint8_t type = p[0], n = p[1];
        if (n < 2 || n > end - p) break;
        sum += type;
        p += n;
    }
    return sum;
}
int value(const uint8_t *p, const uint8_t *end) {
    uint32_t id = 0;
    while (p + 2 <= end) {
        uint8_t type = *p++;
        uint8_t n = *p++;
        if (p + n > end) return -1;
        if (type == 3)
            id = be32(p); // expect: cursor-beyond-test
        p += n;
    }
    return (int) id;
}
int value_tested(const uint8_t *p, const uint8_t *end) {
    uint32_t id = 0;
    while (p + 2 <= end) {
        uint8_t type = *p++;
        uint8_t n = *p++;
        if (p + n > end) return -1;
        if (type == 3 && n >= 4) id = be32(p);
        if (type == 4 && n == 4) id = be32(p);
        p += n;
    }
    return (int) id;
}
int macros(const uint8_t *cp, const uint8_t *end) {
    int a, b;
    NEED(cp, 2, end);
    GET16(a, cp);
    GET16(b, cp); // expect: cursor-beyond-test
    return a + b;
}
int macros_tested(const uint8_t *cp, const uint8_t *end) {
    int a, b;
    NEED(cp, 4, end);
    GET16(a, cp);
    GET16(b, cp);
    return a + b;
}
int lengths(const uint8_t *cp, const uint8_t *end) {
    int sum = 0;
    while (cp < end) {
        TCHECK(cp, 2);
        unsigned type = cp[0], n = cp[1];
        if (type == 5) sum += cp[2]; // expect: cursor-beyond-test
        cp += 2 + n;
    }
    return sum;
cut:
    return -1;
}
int lengths_tested(const uint8_t *cp, const uint8_t *end) {
    int sum = 0;
    while (cp < end) {
        TCHECK(cp, 2);
        unsigned type = cp[0], n = cp[1];
        TCHECK(cp, 2 + n);
        if (type == 5 && n) sum += cp[2];
        cp += 2 + n;
    }
    return sum;
cut:
    return -1;
}

/* the distance in a variable, an end of its own, rows of pixels, texts, limits before the end */
int by_distance(const uint8_t *p, size_t size) {
    const uint8_t *end = p + size;
    if (size < 8) return 0;
    p += 4;
    size_t left = end - p;
    if (left < 6) return p[3];
    return p[5] + p[7]; // expect: cursor-beyond-test
}
int pixels(const uint8_t *p, const uint8_t *end) {
    int sum = 0;
    for (; p < end; p += 3) sum += p[0] + p[1] + p[2];
    return sum;
}
int text(const uint8_t *p, const uint8_t *end, int n) {
    while (p < end) {
        if (*p == '\\' && p[1] == 'n' && p[2] != 'x') return 1;
        p += n;
    }
    return 0;
}
int fast(const uint8_t *p, const uint8_t *end, unsigned n) {
    const uint8_t *limit = end - 8;
    int sum = 0;
    while (p < limit) {
        sum += p[0] + p[7];
        p += n;
    }
    return sum;
}
int fits(const uint8_t *p, const uint8_t *end, unsigned k);
int elsewhere(const uint8_t *p, const uint8_t *end, unsigned n) {
    if (p + 2 > end) return 0;
    if (!fits(p, end, 8)) return p[1];
    p += n;
    return p[0] + p[7];
}

/* an index as the cursor, of a parameter and of a member */
struct message { const uint8_t *data; size_t size; };
int indexed(const uint8_t *d, size_t size) {
    size_t at = 0;
    int sum = 0;
    while (at < size) {
        sum += d[at];
        at += d[at + 1]; // expect: cursor-beyond-test
    }
    return sum;
}
int indexed_by(const uint8_t *d, size_t size) {
    size_t at = 0;
    int sum = 0;
    while (at < size) {
        unsigned n = d[at + 1]; // expect: cursor-beyond-test
        sum += d[at];
        at += n + 2;
    }
    return sum;
}
int indexed_tested(const uint8_t *d, size_t size) {
    size_t at = 0;
    int sum = 0;
    while (at + 2 <= size) {
        unsigned n = d[at + 1];
        if (at + 2 + n > size) break;
        sum += d[at];
        if (n >= 2) sum += d[at + 2] + d[at + 3];
        at += n + 2;
    }
    return sum;
}
int member(struct message *m, size_t at) {
    size_t size = m->size;
    if (size - at < 4) return 0;
    return m->data[at + 3] + m->data[at + 4]; // expect: cursor-beyond-test
}
int member_tested(struct message *m, size_t at) {
    size_t size = m->size;
    if (size - at < 5) return 0;
    return m->data[at + 3] + m->data[at + 4];
}
int neighbours(const uint8_t *d, size_t size) {
    int sum = 0;
    for (size_t i = 0; i < size; i++) sum += d[i] + d[i + 1];
    return sum;
}

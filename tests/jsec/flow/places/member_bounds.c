#include <stdint.h>
#include <stddef.h>
#include <string.h>
struct reader { const uint8_t *p; const uint8_t *end; };
struct stream { const uint8_t *data; size_t pos, size; int error; };

int options(struct reader *r) {
    int sum = 0;
    while (r->p < r->end) {
        uint8_t type = r->p[0];
        uint8_t n = r->p[1]; // expect: cursor-beyond-test
        sum += type;
        r->p += n;
    }
    return sum;
}
int options_ok(struct reader *r) {
    int sum = 0;
    while (r->end - r->p >= 2) {
        uint8_t type = r->p[0];
        uint8_t n = r->p[1];
        if (n < 2 || n > r->end - r->p) break;
        sum += type;
        r->p += n;
    }
    return sum;
}
static int need(struct stream *s, size_t n) { return s->size - s->pos >= n; }
static int need2(struct stream *s, size_t n) {
    if (n > s->size - s->pos) { s->error = 1; return -1; }
    return 0;
}
uint32_t get4(struct stream *s) {
    if (!need(s, 2)) return 0;
    uint32_t v = s->data[s->pos] | s->data[s->pos + 1] << 8 | s->data[s->pos + 2] << 16 | s->data[s->pos + 3] << 24; // expect: cursor-beyond-test
    s->pos += 4;
    return v;
}
uint32_t get4_ok(struct stream *s) {
    if (!need(s, 4)) return 0;
    uint32_t v = s->data[s->pos] | s->data[s->pos + 1] << 8 | s->data[s->pos + 2] << 16 | s->data[s->pos + 3] << 24;
    s->pos += 4;
    return v;
}
uint32_t get4b(struct stream *s) {
    if (need2(s, 3) < 0) return 0;
    return s->data[s->pos] | s->data[s->pos + 3] << 24; // expect: cursor-beyond-test
}
uint32_t get4b_ok(struct stream *s) {
    if (need2(s, 4) < 0) return 0;
    return s->data[s->pos] | s->data[s->pos + 3] << 24;
}
int loc(struct stream *s) {
    if (s->pos + 4 > s->size) return -1;
    int tag = s->data[s->pos + 5]; // expect: cursor-beyond-test
    return tag;
}
uint32_t get4c(struct stream *s) {
    int r = need2(s, 3);
    if (r != 0) return 0;
    return s->data[s->pos] | s->data[s->pos + 3] << 24; // expect: cursor-beyond-test
}
uint32_t get4c_ok(struct stream *s) {
    int r;
    if ((r = need2(s, 4)) != 0) return 0;
    return s->data[s->pos] | s->data[s->pos + 3] << 24;
}
void refill(struct stream *s);
uint32_t get4d_ok(struct stream *s) {
    if (!need(s, 3)) { refill(s); }
    return s->data[s->pos] | s->data[s->pos + 3] << 24;
}

/* Numbers that functions of the program read from a stream of bytes, whatever they are called. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct stream { const uint8_t *data; size_t pos, size; };
struct info { char name[32]; uint32_t count; uint32_t offsets[16]; };
static int octet(struct stream *s) { return s->pos < s->size ? s->data[s->pos++] : -1; }
static uint8_t u8(struct stream *s) { return s->pos < s->size ? s->data[s->pos++] : 0; }
static uint16_t u16(struct stream *s) { uint16_t a = u8(s); return (uint16_t) (a << 8 | u8(s)); }
static uint32_t u32(struct stream *s) { uint32_t a = u16(s); return a << 16 | u16(s); }
static uint32_t several(struct stream *s, int n) {
    uint32_t v = 0;
    while (n-- > 0) v = (v << 8) | u8(s);
    return v;
}
static uint32_t in_steps(struct stream *s) {
    uint32_t v = (uint32_t) u8(s) << 8;
    v |= u8(s);
    return v;
}

void copied(struct stream *s, struct info *o, const char *from) {
    memcpy(o->name, from, u16(s)); // expect: buffer-write-heap
}
void copied_tested(struct stream *s, struct info *o, const char *from) {
    uint16_t n = u16(s);
    if (n <= sizeof o->name) memcpy(o->name, from, n);
}
void counted(struct stream *s, struct info *o) {
    o->count = u32(s);
    for (uint32_t i = 0; i < o->count; i++)
        o->offsets[i] = u32(s); // expect: buffer-write-heap
}
void counted_tested(struct stream *s, struct info *o) {
    o->count = u32(s);
    if (o->count > 16) return;
    for (uint32_t i = 0; i < o->count; i++)
        o->offsets[i] = u32(s);
}
void by_byte(struct stream *s, struct info *o) {
    o->offsets[u8(s)] = 1; // expect: buffer-write-heap
}
void by_byte_tested(struct stream *s, struct info *o) {
    uint8_t i = u8(s);
    o->offsets[i & 15] = 1;
    if (i < 16) o->offsets[i] = 1;
}
void by_octet(struct stream *s) {
    char seen[256] = {0}; char few[128] = {0};
    int c = octet(s);
    if (c < 0) return;
    seen[c] = 1;
    few[c] = 1; // expect: buffer-write-stack
}
void by_several(struct stream *s, const char *from) {
    char t[16];
    memcpy(t, from, several(s, 3)); // expect: buffer-write-stack
}
void by_steps(struct stream *s, const char *from) {
    char t[16];
    memcpy(t, from, in_steps(s)); // expect: buffer-write-stack
}
int sum(struct stream *s, const uint8_t *d, uint32_t size) {
    uint32_t at = u32(s), n = u32(s);
    if (at + n > size) return 0; // expect: integer-overflow
    return d[at];
}
int sum_tested(struct stream *s, const uint8_t *d, uint32_t size) {
    uint32_t at = u32(s), n = u32(s);
    if (n > size || at > size - n) return 0;
    return d[at];
}

/* no streams */
static uint8_t class_of(const uint8_t *classes, int at) { return classes[at]; }
static int both(int a, int b) { return a << 8 | b; }
static int state_of(struct info *o) { o->count++; return o->name[3]; }
void no_streams(const uint8_t *classes, struct info *o, int a, int b) {
    o->offsets[class_of(classes, a)] = 1;
    o->offsets[both(a, b)] = 1;
    o->offsets[state_of(o)] = 1;
}

/* a member that one function reads and another uses */
struct shot { uint16_t length; uint8_t bytes[64]; };
void shot_head(struct stream *s, struct shot *o) { o->length = u16(s); }
void shot_body(struct stream *s, struct shot *o) {
    for (int i = 0; i < o->length; i++)
        o->bytes[i] = u8(s); // expect: buffer-write-heap
}
struct tested { uint16_t length; uint8_t bytes[64]; };
int tested_head(struct stream *s, struct tested *o) {
    o->length = u16(s);
    return o->length > sizeof o->bytes ? -1 : 0;
}
void tested_body(struct stream *s, struct tested *o) {
    for (int i = 0; i < o->length; i++)
        o->bytes[i] = u8(s);
}

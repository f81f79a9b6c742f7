/* Numbers of binary input: whole structures, bytes put together, getters, loops up to them. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct head { uint32_t width, height; };
struct reader { FILE *file; struct head head; char text[32]; int table[8]; };

void whole_structure(FILE *f) {
    struct head h; int t[16] = {0};
    if (fread(&h, sizeof h, 1, f) != 1) return;
    t[h.width] = 1; // expect: buffer-write-stack
}
void whole_structure_tested(FILE *f) {
    struct head h; int t[16] = {0};
    if (fread(&h, sizeof h, 1, f) != 1 || h.width >= 16) return;
    t[h.width] = 1;
}
void first_part(int fd) {
    struct head h = {0, 1}; int t[16] = {0};
    if (read(fd, &h, sizeof h.width) != sizeof h.width) return;
    t[h.height] = 1;
}
void one_byte(FILE *f) {
    unsigned char b[8]; int t[16] = {0};
    if (fread(b, 8, 1, f) != 1) return;
    t[b[0]] = 1; // expect: buffer-write-stack
}
void one_byte_masked(FILE *f) {
    unsigned char b[8]; int t[16] = {0};
    if (fread(b, 8, 1, f) != 1) return;
    t[b[0] & 15] = 1;
    t[b[1] >> 4] = 1;
}
void all_bytes(FILE *f) {
    unsigned char b[8]; int t[256] = {0};
    if (fread(b, 8, 1, f) != 1) return;
    t[b[0]] = 1;
}
void digits(FILE *f) {
    char b[8]; static int seen[10];
    if (fread(b, 8, 1, f) != 1) return;
    if (strchr("0123456789", b[0])) seen[b[0] - '0'] = 1;
}
void put_together(FILE *f) {
    unsigned char b[8]; int t[300] = {0};
    if (fread(b, 8, 1, f) != 1) return;
    t[b[0] | (b[1] << 8)] = 1; // expect: buffer-write-stack
}
void put_together_tested(FILE *f) {
    unsigned char b[8]; int t[300] = {0};
    if (fread(b, 8, 1, f) != 1) return;
    unsigned n = b[0] + 256 * b[1];
    if (n < 300) t[n] = 1;
}
void bit_by_bit(FILE *in, FILE *out) {
    int bits = 0;
    for (int i = 0; i < 8; i++) {
        int c = getc(in);
        if (c == EOF) return;
        bits = (bits << 1) | ((c >> 7) & 1);
    }
    putc((unsigned char) bits, out);
}
void character(FILE *f) {
    int c = fgetc(f); int t[16] = {0};
    if (c == EOF) return;
    t[c] = 1; // expect: buffer-write-stack
}
void character_of_few(FILE *f) {
    int c = fgetc(f); int t[16] = {0};
    if (c < 0 || c > 15) return;
    t[c] = 1;
}
static uint32_t get4(FILE *f) {
    unsigned char b[4];
    if (fread(b, 1, 4, f) != 4) return 0;
    return b[0] | (b[1] << 8) | (b[2] << 16) | ((uint32_t)b[3] << 24);
}
void by_getter(FILE *f) {
    uint32_t n = get4(f); int t[16] = {0};
    t[n] = 1; // expect: buffer-write-stack
}
void as_many(FILE *f) {
    uint32_t n = get4(f); int t[16];
    for (uint32_t i = 0; i < n; i++) t[i] = (int)i; // expect: buffer-write-stack
}
void as_many_tested(FILE *f) {
    uint32_t n = get4(f); int t[16];
    if (n > 16) return;
    for (uint32_t i = 0; i < n; i++) t[i] = (int)i;
}
void as_many_at_most(FILE *f) {
    uint32_t n = get4(f); int t[16];
    for (uint32_t i = 0; i < n && i < 16; i++) t[i] = (int)i;
}
void last_member(struct reader *r) {
    r->head.width = get4(r->file);
    r->table[r->head.width] = 1; // expect: buffer-write-heap
}
void last_member_tested(struct reader *r) {
    r->head.width = get4(r->file);
    if (r->head.width < 8) r->table[r->head.width] = 1;
}
static void read_head(struct reader *r) { r->head.width = get4(r->file); }
void member_filled(struct reader *r) {
    read_head(r);
    memset(r->text, 0, r->head.width); // expect: buffer-write-heap
}
void member_filled_in_bounds(struct reader *r) {
    read_head(r);
    if (r->head.width > sizeof r->text) r->head.width = sizeof r->text;
    memset(r->text, 0, r->head.width);
}
struct tail { uint32_t count; int held[1]; };
void behind(struct tail *p, FILE *f) {
    uint32_t n = get4(f);
    if (n < p->count) p->held[n] = 1;
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char t[16];
    if (size < 2 || size < 1u + data[0]) return 0;
    memcpy(t, data + 1, data[0]); // expect: buffer-write-stack
    return t[0];
}

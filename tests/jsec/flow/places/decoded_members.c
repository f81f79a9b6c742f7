/* Members that one function decodes and another uses; those that some function bounds are left out. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct head { uint16_t count, tested, total; uint32_t colours; uint8_t plain; };
struct file { FILE *from; struct head head; };

void parse(struct head *h, const uint8_t *d) {
    h->count = d[0] | (d[1] << 8);
    h->tested = d[2] | (d[3] << 8);
    uint32_t colours = d[4] | (d[5] << 8) | (d[6] << 16) | ((uint32_t) d[7] << 24);
    h->colours = colours;
    h->plain = d[8];
    uint32_t total = d[9] | (d[10] << 8);
    if (total > 64) return;
    h->total = total;
}
int valid(const struct head *h) { return h->tested <= 64; }

void copies(const struct file *f, const char *from) {
    char t[64];
    memcpy(t, from, f->head.count); // expect: buffer-write-stack
    puts(t);
}
void copies_tested(const struct file *f, const char *from) {
    char t[64];
    if (valid(&f->head)) memcpy(t, from, f->head.tested);
    memcpy(t, from, f->head.total);
    memcpy(t, from, f->head.plain);
    puts(t);
}
void copies_tested_here(const struct file *f, const char *from) {
    char t[64];
    uint16_t count = f->head.count;
    if (count > sizeof t) return;
    memcpy(t, from, count);
    puts(t);
}
void writes(const struct head *h) {
    int t[64] = {0};
    for (unsigned i = 0; i < h->count; i++)
        t[i] = 0; // expect: buffer-write-stack
    printf("%d", t[0]);
}
int fits(const struct head *h, size_t size) {
    uint32_t colours = h->colours;
    if (size < colours * 4) return 0; // expect: integer-overflow
    return 1;
}
int fits_wide(const struct head *h, size_t size) {
    size_t colours = h->colours;
    if (size < colours * 4) return 0;
    return 1;
}
struct record { uint32_t length, kind; };
struct reader { FILE *from; struct record now; };
int next(struct reader *r) { return fread(&r->now, sizeof r->now, 1, r->from) == 1; }
void show(const struct reader *r, const char *from) {
    char t[64];
    memcpy(t, from, r->now.length); // expect: buffer-write-stack
    puts(t);
}

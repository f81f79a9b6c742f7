
struct hash { int kind, used, wide; unsigned char block[128]; };
struct entry { const char *name; int (*done)(struct hash *h); };
extern struct entry entries[32];

int filled(struct hash *h) {
    while (h->used < h->wide) h->block[h->used++] = 0x80;
    return entries[h->kind].done(h);
}

int chosen(struct hash *h) {
    h->kind = 0x80;
    return entries[h->kind].done(h); // expect: buffer-read-over
}

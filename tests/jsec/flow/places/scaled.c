
#define KB *(1 << 10)
#define BLOCK (8 KB)
#define LEAST(n) ((unsigned)(n) > 8200u ? 0 : (n) + 16)

void enough(void) {
    char *p = malloc(LEAST(BLOCK));
    if (!p) return;
    memset(p, 0, 8208);
    free(p);
}

void too_little(void) {
    char *p = malloc(LEAST(BLOCK));
    if (!p) return;
    memset(p, 0, 8209); // expect: buffer-write-heap
    free(p);
}

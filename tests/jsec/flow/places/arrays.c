
#include <stdio.h>
#include <stdlib.h>
enum { WIDE = 16 };
struct row { char name[WIDE]; int cells[WIDE / 2]; int used; };
struct open { int used; int cells[8]; };
union both { char bytes[4]; int number[2]; };
void show(int number);
void counted(struct row *r, const char *s) {
    int i;
    for (i = 0; i < WIDE; i++)
        r->cells[i] = s[i]; // expect: buffer-write-heap
}
void fits(struct row *r, const char *s) {
    int i;
    for (i = 0; i < WIDE / 2; i++) r->cells[i] = s[i];
    r->name[WIDE - 1] = 0;
}
void local(const char *s) {
    struct row r;
    r.name[WIDE] = s[0]; // expect: buffer-write-stack
}
int before(struct row *r) {
    int i = 3;
    i -= 4;
    return r->cells[i]; // expect: buffer-read-under
}
int chosen(struct row *r) {
    char line[20];
    int i;
    if (!fgets(line, sizeof line, stdin)) return 0;
    i = atoi(line);
    if (i < 0) return 0;
    return r->cells[i]; // expect: buffer-read-over
}
void made_longer(struct open *o, int *from) {
    int i;
    for (i = 0; i < 12; i++) o->cells[i] = from[i];
}
int seen_as_another(union both *b) { return b->bytes[6]; }
int any(struct row *r) { int last = r->used + 1; return r->cells[last]++; }
int guarded(struct row *r, int i) { return i >= 0 && i < WIDE / 2 ? r->cells[i] : 0; }

#include <stdio.h>
enum color { RED, GREEN = 5, BLUE };
static int fall(int n) { int r = 0; switch (n) { case 1: r += 1; case 2: r += 10; break; case 3: case 4:
    r = 34; break; case 7 ... 9: return 789; default: r = -1; } return r; }
static int nested(int n) { int c = 0; for (int i = 0; i < n; i++) { if (i == 2) continue; for (;;) {
    if (++c % 3 == 0) break; } switch (i) { case 4: goto out; default: continue; } } out: return c; }
static int retry(int n) { int tries = 0; again: tries++; if (n-- > 0) goto again; return tries; }
static void duff(char *to, const char *from, int count) { int n = (count + 7) / 8; switch (count % 8) {
    case 0: do { *to++ = *from++; case 7: *to++ = *from++; case 6: *to++ = *from++; case 5: *to++ = *from++;
    case 4: *to++ = *from++; case 3: *to++ = *from++; case 2: *to++ = *from++; case 1: *to++ = *from++;
    } while (--n > 0); } }
static int states(const char *s) { enum { START, WORD, END } state = START; int words = 0;
    for (; state != END; s++) switch (state) { case START: if (*s == 0) state = END; else if (*s != ' ') {
        words++; state = WORD; } break; case WORD: if (*s == ' ') state = START; if (*s == 0) state = END; break;
        case END: break; } return words; }
int main(void) {
    for (int i = 0; i < 10; i++) printf("%d ", fall(i)); printf("\n%d %d\n", nested(8), retry(4));
    char buffer[20] = {0}; duff(buffer, "nineteen characters", 19); puts(buffer); printf("%d\n", states(" a bc  d"));
    int i = 0; do { if (i == 3) continue; if (i == 5) break; printf("%d", i); } while (++i < 9); putchar('\n');
    enum color c = BLUE; switch (c) { case RED: puts("red"); break; case BLUE: puts("blue"); }
    i = 10; while (i --> 7) { int i = 3; printf("%d", i); } printf(" %d %d\n", i, c == 6 && (i, 1));
    { int x = 1; { int x = 2; x++; printf("%d", x); } printf("%d\n", x); }
    return i > 5 || c;
}

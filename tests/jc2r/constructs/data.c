#include <stdio.h>
#include <wchar.h>
int later; extern int later; int later = 4;
static int sparse[100] = {1, [50] = 5, 6, [99] = 9};
static const char *const words[3] = {"a\tb", "\x41\102\0hidden", "q\"\\?"};
static char grid[2][4] = {"abc", {'d', 'e'}};
static unsigned char raw[] = {0xff, 0x80, 'z'};
static int *where = &sparse[50], **deep = &where;
static struct { int n; const char *name; } pairs[] = {{1, "one"}, {2, "two"}};
static double ratio = 1.0 / 3, tiny = 1e-10; static float pi = 3.14159f;
static long mask = ~0L << 8, negative = -5; static char sign = -1; static unsigned wrap = -1;
int main(void) {
    int s = 0; for (unsigned i = 0; i < sizeof sparse / sizeof *sparse; i++) s += sparse[i] * (int)i;
    printf("%d %d %s %s %s\n", later, s, words[0], words[1], words[2]); printf("%s %d %d\n", grid[0], grid[1][1], raw[1]);
    where[1]++; printf("%d %d %d\n", *where, where[1], **deep); printf("%d %s\n", pairs[1].n, pairs[1].name);
    printf("%.4f %g %.2f %ld %ld %d %u\n", ratio, tiny, pi, mask, negative, sign, wrap);
    int local[4] = {7}, two[2][2] = {1, 2, 3}; printf("%d %d %d\n", local[3], two[1][0], two[1][1]); static int kept[2]; kept[1]++;
    printf("%d %d\n", kept[1], words[1][3]); return 0;
}

#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int count(char *const list[], const char *const *words) { int n = 0; while (list[n]) n++; return n * 10 + (words[0] != 0); }
static int sum(const int table[], int n) { int s = 0; const int *p = table; while (n--) s += *p++; return s; }
static int go(int argc, char *argv[], int table[4]) {
    int c, seen = 0;
    while ((c = getopt(argc, argv, "ab:")) != -1) seen = seen * 10 + (c == 'a' ? 1 : c == 'b' ? 2 : 3);
    argc -= optind; argv += optind;
    printf("%d %d %s\n", seen, argc, argv[0]);
    char **rest = argv + 1, *const *same = argc > 3 ? argv : argv + 1;
    printf("%s %d %d\n", rest[0], count(argv, (const char *const *)(argv + 1)), count(argv++, (void *)argv));
    printf("%s %s %d %d\n", same[0], *argv, sum(table, 4), sum(table + 1, 2));
    printf("%d %d\n", sum((argc ? table : table + 1), 1), argv == rest);
    return 0;
}
int main(void) {
    char *args[] = {"p", "-a", "-b", "x", "one", "two", "three", 0};
    int table[4] = {1, 2, 3, 4};
    return go(7, args, table);
}

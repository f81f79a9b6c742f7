/* Long chains, deep nests, and nothing but null pointers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ONE(n) else if (!strcmp(word, "w" #n)) return n;
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
static int place(const char *word) { if (!*word) return -1; HUNDRED(1) HUNDRED(2) return 0; }
#define P8 ((((((((
#define Q8 + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1)
static int deep(int x) { return P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 P8 x Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8 Q8; }
typedef int answer(int, ...);
static answer *asked;
typedef void callback(const char *, ...);
static __attribute__((noreturn)) void leave(const char *why) { puts(why); exit(3); }
struct pair { long low, high; char name[4]; union { int i; float f; }; };
static struct pair made(int n) { struct pair one = {n, n + 1, "abc", {n + 2}}; return one; }
int main(void) {
    int n = 0; char *p = "x";
    printf("%d %d %d\n", place("w119"), place("w203"), deep(1));
    printf("%d %d %d\n", (n++, (char *)0) == (char *)0, ((void *)0) == ((char *)0), p == (n++, NULL));
    if ((char *)NULL) n = 9;
    while ((void *)0) n = 8;
    printf("%d %d %s\n", n, asked == 0, (n ? NULL : p) ? "p" : "null");
    printf("%ld %d %c %d\n", made(3).high, (int)made(4).low, made(5).name[1], made(6).i);
    printf("%d %d\n", (int)((char *)NULL - (char *)0), (int)(size_t)(const char *)NULL);
    printf("%p %s\n", NULL, p);
    leave("left");
}

/* Variables that are cleared when they are left, in whatever way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AUTO(F) __attribute__((cleanup(F)))
typedef struct { int n; char big[300]; } record;
static int left;

static void freed(void *at) { char **text = at; printf("free %s\n", *text ? *text : "nothing"); free(*text); }
static void counted(int *n) { printf("left %d\n", *n); left += *n; }
static int closed(const record *one) { printf("close %d\n", one->n); return one->n; }
static char *taken(char **from) { char *text = *from; *from = NULL; return text; }

static char *made(const char *word, int keep)
{
    AUTO(freed) char *text = strdup(word), *other AUTO(freed) = NULL;
    if (!keep) return NULL;
    other = strdup("other");
    return taken(&text);
}

static int loops(int most)
{
    int sum = 0;
    for (int i = 0; i < most; i++) {
        AUTO(counted) int n = i * 10;
        if (i == 1) continue;
        if (i == 3) break;
        if (i == 5) return sum;
        n++;
        while (n % 3) { int inner AUTO(counted) = n; n++; sum += inner; if (inner > 100) return inner; }
        sum += n;
    }
    return sum + left;
}

static int nested(int k)
{
    AUTO(counted) int first = k;
    record one AUTO(closed);
    one.n = k + 1;
    {
        int AUTO(counted) second = first + 2;
        switch (k) {
        case 1: { AUTO(counted) int third = 50; first = third; break; }
        case 2: { AUTO(counted) int fourth = 60; return fourth++ + first++; }
        default: first = second;
        }
    }
    return first + one.n;
}

static int value(void) { return ({ AUTO(counted) int n = 7; n * 3; }) + left; }

static int jumps(int k)
{
    AUTO(counted) int n = k;
    if (k > 2) goto out;
    n += 100;
out:
    puts("out");
    return n;
}

int main(void)
{
    char *text = made("word", 1);
    printf("%s\n", text);
    printf("%p\n", (void *)made("gone", 0));
    free(text);
    for (int k = 0; k < 8; k++) printf("= %d %d\n", loops(k), nested(k));
    printf("%d\n", value());
    printf("%d %d\n", jumps(1), jumps(3));
    return left & 127;
}

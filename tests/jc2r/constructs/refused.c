/* What one compiler takes and the other does not. */
#include <stdio.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <netinet/tcp.h>

static void (*ignored)(int) = SIG_IGN;
static struct { int n; void (*how)(int); } handlers[] = {{1, SIG_DFL}, {2, SIG_IGN}};

/* `offsetof` as it was written before it was there. */
struct one { int a; struct one *next; int b[4]; struct { char c, d; } in; };
struct list { long off, other; };
static struct list lists[] = {{(char *)&((struct one *)0)->next - (char *)0,
                               (long)&((struct one *)NULL)->b[2]}};

static __thread int turns = 3;
static int total = 40;

/* A function inside a function, as only gcc has them. */
static int nested(int a)
{
    int inner(int b) { return a * b + total; }
    turns++;
    return inner(2) + inner(3);
}

static int plain_one(int a)
{
    turns += a;
    return a + turns + total;
}

/* An array of variable length in a record. */
static int spread(int n)
{
    struct { int head; char text[n]; char tail; } one;
    memset(&one, 7, sizeof one);
    return (int)sizeof one + one.tail;
}

static int jumps(int a)
{
    asm goto("cmpl $5, %0; jg %l1" : : "r"(a) : "cc" : more);
    return 1;
more:
    return 2;
}

#ifdef __FLT16_MAX__
static float halved(float f) { _Float16 h = (_Float16)f; return (float)(h / 2); }
#endif

typedef int four __attribute__((vector_size(16)));

static int vectors(int a)
{
    four one = {a, a + 1, a + 2, a + 3}, two = {1, 2, 3, 4};
    four sum = one + two;
    return sum[0] + sum[3];
}

static unsigned long long product(unsigned long long a, unsigned long long b)
{
    unsigned __int128 wide = (unsigned __int128)a * b;
    return (unsigned long long)(wide >> 64) ^ (unsigned long long)wide;
}

static const int size = 4;
static int sizes[] = { sizeof(size), 1 ? 2 : size };

static int bits(unsigned a)
{
    __auto_type b = a + 1;
    return __builtin_popcount(a) + __builtin_clz(b) + __builtin_ctz(b) + __builtin_bswap16(3) + __builtin_parity(a) + __builtin_ffs((int)a);
}

int main(void)
{
    printf("%d %d %d\n", nested(4), plain_one(5), turns);
    printf("%d %d %d\n", spread(9), jumps(4), jumps(6));
    printf("%d %llu\n", vectors(3), product(1ull << 40, 12345678901234567ull));
    printf("%d %d %d\n", sizes[0], sizes[1], bits(100));
    struct tcphdr header = {0}; /* two records without names in one union */
    header.source = 80; header.dest = 90; header.syn = 1;
    printf("%d %d %d\n", header.th_sport, header.th_dport, header.th_flags);
    printf("%ld %ld %ld\n", lists[0].off, lists[0].other, (long)&((struct one *)0)->in.d);
    printf("%d %d\n", ignored == SIG_IGN, handlers[0].how == SIG_DFL);
#ifdef __FLT16_MAX__
    printf("%g\n", halved(0.1f));
#endif
    int do$lar = 3; printf("%d\n", do$lar);
    return 0;
}

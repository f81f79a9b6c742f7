/* Assembly within functions: operands by number and name, registers, memory, constants. */
#include <stdint.h>
#include <stdio.h>

#define PAUSE() __asm__ __volatile__("pause" ::: "memory")
#define HIDE(v) __asm__("" : "+r"(v))

static inline uint64_t ticks(void)
{
    uint32_t low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
    return ((uint64_t)high << 32) | low;
}

static void identify(int leaf, unsigned *words)
{
    __asm__("cpuid" : "=a"(words[0]), "=b"(words[1]), "=c"(words[2]), "=d"(words[3])
                    : "a"(leaf), "c"(0));
}

static unsigned turned(unsigned value, int by)
{
    __asm__("roll %b1, %0" : "+r"(value) : "ci"(by) : "cc");
    return value;
}

static uint8_t added(uint8_t value, short more)
{
    uint8_t carry;
    __asm__("addb %b2, %0\n\tsetc %1\n\taddb %1, %0"
            : "+q"(value), "=&q"(carry) : "q"((int)more) : "cc");
    return value;
}

static long sum(long one, long other)
{
    long r;
    asm("leaq 3(%[one],%[other],2), %[r]" : [r] "=r"(r) : [one] "r"(one), [other] "r"(other));
    return r;
}

static int exchanged(volatile int *at, int value)
{
    __asm__ __volatile__("lock; xchgl %0, %1" : "=r"(value), "+m"(*at) : "0"(value) : "memory");
    return value;
}

static uint64_t product(uint64_t one, uint64_t other, uint64_t *high)
{
    uint64_t low;
    __asm__("{mulq %3|mul %3}" : "=a"(low), "=d"(*high) : "%0"(one), "rm"(other) : "cc");
    return low;
}

static size_t length(const char *text)
{
    size_t left = (size_t)-1;
    const char *at = text;
    __asm__ volatile("1: incq %0; cmpb $0, -1(%1,%0); jne 1b" : "+r"(left) : "r"(text + 1), "m"(*at)
                     : "cc");
    return left;
}

static double root(double of, float *half)
{
    double r;
    float h = 0.5f;
    __asm__("sqrtsd %1, %0" : "=x"(r) : "x"(of));
    __asm__("mulss %1, %0" : "+x"(*half) : "x"(h));
    return r;
}

static long called(long number, long one, long other, long third)
{
    long r;
    register long fourth __asm__("r10") = 0;
    __asm__ __volatile__("syscall" : "=a"(r)
                         : "0"(number), "D"(one), "S"(other), "d"(third), "r"(fourth)
                         : "rcx", "r11", "memory");
    return r;
}

static void copied(void *to, const void *from, unsigned long count)
{
    int d0, d1, d2;
    __asm__ __volatile__("rep ; movsb" : "=&c"(d0), "=&D"(d1), "=&S"(d2)
                         : "0"(count), "1"(to), "2"(from) : "memory");
}

static int constants(int n)
{
    __asm__("addl %1, %0; subl $%c2, %0; imull $3, %0, %0" : "+r"(n) : "i"(sizeof(int)), "i"(7));
    return n;
}

int main(void)
{
    unsigned words[4] = { 0 };
    uint64_t high, before = ticks();
    int kept = 5, hidden = 7;
    char to[8] = "";
    float half = 3;
    identify(0, words);
    PAUSE();
    HIDE(hidden);
    printf("%d %d %d\n", ticks() >= before, words[0] > 0, words[1] && words[2] && words[3]);
    printf("%x %x %d %ld\n", turned(0x80000001u, 4), turned(1, 31), added(200, 100), sum(4, 5));
    int old = exchanged(&kept, 9);
    printf("%d %d %d\n", old, kept, hidden);
    uint64_t low = product(0x123456789abcdefu, 0xfedcba987654321u, &high);
    printf("%llx %llx\n", (unsigned long long)low, (unsigned long long)high);
    double r = root(2, &half);
    printf("%zu %.17g %g\n", length("assembly"), r, half);
    copied(to, "moved", 6);
    fflush(stdout);
    long wrote = called(1, 1, (long)"by hand\n", 8);
    printf("%ld %ld %s %d\n", wrote, called(3, -1, 0, 0), to, constants(10));
    return 0;
}

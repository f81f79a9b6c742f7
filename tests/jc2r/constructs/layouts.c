/* Where members lie: bit-fields that begin a new unit, alignment that is asked for, packing. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
struct moved { unsigned b : 31; union { short e; unsigned char f[8]; unsigned g; }; unsigned long c : 39; unsigned short a; _Bool d[4]; };
struct split { char a; int : 0; char b; long c : 40; long d : 30; char e; };
struct wide { char a; int b __attribute__((aligned(16))); char c; };
struct tight { char a; int b : 9; short c; int d; } __attribute__((packed));
struct unit { int a : 3; char b; int c : 20; long d; };
static struct moved first = {.c = 5, .a = 0xf0, .d = {1, [2] = 3}};
static struct split second = {1, 2, 3, 4, 5};
static struct wide third[2] = {{1, 2, 3}, {.c = 4}};
static struct tight fourth = {1, -2, 3, 4};
static struct unit fifth = {1, 2, 3, 4};
static void bytes(const void *at, size_t size) { for (size_t n = 0; n < size; n++) printf("%02x", ((const unsigned char *)at)[n]); puts(""); }
/* Variables that are aligned to more than their types ask for, some by a macro. */
#define LINE (2 * 32)
_Alignas(LINE) static char line[10] = "aligned"; int shared_word __attribute__((aligned(32))) = 5; static __thread short own __attribute__((aligned(64))) = 6;
static int off(const void *at, unsigned long by) { return (int)((unsigned long)at % by); }
static int aligned(int n) { static long kept __attribute__((aligned(128))); char c = 1; _Alignas(16) int list[3] = {n, 2}; int big[100] __attribute__((aligned)), plain __attribute__((aligned(2))) = 3; big[99] = c; list[2] = kept++;
    for (int i = 0; i < 2; i++) { float f __attribute__((aligned(32))) = i; if (off(&f, 32)) return -1; n += (int)f; if (n == 100) goto out; } big[0] = off(&kept, 128) + off(list, 16) + off(big, 16) + off(line, 64) + off(&shared_word, 32) + off(&own, 64);
    out: return big[0] * 1000 + list[0] + list[2] + big[99] + plain + line[1] + own++ + shared_word--; }
int main(void) {
    printf("%d %d %zu\n", aligned(1), aligned(2), sizeof line + sizeof own);
    bytes(&first, sizeof first); bytes(&second, sizeof second); bytes(third, sizeof third); bytes(&fourth, sizeof fourth); bytes(&fifth, sizeof fifth);
    struct moved copy = first; copy.c = ~0ul; copy.g = 0x01020304; printf("%lx %x %d %d\n", (unsigned long)copy.c, copy.a, copy.e, copy.d[2]);
    printf("%zu %zu %zu %zu %zu\n", offsetof(struct moved, a), offsetof(struct split, e), offsetof(struct wide, c), offsetof(struct tight, d), offsetof(struct unit, d));
    second.d = -7; second.e = 9; fourth.d++; printf("%d %d %d %d %d\n", (int)second.d, second.e, third[1].c, fourth.d, fifth.c);
    return 0;
}

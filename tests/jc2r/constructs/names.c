#include <stdio.h>
#include <stdlib.h>
#include <stdbool.h>
typedef struct { int type, fn, match, impl, self, Self, crate, super, dyn, async, await, box, mod, use, where, move, mut, pub, ref, trait, unsafe, yield, loop, let, in, str, u8, i32, usize, String, Vec, Option, Some, None, Ok, Err, core, std; } all;
enum kind { None, Some, Ok, Err, Box, String };
typedef int i32; typedef unsigned char u8; typedef unsigned long usize; typedef double f64; typedef _Bool boolean;
typedef struct str { char *ptr; usize len; } str;
static i32 fn(i32 let) { return let + 1; }
static i32 match(i32 mut, i32 ref) { i32 loop = mut; i32 in = ref; return loop * in; }
static u8 types(u8 sys) { return sys * 2; }
int println(const char *format) { return printf("%s\n", format); }
int drop(int x) { return x; }
static int self(int core) { int std = core, types = 1, sys = 2; return std + types + sys; }
static int main_0(void) { return 9; }
#define kind_t int
static kind_t async(kind_t await) { return await; }
struct _ { int _; };
struct Vec { struct Vec *next; int Option; };
static struct Vec *mem(struct Vec *alloc) { return alloc->next; }
static int transmute, wrapping_add, zeroed, __old = 3, __new = 4, __at = 5;
int 加(int 数) { return 数 + 1; }
int größe = 7;
int main(void) {
    größe = 加(größe);
    all a = {0}; a.type = 1; a.self = 2; a.Self = 3; a.crate = 4; a.super = 5; a.std = 6;
    str s = {"x", 1}; struct Vec v = {0, 1}, w = {&v, 2};
    struct _ _ = {8}; printf("%d\n", _._);
    int literal = 1, stack = 2, __right = 3;
    static int count; count += __old++ + ++__new + (__at += __right);
    printf("%d %d %d %d %d %s\n", a.type + a.self + a.Self + a.crate + a.super + a.std, fn(1), match(2, 3), types(4), self(5), s.ptr);
    printf("%d %d %d %d %d %d\n", main_0(), async(3), mem(&w)->Option, None + Some + Ok + Err + Box + String, drop(3) + transmute + wrapping_add + zeroed, literal + stack + count);
    printf("%d\n", größe);
    return println("end") - 4;
}

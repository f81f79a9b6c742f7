
#include <stdio.h>
#include <stdlib.h>
void show(long n);
void put(char *to);
void down(void) { long a[100]; int i; for (i = 99; i >= 0; i--) a[i] = 1; show(a[3]); }
void below(void) {
    long a[100];
    int i;
    for (i = 99; i >= -1; i--)
        a[i] = 1; // expect: buffer-underwrite
}
void to_the_last(void) { long a[100]; int i; for (i = 0; i <= 99; i++) a[i] = 1; show(a[3]); }
void until(void) { long a[100]; long *p = a; do { *p++ = 1; } while (p != a + 100); show(a[3]); }
void tested_within(void) {
    long a[100];
    int i = 0;
    while (getchar() != EOF) {
        if (i > 0 && getchar() == 7) show(i);
        if (i >= 100) break;
        i++;
        a[i] = 1; // expect: buffer-write-stack
    }
}
void beyond(void) {
    int a[100], *p = a, *end = a + 100;
    while (p <= end)
        *p++ = 1; // expect: buffer-write-stack
}
void within(void) { int a[100], *p = a, *end = a + 100; while (p < end) *p++ = 1; show(a[3]); }
void few(void) {
    int a[10], *p = a, *end = a + 10;
    while (p <= end)
        *p++ = 1; // expect: buffer-write-stack
}
void ended(void) {
    char a[100], *p;
    for (p = a; p < a + sizeof a; p++) *p = 'x';
    *p = 0; // expect: buffer-write-stack
    put(a);
}
void ended_in_time(void) {
    char a[100], *p;
    for (p = a; p < a + sizeof a - 1; p++) *p = 'x';
    *p = 0;
    put(a);
}
static void sum(long *all) {
    for (int i = 0; i < 10; i++)
        show(all[i]); // expect: uninitialized
}
static void other_sum(long *all) { for (int i = 0; i < 10; i++) show(all[i]); }
void half(void) { long a[10]; for (int i = 0; i < 5; i++) a[i] = i; sum(a); }
void whole(void) { long a[10]; for (int i = 0; i < 10; i++) a[i] = i; other_sum(a); }

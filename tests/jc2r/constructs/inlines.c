/* Macros with parameters: functions where a call means the same. */
#include <stdio.h>
#include <string.h>
#include "macros.h"
#define LIMIT 100
/* The larger of two. */
#define LARGER(a, b) ((a) > (b) ? (a) : (b)) /* of numbers */
#define SUM(a,b) (a+b)
#define NEXT(n) (n + 1)
#define DOUBLED(n) (n * 2)
#define LETTER(c) (((c) >= 'a') && ((c) <= 'z'))
#define OF(p) ((p)->left + (p)->right)
#define CALLED(n) (noted((n), 'c'))
#define TOLD(s) ((void)told(s))
#define NONE() (state.left++)
#define FROM(p) ((char *)(p) + 1)
#define SCALED(f) ((f) * 0.5)
#define LOW(w) ((w) & 0xff)
#define HIGH(w) (LOW((w) >> 8))
#define LIKE(type) ((type) > 3)
/* What no function can stand for. */
#define SET(v) ((v) = 3)
#define AT(v) (&(v))
#define COUNTED(v) ((v)++)
#define SQUARE(n) ((n) * (n))
#define CAPTURED(n) ((n) + base)
#define GUARDED(p) (has ? (p)->left : -1)
#define CHOSEN(c, n) ((c) ? 10 / (n) : 0)
#define TEXT(n) (#n)
#define WIDE(n) ((n) << 1)
#define SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define shadow(n) ((n) + 1)
#define LATE(n) (bumped() + (n))
#define BOTH(a, b) ((a) - (b))
#define MEMBER(s) ((s).left)
#define KIND(n) ((n) - 1)
#undef KIND
#define KIND(n) ((n) + 1)
#define ONE(n) n + 1
struct halves { int left, right; };
static struct halves state = {1, 2};
static int has, total;
static int first = LARGER(3, 4), tested[LARGER(2, 3)];
static int noted(int n, int c) { printf("%d%c ", n, c); total += n; return n; }
static void told(const char *s) { printf("<%s> ", s); }
static int bumped(void) { return total += 5; }
static int captured(int base) { return CAPTURED(base * 2) + CAPTURED(1); }
static int guarded(struct halves *p, int has) { return GUARDED(p); }
static int global(struct halves *p) { return GUARDED(p); }
static int letters(const char *s) { int n = 0; while (*s) n += LETTER(*s) ? 1 : 0, s++; return n; }
static int ended(const char *s) { int n = 0; while (LETTER(*s)) s++, n += !LETTER(*s); return n; }
int main(void) {
  int a = 3, b = 4, *q = &b; short s = 7; unsigned char c = 200; long l = 9; double d = 3;
  printf("%d %d %d\n", LARGER(a, b), LARGER(s, c) + LARGER(a + 1, LIMIT), LARGER(LARGER(a, b), c));
  printf("%d %d %d %d\n", SUM(a, s), NEXT(a), DOUBLED(a), DOUBLED(a + 1));
  printf("%d %d %d\n", letters("Hello you"), ended("abc"), LETTER(a + 'b'));
  printf("%d %d\n", OF(&state), OF((struct halves *)&state));
  printf("%d %d\n", CALLED(a), CALLED(noted(b, 'i')));
  TOLD("one"); TOLD("two"); NONE(); printf("%d\n", NONE() + state.left);
  printf("%s %s\n", FROM("abc"), FROM(&"xyz"[0]));
  printf("%g %g %d %d %d\n", SCALED(d), SCALED(d + 1), LOW(l), HIGH(l << 8), LIKE(a));
  SET(a); *AT(b) = 9; COUNTED(s); printf("%d %d %d\n", a, b, s);
  printf("%d %d\n", SQUARE(noted(3, 's')), SQUARE(a));
  printf("%d %d\n", captured(5), guarded(0, 0) + global(0));
  b = 0; printf("%d %d\n", CHOSEN(b, b), CHOSEN(1, a)); printf("%d\n", CHOSEN(b, 5 / (b + 1)));
  printf("%d\n", CHOSEN(b, *(has ? q : (int *)0)));
  printf("%s %s\n", TEXT(a), TEXT(b)); printf("%d %ld\n", WIDE(a), WIDE(l));
  printf("%d %d\n", (int)SIZE(tested), (int)SIZE("four"));
  { int shadow = 5; printf("%d %d\n", shadow(shadow), shadow(1)); }
  printf("%d\n", LATE(total)); printf("%d\n", LATE(a));
  printf("%d\n", BOTH(a++, 1)); printf("%d %d\n", BOTH(total, 2), BOTH(bumped(), total) != 77);
  MEMBER(state) = 8; printf("%d %d %d %d\n", MEMBER(state), KIND(a), ONE(a) * 2, TRIPLE(a));
  return first + LARGER(*q, 2);
}

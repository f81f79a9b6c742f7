#include <stdio.h>
#include <stdlib.h>
#include "macros.h"
/* How many there are. */
#define COUNT 5
#define LAST (COUNT - 1) /* the last
                            of them */
#define BAD 2 + 3
#define POLY 0xEDB88320
#define BIG 5000000000
#define SEP ':'
#define BELOW -7
#define ALIAS COUNT
#ifdef NOTHERE
#define SIZE 4
#else
#define SIZE 8
#endif
#define CALL (later(3))
#define UNSIGNED 5u
#define FLAG (1 << 3)
#define HALF 0.5f
static int table[COUNT] = {COUNT, LAST, BAD, [LAST] = SIZE};
static unsigned long wide = POLY;
static const char *none = NIL;
static int (*hook)(int) = NIL;
int later(int n) { return n + COUNT; }
static int thrown; static void leave(int n) { thrown += n; if (thrown > 90) exit(thrown); }
#define THROW for (;; leave(20)) thrown =
#define EVERY(i) for (leave(1); i < 3; leave(i)) i++;
static void all(int n) { EVERY(n) if (n > 9) THROW n + 1; }
struct cell { char name[12]; short key; long weight; };
#define CELL sizeof(struct cell) // one of them
#define ROOM sizeof (area)
static struct cell *cells(int n) { return calloc((size_t)n, CELL); }
static int rooms(void) { char area[9]; area[0] = 1; return ROOM + area[0]; }
static int halls(void) { long area[3]; return -ROOM < 4 ? (int)ROOM * 2 : (int)CELL + 1; }
static int changed(int n) {
#define LOCAL 3
  int a = n + LOCAL;
#undef LOCAL
#define LOCAL 4
  return a * LOCAL;
}
int main(void) {
  all(0); printf("%d\n", thrown);
  struct cell *some = cells(3); some[2].key = CELL; printf("%zu %d %zu %d %d\n", CELL, some[2].key, CELL * 3 % 7, rooms(), halls());
  int count = 0, COUNTED = 2; char c = SEP; unsigned char b = BELOW;
  for (int i = 0; i < COUNT; i++) count += table[i] * BAD;
  table[LAST] = count / COUNT % SIZE << FLAG; table[ALIAS - 1]++;
  switch (count) { case COUNT: puts("five"); break; case SIZE ... 90: puts("many"); default: puts("other"); }
  if (none == NIL && hook == NIL) count |= MODE_MASK;
  printf("%d %d %lx %ld %c %d %d\n", count, table[LAST], wide, (long)BIG, c, b, BELOW - COUNT);
  printf("%d %u %d %f %f %d %d\n", CALL, UNSIGNED - 6, TWICE(COUNT), PI * HALF, (double)COUNT, 5 BELOW, COUNTED);
  printf("%d %d %d %llu %d\n", changed(1), -COUNT, ~FLAG, (unsigned long long)BELOW, !COUNT);
  unsigned char small = COUNT; small -= SIZE; double d = COUNT; float f = LAST; _Bool yes = COUNT; d += SIZE; small <<= LAST;
  printf("%d %f %f %d %d %s\n", small, d, f, yes, MODE_READ ? COUNT : SIZE, COUNT > LAST ? "y" : "n");
  switch (c) { case SEP: puts("colon"); break; case COUNT: puts("never"); }
  switch ((unsigned)later(LAST)) { case 9: puts("nine"); break; case UNSIGNED: puts("five"); }
  printf("[%c%c%d]\n", MARK, END, SPREADING(count)); switch (c) { case MARK: puts("percent"); break; case END: puts("tab"); }
  while (MODE_READ) { if (count-- < COUNT) break; }
  return count > LAST;
}

// What real projects taught: code that looked wrong and is not, beside flaws of the same shape.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fails(void);
void show(const void *p);

// GNU's statement expressions are statements, and have the value of the last one.
struct list { struct list *n; struct list *p; };
struct list all = { &all, &all };
#define LIST_APPEND(lh, el) \
  ({ (el)->p = (lh)->p; (el)->p->n = (lh)->p = (el); (el)->n = (lh); (el); })
struct hook { int kind; struct list list; };
int append(struct list *to) {
  struct hook *hook = malloc(sizeof *hook);
  if (!hook)
    return 1;
  LIST_APPEND(to, &hook->list);
  return 0;
}
int forgotten(int n) {
  int *p = ({ int *q = malloc(8); q; }); // expect: leak
  if (!p)
    return 0;
  if (n)
    return 1;
  free(p);
  return 0;
}
#define max(a, b) ({ long _a = (a); long _b = (b); _a > _b ? _a : _b; })
int statement_value(int n) {
  int t[8] = {0};
  return t[max(n, 20)]; // expect: buffer-read-over
}

// A cast to void says that a value is not used.
void unused(void) {
  int rv;
  (void)rv;
}
int used(void) {
  int rv;
  return rv + 1; // expect: uninitialized
}

// A member of a null pointer that is not read: only its place is asked for.
struct tail { int a; char data[4]; };
long place(char *e) { return (long)(e - ((struct tail *)NULL)->data); }
int no_place(void) {
  struct tail *t = NULL;
  return t->a; // expect: null-dereference
}

// What was just opened is no standard stream.
int one_stream(const char *name) {
  FILE *f = stdin;
  if (name) {
    f = fopen(name, "r");
    if (!f)
      return 1;
  }
  int c = getc(f);
  if (f != stdin)
    fclose(f);
  return c;
}
int one_way(const char *name) {
  FILE *f = fopen(name, "r"); // expect: resource-leak
  if (!f)
    return 1;
  int c = getc(f);
  if (c)
    return 2;
  fclose(f);
  return c;
}

// The size of a type that nothing defines is never zero.
struct unseen;
static void *allocate(size_t size) {
  if (!size)
    size = 1;
  return malloc(size);
}
void *sized(void) {
  struct unseen_too *p = allocate(sizeof *p);
  if (p)
    p->next = NULL;
  return p;
}
void *unsized(void) {
  int *p = allocate(0);
  if (p)
    *p = 1; // expect: buffer-write-heap
  return p;
}

// Elements of an array are where `[n] =` puts them.
enum { A, B, C, N };
static const char *const names[] = {[C] = "c", [A] = "a", "b"};
int find(const char *s) {
  for (int i = 0; i < N; i++)
    if (strcmp(s, names[i]) == 0)
      return i;
  return -1;
}
static const char *const open_names[N] = {[B] = "b", [UNKNOWN] = "x"};
int find_open(const char *s) { return strcmp(s, open_names[C]); }
int hole(void) {
  const char *some[N] = {[B] = "b", [A] = "a"};
  return (int)strlen(some[C]); // expect: null-dereference
}

// A block that is cleared does not touch what lies behind it.
struct ref { char *display; int flags; int lock; char *tail; };
struct ref *around(const char *d) {
  struct ref *r = calloc(1, sizeof *r);
  if (!r)
    return NULL;
  r->display = strdup(d);
  r->tail = strdup(d);
  memset(&r->lock, 0, sizeof r->lock);
  return r;
}
struct ref *over(const char *d) {
  struct ref *r = calloc(1, sizeof *r);
  if (!r)
    return NULL;
  r->display = strdup(d); // expect: leak
  memset(r, 0, 16);
  return r;
}

// Of definitions for other platforms, the one of this platform counts.
#if INT_MAX == 2147483647
typedef unsigned int word;
#elif LONG_MAX == 2147483647L
typedef unsigned long word;
#endif
#ifndef __GNUC__
#define alloca(size) malloc(size)
#elif !defined(alloca)
#define alloca __builtin_alloca
#endif
struct words { word field[5]; };
void set(struct words *to, int bit) { to->field[bit >> 5] |= 1; }
void last_bit(void) {
  struct words w;
  memset(&w, 0, sizeof w);
  set(&w, 146);
  show(&w);
}
int on_stack(const char *s) {
  char *copy = alloca(strlen(s) + 1);
  strcpy(copy, s);
  return fails();
}

// A name that a macro before its type turns into a variable is still the name of the type.
typedef struct { char *pattern; void *rx; int flag; } REGEXP;
WHERE REGEXP Mask;
REGEXP *compile(void) {
  REGEXP *pp = calloc(sizeof(REGEXP), 1);
  if (pp)
    pp->rx = NULL;
  return pp;
}

// What sets a pointer that starts as null may be generated, or a macro.
const char *Version;
static const char *Unset;
int generated(void) { return (int)strlen(Version); }
int never_set(void) { return (int)strlen(Unset); }

// A name that a file declares in several ways may be any of them.
#if defined(OPENSSL_64_BIT)
typedef unsigned long limb;
#define LIMB_BITS (64u)
#elif defined(OPENSSL_32_BIT)
typedef unsigned int limb;
#define LIMB_BITS (32u)
#endif
limb top(limb a) { return a >> (LIMB_BITS - 1); }
unsigned too_far(unsigned a) { return a >> 63; } // expect: shift-beyond-width

// A jump to a label of another function ends the way.
#define NEED(size) if (!has(size)) goto truncated
int has(int size);
int decode(int n) {
  int length;
  NEED(4);
  length = 4;
  if (n)
    return 1;
  return length + 1;
}

// A macro before a type is not the type of what is declared.
typedef struct hashtable *HashTable;
exported HashTable table, first_table;
int same_table(void) { return table == first_table ? table->count : 0; }

// Members of a union that a wider one overwrites have a value.
unsigned char overwritten(const unsigned *from) {
  union { unsigned words[4]; unsigned char bytes[16]; } both;
  both.words[2] = from[1];
  both.words[3] = from[2];
  return both.bytes[15] & 1;
}

// A line that is read into a buffer has no word longer than that.
int words(FILE *f) {
  char line[255], word[255], short_word[100];
  if (!fgets(line, sizeof line, f))
    return 1;
  if (sscanf(line, "#define %s", word) == 1)
    return 0;
  return sscanf(line, "#undef %s", short_word); // expect: buffer-write-stack
}

// A stream that could not be opened is not left open.
static FILE *open_either(const char *path, int fd) {
  if (path)
    return fopen(path, "r");
  return fdopen(fd, "r");
}
int either(const char *path, int fd) {
  FILE *f = open_either(path, fd);
  if (f == NULL)
    return 1;
  fclose(f);
  return 0;
}

// A function that is given an array of a record leaves its other members alone.
void fill(char *buffer);
struct packet { char *body; char name[16]; int kind; };
int part(struct packet *p) {
  p->body = NULL;
  fill(p->name);
  return *p->body; // expect: null-dereference
}

// A block of unknown length may leave what lies behind it.
struct column { double seen[4]; float *kept; int count; };
int next_column(struct column *c) {
  c->kept = realloc(c->kept, c->count * sizeof(float));
  if (!c->kept)
    exit(1);
  memset(c->seen, 0, c->count * sizeof(*c->seen));
  return 0;
}

// Constants, elements and members behind an open conditional may come at another place.
enum {
  FIRST,
#ifdef WITH_MORE
  MORE,
#endif
  LAST,
  COUNT
};
static const char *const words_of[COUNT] = {
    "first",
#ifdef WITH_MORE
    "more",
#endif
    "last"};
int last_word(void) { return (int)strlen(words_of[LAST]); }
enum {
  ONE,
#ifdef _WIN32
  OTHER_SYSTEM,
#endif
  TWO,
  THREE
};
static int numbers[THREE];
int beyond(void) { return numbers[THREE]; } // expect: buffer-read-over

// A call through an expression that a macro is replaced by is the call of a function.
void give_up(const char *why) { exit(why != NULL); }
#define fatal (*(show(__FILE__), give_up))
static int squares[4] = {0, 1, 4, 9};
int square(int i) {
  if (i < 0 || i > 3)
    fatal("no such number");
  return squares[i];
}

// A descriptor that was not opened is -1.
#include <fcntl.h>
int close(int fd);
enum { BAD_MODE = 40 };
int descriptor(const char *name) {
  int fd = open(name, O_RDONLY);
  if (fd == -BAD_MODE)
    return 1;
  if (fd < 0)
    return 2;
  close(fd);
  return 0;
}

// What an assertion of the project's own says holds, also in builds without.
#define celt_assert(cond) { if (!(cond)) { celt_fatal("assertion failed: " #cond); } }
void celt_fatal(const char *text);
static const short table[4] = {1, 2, 3, 4};
static int entry(int length) {
  celt_assert(length >= 16 && length <= 28);
  return table[(length >> 2) - 4];
}
int looked_up(int length) { return entry(length); }

// Whether a pointer was null is kept in a variable.
struct buffer { char *data; int mine; };
struct buffer *wrap(char *data, unsigned long size) {
  int mine = (data == NULL);
  struct buffer *made;
  if (data == NULL && (data = malloc(size)) == NULL)
    return NULL;
  if ((made = malloc(sizeof *made)) == NULL) {
    if (mine)
      free(data);
    return NULL;
  }
  made->data = data;
  made->mine = mine;
  return made;
}
int lost(char *data, int c) {
  int mine = (data == NULL);
  if (mine) {
    data = malloc(9); // expect: leak
    if (!data)
      return -1;
  }
  if (c)
    return 1;
  if (mine)
    free(data);
  return 0;
}

// A type that no header defines holds what was stored: an error code here.
static seen_error_t copied(char **name, int c) {
  *name = NULL;
  if (c) {
    *name = malloc(9);
    return 0;
  }
  return 1;
}
int of_error(int c) {
  char *name;
  seen_error_t error = copied(&name, c);
  if (error)
    return 3;
  free(name);
  return 0;
}
int against_error(int c) { // expect: leak
  char *name;
  seen_error_t error = copied(&name, c);
  if (!error)
    return 3;
  free(name);
  return 0;
}

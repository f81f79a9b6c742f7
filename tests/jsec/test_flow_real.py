"""What well-written programs taught: code that looks wrong to the analysis of flow and is not,
each beside a flaw of the same shape that stays told."""

from __future__ import annotations

import pytest
from flow_programs import _facts, faults, kinds, lowered

from jarvis_ls.jsec.flow.lower.c.no_return import never_returning

SOUND = {
    "a size of a type that nothing defines, handed on": """
struct item { void *next; int count; };
static void *allocate(our_size size)
{
    void *found = malloc(size);
    if (found == NULL) abort();
    return found;
}
void *allocate_traced(our_size size, const char *line) { return allocate(size); }
void *use(void)
{
    struct item *made = allocate_traced(sizeof(struct item), "use");
    made->count = 3;
    return made;
}
""",
    "a variable that a torn function sets": """
static struct box { int a; } *only;
START_FUNC(start)
{
    only = calloc(1, sizeof(*only));
    return only;
}
int use(void) { return only->a; }
""",
    "a pointer to what is constant may change": """
struct box { int a; };
static const struct box *chosen;
void choose(const struct box *one) { chosen = one; }
int use(void) { return chosen->a; }
""",
    "a macro that aborts with the text of its argument": """
#define need(x) do { if (!(x)) failed(__FILE__, #x); } while (0)
void failed(const char *file, const char *what) { abort(); }
int *make(void) { int *p = malloc(sizeof(int)); need(p != NULL); *p = 1; return p; }
""",
    "a function declared not to return": """
DECLARE(void, give_up, (const char *why), DECLARED_NORETURN)
int use(int *p) { if (!p) give_up("none"); return *p; }
""",
    "a macro that tests for itself": """
#define SIZE(b) ((b) ? (b)->size : 0)
struct buf { int size; char *data; };
void show(int n);
char *use(struct buf *b) { show(SIZE(b)); return b->data; }
""",
    "a loop that sets a variable of which its start says nothing": """
#define NEXT c = getchar(); if (c < 0) break
int use(void) { int i; int c; for (i = 8; i; i--) { NEXT; putchar(c); } return c; }
""",
    "what assembly puts out": """
unsigned use(void) { unsigned lo, hi; __asm__ ("rdtsc" : "=a" (lo), "=d" (hi)); return hi | lo; }
""",
    "the first of the macros that exclude each other": """
#if UINT_MAX == 0xffffffffUL
#define WORD unsigned
#elif ULONG_MAX == 0xffffffffUL
#define WORD unsigned long
#elif USHRT_MAX == 0xffffffffUL
#define WORD unsigned short
#endif
typedef WORD word;
word table[2];
void use(void) { unsigned n = 0x77073096; table[0] = n; }
""",
    "rows whose number is that of their initialiser": """
void show(long (*rows)[2]);
void use(void) { long map[][2] = { {1, 2}, {3, 4}, {5, 6} }; map[2][1] = 1; show(map); }
""",
    "a macro that cannot be put in gives a value": """
#define find(key, out) ({ int found_ = 0; look(key, &(out)); if (
int use(int key) { int value; find(key, value); return value; }
""",
    "a macro with the name of a variable": """
#define G(L) ((L)->glob
struct state { int *glob; };
int *use(struct state *L) { int *G; G = G(L); return G; }
""",
    "an assertion that some build leaves out": """
#ifdef NDEBUG
#define assert(e) ((void)(e))
#endif
struct box { int a; };
int use(struct box *b) { assert(b != NULL && b->a > 0); return b->a; }
""",
    "members behind one whose size is not known": """
struct item { union { unseen_t u; struct { int kind; double n; char *text; } v; } data;
              struct item *next; };
void use(struct item *i) {
    while (i) { struct item *last = i; i = i->next; free(last->data.v.text); free(last); }
}
struct odd { unseen_t first; int second; char third[4]; };
struct odd odds[] = { {1, 2, "abc"}, {3, 4, "def"} };
int first(void) { struct odd one = {1, 2, "ab"}; return one.second + odds[1].second; }
""",
    "the size of a member that only a namesake declares": """
struct other { char *name; };
void use(unseen_t *key, const char *from) { memcpy(key->name, from, sizeof(key->name)); }
""",
    "a header that nothing defines at the start of a buffer": """
void use(const char *from, int n) {
    unsigned char buf[256]; struct packet *head = (struct packet *)buf; struct other o;
    unsigned char *p = (unsigned char *)(head + 1); memset(&o, 0, sizeof(o));
    memcpy(p, from, 4); p += 4; memcpy(p, from, 6); memcpy(buf, from, sizeof(*head) + 8);
}
""",
    "members that a macro fills": """
#define WITH_LENGTH(s) s, sizeof(s) - 1
struct word { const char *name; unsigned length; int kind; };
static const struct word words[] = { { WITH_LENGTH("if"), 1 }, { WITH_LENGTH("else"), 2 } };
int use(const char *k, unsigned n) {
    for (unsigned i = 0; i < 2; ++i)
        if (n == words[i].length && memcmp(k, words[i].name, n) == 0) return words[i].kind;
    return 0;
}
""",
    "members of a struct that is not seen": """
void use(void) { unseen_t w = { first(), second() }; show(w.lanes[0]); w.lanes[1] = w.lanes[0]; }
""",
    "all bits of a smaller type": """
struct box { unsigned short index; unsigned char kind; };
void use(struct box *b) { b->index = (unsigned short)~0u; b->kind = -1; }
""",
    "what was freed and then replaced out of sight": """
struct buf { char *data; };
void refill(struct buf *b);
static void drop(struct buf *b) { if (b->data) { free(b->data); b->data = NULL; } }
void use(struct buf *b) { drop(b); refill(b); drop(b); }
""",
    "a test that follows from an earlier one": """
struct state { int rc; };
int use(struct state *s, int *p) {
    if (!(p != 0 || s->rc != 0)) return 0;
    if (s->rc == 0) return *p;
    return 0;
}
""",
    "what a torn function is handed": """
static int both(int fds[2]) {
#ifdef WIDE
    if (wide(fds))
        return 1;
    else
#endif
    if (0 != pipe(fds)
#ifdef CLOEXEC
        || 0 != fcntl(fds[0], 1)
#endif
       )
        return 1;
    return 0;
}
int use(void) { int fds[2]; if (both(fds)) return 1; return fds[0] + fds[1]; }
""",
    "a list of which one block is told again": """
struct cell { char *name; struct cell *next; };
static struct cell *make(void) {
    struct cell *c = malloc(sizeof(*c)); if (c == NULL) exit(1);
    c->name = malloc(8); if (c->name == NULL) exit(1);
    c->next = NULL; return c;
}
static void put(struct cell **head) { struct cell *c = make(); c->next = *head; *head = c; }
struct cell *use(int n) { struct cell *head = NULL; while (n-- > 0) put(&head); return head; }
""",
    "a number that becomes a truth value": """
int wanted(bool on);
int use(unsigned flags) { return wanted(flags & (1 << 9)); }
""",
    "bytes put together in a signed character": """
void use(char *p, unsigned u) { *p = 0xe0 | ((u >> 12) & 0x0f); }
""",
    "an array worked out from its beginning": """
unsigned use(const unsigned *in) {
    unsigned w[64]; int i;
    for (i = 0; i < 16; i++) w[i] = in[i];
    for (i = 16; i < 64; i++) w[i] = w[i - 2] + w[i - 16];
    return w[63];
}
""",
    "a macro and a variable of one name": """
struct state { struct world *world; };
#define W(s) (s->world)
struct world *use(struct state *s) { struct world *W; W = W(s); return W + 1; }
""",
    "a block whose struct is not seen": """
static unseen_pair wrap(int *p) { unseen_pair w = { 1, { p } }; return w; }
unseen_pair use(void) { int *p = malloc(4); if (!p) exit(1); *p = 0; return wrap(p); }
""",
    "a macro that stands for a function that is left out": """
#define lookup(db, name) ((struct entry *)0)
int use(struct db *db) { return lookup(db, "a")->size; }
""",
    "a counter that runs out in a condition": """
static unsigned long length(void) { return 0; }
int use(const char *p) { unsigned long n = length(); while (n--) if (*p++) return 1; return 0; }
""",
    "an address behind the name of a type that is not seen": """
void fill(struct msg *m);
int use(void) { int fd; struct msg m; m.rights = (bytes_t) &fd; fill(&m); return fd; }
""",
    "a number written over the bytes of a union": """
void use(const unsigned *from, unsigned char *to) {
    union { unsigned char bytes[4]; unsigned align; } t;
    *(unsigned *)t.bytes = from[1];
    t.bytes[3] &= ~1;
    memcpy(to, t.bytes, 4);
}
""",
    "the bytes of a struct that a macro declares": """
#define PACKED(x) x __attribute__((packed))
PACKED(struct setup { unsigned char a; unsigned char b; unsigned leaf; });
typedef struct setup setup;
static unsigned load(const void *from) {
    const unsigned char *p = (const unsigned char *)from; return p[0] | p[1] << 8;
}
unsigned use(int n) { setup s[1]; s->a = n; s->b = 1; s->leaf = 3; return load(s); }
""",
    "bytes that are put into a text": """
void use(char *to) {
    unsigned char lows[3] = {0, 0x80, 0xff}; int i, j, low;
    for (i = 0xf0; i <= 0xff; i++)
        for (j = 0; j < 3; j++) { low = lows[j]; to[0] = (char) i; to[1] = (char) low; }
}
""",
    "a pointer that turns out not to have moved": """
void use(unsigned bits, char *to) {
    char marks[4], *p = marks;
    if (bits & 1) *p++ = 'a';
    if (bits & 2) *p++ = 'b';
    if (bits & 4) *p++ = 'c';
    if (p == marks) *p++ = '-';
    *p++ = 0;
    memcpy(to, marks, p - marks);
}
""",
    "a result type behind a macro": """
local word_t top(void) { word_t p = (word_t)1 << 31; return p; }
""",
}

FLAWED = {
    "null-dereference": "int use(void) { int *none = NULL; return *none; }\n",
    "uninitialized": "int use(int n) { int c; if (n < 0) return c + 1; return 0; }\n",
    "unchecked-allocation": "void use(void) { int *p = malloc(4); *p = 1; free(p); }\n",
    "double-free": "void use(char **p) { free(*p); free(*p); }\n",
    "truncation": "void use(char *to) { int n = 300; to[0] = (char) n; }\n",
    "buffer-write-stack": "void use(unsigned bits) { char marks[3], *p = marks;\n"
    "    if (bits & 1) *p++ = 'a';\n    if (bits & 2) *p++ = 'b';\n    if (bits & 4) *p++ = 'c';\n"
    "    if (p == marks) *p++ = '-';\n    *p++ = 0; puts(marks); }\n",
    "buffer-write-heap": "struct item { void *next; int count; };\n"
    "static void *allocate(our_size size) { void *p = malloc(size); if (!p) abort(); return p; }\n"
    "void *traced(our_size size, const char *line) { return allocate(size); }\n"
    "void *use(void) { struct item *i = traced(sizeof i, 0); i->count = 3; return i; }\n",
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_code_is_left_alone(name: str) -> None:
    assert kinds(SOUND[name]) == []


@pytest.mark.parametrize("kind", FLAWED)
def test_flaws_of_the_same_shape_are_told(kind: str) -> None:
    assert kind in {found for _, found in kinds(FLAWED[kind])}


def test_what_callers_may_rule_out_is_doubtful() -> None:
    text = """
struct s { int *p; };
static int *find(struct s *s) { if (s->p == 0) return 0; return s->p; }
int distant(struct s *s) { return *find(s); }
int near(int n) { int *p = 0; if (n) return *p; return 0; }
void unseen(void);
int told(int *p) { if (!p) unseen(); return *p; }
"""
    doubt = {one.function: one.doubtful for one in faults(lowered(text))}
    assert doubt["near"] is False
    assert doubt["told"] is True
    assert doubt.get("distant", True) is True


def test_unsigned_numbers_that_wrap_are_doubtful() -> None:
    text = """
struct tree { unsigned long cost; int count; };
void build(struct tree *t) { t->cost = 0; while (t->count < 2) { t->cost--; t->count++; } }
unsigned long certain(void) { unsigned long n = 0; return n - 1; }
unsigned long hash(void) { unsigned long h = 14695981039346656037UL; return h * 1099511628211UL; }
"""
    doubt = {one.function: one.doubtful for one in faults(lowered(text))}
    assert doubt == {"certain": True, "hash": True}


@pytest.mark.parametrize(
    "text",
    [
        "unsigned use(void) { union { unsigned char bytes[4]; unsigned all; } t;\n"
        "    t.bytes[0] = 1; return t.bytes[3]; }\n",
        "unsigned use(void) { unsigned char b[8]; *(unsigned *)b = 1; return b[4]; }\n",
        "int use(void) { int n, mask = 1; return (mask) & n; }\n",
        "struct s { unsigned char a, b; };\n"
        "int use(void) { struct s s; s.a = 1; return ((unsigned char *)&s)[1]; }\n",
    ],
)
def test_what_was_not_written_along_has_no_value(text: str) -> None:
    assert kinds(text) == [("use", "uninitialized")]


def test_what_is_meant_to_be_infinite_is_doubtful() -> None:
    text = """
double nan, inf;
void init(void) { double zero = 0.0; nan = 0.0 / zero; inf = 1.0 / zero; }
int rate(void) { double zero = 0.0; return (int)(100.0 / zero); }
"""
    doubt = {one.function: one.doubtful for one in faults(lowered(text))}
    assert doubt == {"init": True, "rate": False}


@pytest.mark.parametrize(("behind", "wrong"), [(5, False), (6, True)])
def test_an_enum_of_a_header_is_a_number(behind: int, wrong: bool) -> None:
    header = _facts("typedef enum { UNSET = -1, GET, HEAD } method;")
    text = f"""
static const int names[5];
static const int *name_of(method m) {{
    return (unsigned)m < 3u ? names + m : names + m + {behind};
}}
int use(void) {{ return *name_of(-1); }}
int any(method m) {{ return *name_of(m); }}
"""
    found = {one.kind for one in faults(lowered(text, header=header))}
    assert found == ({"buffer-read-over"} if wrong else set())


def test_names_of_functions_that_do_not_return() -> None:
    text = (
        b"NORETURN void die(const char *why, ...) __attribute__((format (printf, 1, 2)));\n"
        b"void usage(void) __attribute__((noreturn));\n"
        b"_Noreturn void stop(int n) { exit(n); }\n"
        b"/* about(it) */ __attribute_noreturn__\nvoid fail (int line);\n"
        b"static void __attribute__((__noreturn__)) quit(void) { exit(1); }\n"
        b"EXPORT(12, void, lib_error, (struct lib *lib, const char *why), LIB_NORETURN);\n"
        b"#define MY_NORETURN __attribute__((noreturn))\n"
        b"int returns(int n);\n"
    )
    assert never_returning(text) == {"die", "usage", "stop", "fail", "quit", "lib_error"}


def test_torn_code_loses_nothing() -> None:
    text = """
char *use(int wide) {
    char *p = malloc(4);
    if (p == NULL) return NULL;
#ifdef WIDE
    if (wide)
        fill(p);
    else
#endif
    p[0] = 0;
    return p;
}
"""
    assert not [kind for _, kind in kinds(text) if kind == "leak"]


def test_a_loss_is_certain_where_another_way_looks_after_the_memory() -> None:
    text = """
int known(void);
int forgets(int n) {
    char *p = (char *) malloc(10); if (!p) return 1;
    int c = known(); if (c == n) return 2; if (c > n) return 3;
    free(p); return 0;
}
int never(int n) {
    char *p = (char *) malloc(10); if (!p) return 1;
    int c = known(); if (c == n) return 2; if (c > n) return 3;
    return 0;
}
"""
    doubt = {f.function: f.doubtful for f in faults(lowered(text)) if f.kind == "leak"}
    assert doubt == {"forgets": False, "never": True}


def test_a_search_that_finds_nothing_is_doubtful() -> None:
    text = """
struct node { struct node *next; int key; };
int find(struct node *p, int key) {
    for (; p; p = p->next) if (p->key == key) break;
    return p->key;
}
int test(struct node *p) { if (p == NULL) return p->key; return 0; }
"""
    doubt = {f.function: (f.kind, f.doubtful) for f in faults(lowered(text))}
    assert doubt == {"find": ("null-dereference", True), "test": ("null-dereference", False)}

"""Code of released programs that was told as flawed and is not, each beside a twin that is."""

from __future__ import annotations

import pytest
from flow_programs import kinds

TWINS = {
    "a string in braces fills an array of characters": (
        "buffer-write-heap",
        """
char table[] = {
"\\000\\001\\002\\003" /* the first */
"\\004\\005"};
void use(void) { for (int i = 0; i < 7; i++) table[i] = i; }
""",
        """
char table[] = {"\\000\\001\\002\\003" "\\004\\005"};
void use(void) { for (int i = 0; i < 8; i++) table[i] = i; }
""",
    ),
    "a string in braces fills an array in a function": (
        "buffer-write-stack",
        'void use(void) { char t[] = {"ab"}; t[2] = 1; }',
        'void use(void) { char t[] = {"ab"}; t[3] = 1; }',
    ),
    "a macro makes several of one part of a list": (
        "buffer-write-stack",
        """
#define FIRST 1, 2, 3
void use(void) { char table[] = { FIRST }; table[2] = 0; }
""",
        """
#define FIRST 1
void use(void) { char table[] = { FIRST }; table[2] = 0; }
""",
    ),
    "each branch has an array of its own": (
        "buffer-read-over",
        """
struct name { int value; const char *text; };
#ifdef WITH_NAMES
struct name names[] = { {1, "one"}, {2, "two"}, {0, 0} };
#else
struct name names[] = { {0, 0} };
#endif
const char *use(void) { return names[1].text; }
""",
        """
struct name { int value; const char *text; };
extern struct name names[];
struct name names[] = { {0, 0} };
const char *use(void) { return names[1].text; }
""",
    ),
    "an array among the parameters of old is a pointer": (
        "uninitialized",
        """
int use(given)
unsigned char given[];
{
    return given[0] + given[2];
}
struct greeting { unsigned char data[128]; };
void fill(struct greeting *to);
int call(void) { struct greeting got; fill(&got); return use(got.data); }
""",
        """
int use(given)
int given;
{
    unsigned char own[4];
    return own[0] + given;
}
""",
    ),
    "the null device takes the place of a standard stream": (
        "resource-leak",
        """
int use(int fd)
{
    close(0);
    close(1);
    if (fd < 0) {
        open("/dev/null", O_RDONLY);
        open("/dev/null", O_WRONLY);
        return -1;
    }
    return 0;
}
""",
        """
int use(int fd)
{
    close(fd);
    if (fd < 0) {
        open("/dev/null", O_RDONLY);
        return -1;
    }
    return 0;
}
""",
    ),
    "a thread keeps what its key is set to": (
        "leak",
        """
static pthread_key_t key;
int use(void)
{
    int *held = malloc(sizeof(int));
    if (!held) return 1;
    pthread_setspecific(key, held);
    return 0;
}
""",
        """
static pthread_key_t key;
int use(void)
{
    int *held = malloc(sizeof(int));
    if (!held) return 1;
    pthread_getspecific(key);
    return 0;
}
""",
    ),
    "elements that are copied are held by their copies": (
        "leak",
        """
struct part { int type; char *data; };
void copy_one(struct part *to, unsigned n)
{
    struct part parts[2] = { { 0, 0 }, { 0, 0 } };
    if (n > 1) return;
    parts[0].data = strdup("abc");
    to[0] = parts[n];
}
""",
        """
struct part { int type; char *data; };
void copy_none(struct part *to, unsigned n)
{
    struct part parts[2] = { { 0, 0 }, { 0, 0 } };
    if (n > 1) return;
    parts[0].data = strdup("abc");
    to[0].type = parts[n].type;
}
""",
    ),
    "none are received into what is null": (
        "null-dereference",
        "void use(int s) { recv(s, 0, 0, 0); read(s, NULL, 0); }",
        "void use(int s) { recv(s, 0, 4, 0); }",
    ),
    "what a header that is not there asserts": (
        "null-dereference",
        """
struct view { int size; void *owner; };
int use(struct view *to, const struct view *from)
{
    SOME_ASSERT(to && from);
    SOME_ASSERT(!to->owner);
    return to->size + from->size;
}
""",
        """
struct view { int size; void *owner; };
int use(struct view *to, const struct view *from)
{
    if (!(to && from)) SOME_REPORT(to && from);
    return to->size + from->size;
}
""",
    ),
    "a part of an address is a number": (
        "buffer-underwrite",
        """
static int table[128];
static void set(int fd)
{
    int index = -1;
    if (fd > 0 && fd < 128) index = fd;
    if (index != -1) table[index] = 1;
}
void use(void *handle) { set((int)handle); }
""",
        """
static int table[128];
static void set(int fd)
{
    int index = -1;
    if (fd > 0 && fd < 128) index = fd;
    table[index] = 1;
}
void use(void *handle) { set((int)handle); }
""",
    ),
    "a name with a capital that nothing declares may be a macro that assigns": (
        "uninitialized",
        """
void use(void *display) { int *request; GetRequest(Destroy, request); *request = 1; }
""",
        """
void use(void *display) { int *request; get_request(1, request); *request = 1; }
""",
    ),
}
CPP = {
    "each record has a constant of one name": (
        "buffer-write-stack",
        """
struct Header { char data[6]; enum { size = 6 }; };
struct Trailer { char data[20]; enum { size = 20 }; };
int next();
void use() {
    Header header;
    for (int i = 0; i < Header::size; ++i) header.data[i] = next();
}
""",
        """
struct Header { char data[20]; enum { size = 20 }; };
struct Trailer { char data[6]; enum { size = 6 }; };
int next();
void use() {
    Trailer trailer;
    for (int i = 0; i < Header::size; ++i) trailer.data[i] = next();
}
""",
    ),
    "a member's method has the name of one of the object around it": (
        "buffer-read-over",
        """
struct Range {
    Range(int a, int b) : start(a), last(b) {}
    bool overlap(const Range &r) const { return last >= r.start && start <= r.last; }
    int start, last;
};
struct Box {
    Box(Range l, Range c, int i) : location(l), component(c), index(i) {}
    bool overlap(const Box &r) const {
        return location.overlap(r.location) && component.overlap(r.component) && index == r.index;
    }
    Range location, component;
    int index;
};
bool use(const Box &other) {
    Range l(0, 1), c(0, 3);
    Box box(l, c, 0);
    return box.overlap(other);
}
""",
        """
struct Range {
    Range(int a) : start(a) {}
    int beyond(int i) const { return rest[i]; }
    int start, rest[2];
};
struct Box {
    Box(Range l) : location(l) {}
    int beyond(int i) const { return location.beyond(i + 1); }
    Range location;
};
int use() {
    Range l(0);
    Box box(l);
    return box.beyond(1);
}
""",
    ),
}


@pytest.mark.parametrize("name", (*TWINS, *CPP))
def test_only_the_flawed_twin_is_told(name: str) -> None:
    path = "a.c" if name in TWINS else "a.cpp"
    kind, sound, flawed = (TWINS | CPP)[name]
    assert kinds(sound, path) == []
    assert kind in {found for _, found in kinds(flawed, path)}


def test_what_a_function_could_not_allocate_is_an_unchecked_allocation() -> None:
    text = """
struct pool { void (*fail)(int); };
static void *pool_alloc(struct pool *p, unsigned long n)
{
    void *mem = malloc(n);
    if (mem == NULL) { if (p->fail) p->fail(1); return NULL; }
    return mem;
}
static void *palloc(struct pool *p, unsigned long n) { return pool_alloc(p, n); }
static void *either(struct pool *p, int n) { if (n) return NULL; return palloc(p, 3); }
void make(struct pool *p) { char *x = palloc(p, 3); x[0] = 1; free(x); }
void tested(struct pool *p) { char *x = palloc(p, 3); if (x) x[0] = 1; free(x); }
void ruled_out(struct pool *p, int n) { char *x = either(p, n); x[0] = 1; free(x); }
void certain(void) { char *x = NULL; x[0] = 1; }
"""
    found = kinds(text)
    told = [("make", "unchecked-allocation"), ("certain", "null-dereference")]
    assert [one for one in found if one[0] != "ruled_out"] == told
    assert ("ruled_out", "null-dereference") in found

"""C++ that is well written, each beside a flaw of the same shape that stays told."""

from __future__ import annotations

import pytest
from flow_programs import faults, kinds, lowered

SOUND = {
    "a call in the value of an auto variable is made once": """
#include <stdio.h>
int use(int n);
int run(const char *c) {
    auto pipe = _popen(c, "r");
    if (!pipe) return 1;
    while (!feof(pipe)) use(1);
    auto ret = _pclose(pipe);
    return ret == -1;
}
""",
    "an object that is handed over as a list of its parts": """
struct when { when() = default; when(int y, int d) : y(y), delta(d) {} int y; int delta; };
int zone(when const &t) { int d = t.delta; if (d == 0) return 1; return 2; }
int use() { return zone({7, 8}) + zone(when(1, 2)) + zone(when{5, 6}); }
""",
    "a method with the name of a function of the C library": """
#include <unistd.h>
#include <string>
class sink;
class into : public sink { public: into(const char *n, sink *next, std::string &s); };
std::string text::all() const { std::string s; into p("x", nullptr, s); write(&p, 0); return s; }
""",
    "a text of which an object is made where a reference is taken": """
#include <string.h>
class slice {
public:
    slice(const char *s) : data_(s), size_(strlen(s)) {}
    unsigned long size() const { return size_; }
private:
    const char *data_;
    unsigned long size_;
};
unsigned long length(const slice &s) { slice copy = s; return copy.size(); }
unsigned long use() { const char one[] = "0123456789"; return length(one) + length("abc"); }
""",
    "nothing is destroyed where the pointer is null": """
class node { public: node *next; void (*done)(); bool empty() const { return !done; } };
class list { public: list(); ~list(); node head; };
list::list() { head.done = nullptr; head.next = nullptr; }
list::~list() { if (!head.empty()) { for (node *n = head.next; n; n = n->next) n->done(); } }
class holder { public: holder() : kept(nullptr) {} void set(list *l) { delete kept; kept = l; }
    list *kept; };
void use() { holder h; h.set(new list); h.set(nullptr); h.set(nullptr); }
""",
    "what an operator that is not seen gives has a value": """
class node { public: bool valid; int *held; int *first() const { return valid ? held : 0; } };
class tree { public: const node &operator[](const char *key) const; };
int *use(const tree &t) {
    const node &n = t["key"];
    node &same = const_cast<node &>(n);
    return same.first();
}
""",
    "a variable declared in a condition": """
const char *name(int n);
void show(const char *s);
int first(int n);
void use(int n) {
    while (n--) {
        if (const char *s = name(n)) show(s);
        switch (int k = first(n)) { case 1: show(k ? "a" : "b"); }
    }
}
""",
    "an operator of a class is given a text": """
class value { public: value &operator[](const char *key); value &operator=(int n); int kept; };
void use(value *v, value &w) { (*v)["limit"] = 1000; w["id"] = -6200; }
""",
    "a number made by the name of its type": """
typedef long long wide;
long long known() { return wide(1) << 40; }
long long elsewhere() { return lib::wide_type(1) << 40; }
""",
    "the size of an array that is a member of a class": """
struct log { static unsigned long sizes[]; static int count; };
unsigned long log::sizes[] = {10000, 1, 2};
int log::count = sizeof(log::sizes) / sizeof(unsigned long);
unsigned long use() { unsigned long n = 0; for (int i = 0; i < log::count; i++) n += log::sizes[i];
    return n; }
""",
    "nothing of a text that is null is read": """
unsigned sum(const char *data, unsigned long n) {
    const char *end = data + n;
    unsigned h = 0;
    while (data + 4 <= end) { h += data[0]; data += 4; }
    switch (end - data) { case 3: h += data[2]; break; case 1: h += data[0]; }
    return h;
}
unsigned use() { return sum(nullptr, 0); }
""",
    "a function that may not change it is given a member": """
#include <fcntl.h>
#include <string>
int failed(const std::string &name);
struct file {
    int read() const {
        int fd = kept, r = 0;
        if (!open_) { fd = ::open(name.c_str(), O_RDONLY); if (fd < 0) return failed(name); }
        if (fd > 100) r = failed(name);
        if (!open_) ::close(fd);
        return r;
    }
    const bool open_; const int kept; const std::string name;
};
""",
    "a number where a reference is wanted": """
struct options { int kind; options(int n); };
struct filter { int add(const char *text, const options &o) { return o.kind + text[0]; } };
int use(lib::hidden &f) { return filter().add("a", 0) + f.add("b", options::bare); }
""",
    "what is given by reference is no local variable": """
struct element { int n; bool is() { return n; } };
bool use(context &c) { element *p = &NTH(c, 3).create(); bool r = p->is(); delete p; return r; }
""",
    "what a value without a type is made of is made once": """
int use(int n) {
    auto p = n > 3 ? new (std::nothrow) char[n] : nullptr;
    if (p == nullptr) return 0;
    p[0] = 1;
    int r = p[0];
    delete[] p;
    return r;
}
""",
    "a class derived from one whose size is not known": """
struct text { text(); hidden inner; };
struct node { virtual ~node(); text value; long a; node *next; };
struct leaf : public node { leaf(); };
void use() { leaf *u = new leaf(); u->a = 4; u->next = 0; delete u; }
""",
    "the methods of an object's own class": """
struct tag { tag() { n = 0; } virtual ~tag(); virtual int kind(); int n; };
struct both : tag { both(); tag *a; int kind() { return a->n; } };
int use() { tag t; return t.kind(); }
""",
    "a text that is a member is set": """
#include <string>
struct node { node() { block = new int(1); name = "x"; } ~node() { delete block; }
    int *block; std::string name; };
""",
    "a namesake of a library function is another function": """
void use() { char letters[] = {'H', 'e', 'y'}; lib::sprintf("%.3s", letters); lib::free(letters); }
""",
    "a structured binding that is static": """
struct pair { int a, b; };
pair make();
int use() { static const auto [a, b] = make(); return a; }
""",
    "a random length says nothing of where it is written": """
#include <cstdio>
#include <cstdlib>
static size_t get(FILE *in, void *to, int size) { return fread(to, 1, (size_t)size, in); }
void use(FILE *in) {
    static char ring[9216];
    int at = 0;
    for (;;) {
        const int wanted = (rand() % 1024) + 1;
        const int got = (int)get(in, &ring[at], wanted);
        if (got == 0) break;
        at += got;
        if (at >= 8192) at = 0;
    }
}
""",
    "a function that is not seen takes a variable by reference": """
struct source { int n; };
template <typename To, typename From> To cast(From from, int &failed) { failed = 0; return from; }
template <typename To, typename F> To made(F from) {
    int failed;
    To to = cast<To>(from, failed);
    if (failed) throw 1;
    return to;
}
int use(source &from, thing &other) {
    int a, b, c;
    from >> a;
    other.read(b);
    other::read<int>(1, &c);
    return a + b + c;
}
""",
    "members and bases have constructors": """
class bits {
public:
    bits() { clear(); }
    void clear() { memset(words, 0, sizeof words); }
    void set(int c) { words[c / 64] |= 1UL << (c % 64); }
private:
    unsigned long words[4];
};
class builder { public: builder(); void mark(int a) { splits.set(a); } bits splits; int n; };
builder::builder() { n = 0; }
struct plain { void mark(int a) { splits.set(a); } bits splits; };
template <typename T> class buffer { T *p; unsigned long size_; public:
    buffer(T *q, unsigned long s) : p(q), size_(s) {} unsigned long size() { return size_; } };
template <typename T = char> class counting : public buffer<T> {
    T data_[256]; unsigned long count_ = 0;
public:
    counting() : buffer<T>(data_, 0) {}
    unsigned long count() { return count_ + this->size(); }
};
struct given { int a = 1; };
unsigned long use() { builder b; plain c; counting<> d; given e; b.mark(3); c.mark(4);
    return d.count() + b.n + e.a; }
""",
    "an object made of another without a type": """
struct about { double margin, value; about(double v) : margin(0), value(v) {}
    about minus() const { auto copy(*this); copy.value = -copy.value; return copy; } };
""",
    "static variables of one name": """
int sum(int k) {
    int n = 0;
    if (k) { static const int all[] = {1, 2, 5, 6}; for (int i = 0; i < 4; i++) n += all[i]; }
    else { static const int all[] = {1, 2}; for (int i = 0; i < 2; i++) n += all[i]; }
    return n;
}
int sum(long k) { static const int all[] = {1, 2, 5}; return all[2]; }
int sum(char k) { static const int all[] = {1, 2, 5, 6}; return all[3]; }
""",
}
FLAWED = {
    "free-non-heap-object": """
struct element { int n; };
void use() { element x, *p = &x; delete p; }
""",
    "leak": "int use(int n) { auto p = new int(n); return *p; }\n",
    "buffer-write-heap": """
struct node { virtual ~node(); long a; node *next; };
struct leaf : public node { leaf(); long b; };
void use() { leaf *u = (leaf *)new node(); u->b = 4; }
""",
    "uninitialized-in-method": """
struct tag { tag() {} virtual ~tag() {} virtual int kind() { return n + 1; } int n; };
struct both : tag { both() { n = 1; } int kind() { return 2; } };
int use() { tag t; return t.kind(); }
""",
    "null-dereference": """
const char *name(int n) { return n > 3 ? "a" : nullptr; }
int use(int n) { if (const char *s = name(n)) return s[0]; else return s[0]; }
""",
    "uninitialized": "int use(int n) { int k; if (int m = n) k = m; return k + 1; }\n",
    "free-non-heap": "void use() { char letters[3]; ::free(letters); }\n",
    "uninitialized-member": """
class bits { public: bits() { words = 0; } int words; };
struct builder { builder() {} int n; int given = 2; bits splits; };
int use() { builder b; return b.n; }
""",
    "uninitialized-after-reference": """
int more(int n, int &out) { out = n; return 1; }
int use(thing &other) { int a, b; more(1, a); other.read(a); return a + b; }
""",
    "buffer-read-over-of-static": """
int sum(int k) { static const int all[] = {1, 2}; return all[k ? 1 : 0]; }
int sum(long k) { static const int all[] = {1, 2, 5}; return all[3]; }
""",
    "shift": "typedef int word; long long use(int n) { return word(n) << 40; }\n",
    "buffer-read-over": """
struct log { static long sizes[]; };
long log::sizes[] = {1, 2, 3};
long use() { long n = 0; for (int i = 0; i <= (int)(sizeof(log::sizes) / sizeof(long)); i++)
    n += log::sizes[i]; return n; }
""",
    "resource-leak": """
#include <fcntl.h>
#include <string>
int failed(const std::string &name);
int use(const std::string &name, bool kept) {
    int fd = ::open(name.c_str(), O_RDONLY);
    if (fd < 0) return failed(name);
    int r = failed(name);
    if (kept) ::close(fd);
    return r;
}
""",
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_code_is_left_alone(name: str) -> None:
    assert kinds(SOUND[name], "a.cpp") == []


@pytest.mark.parametrize("kind", FLAWED)
def test_flaws_of_the_same_shape_are_told(kind: str) -> None:
    told = {one.split("-beyond")[0] for _, one in kinds(FLAWED[kind], "a.cpp")}
    assert any(kind.startswith(one) for one in told)


def test_an_object_of_a_template_of_another_file_is_made() -> None:
    header = """
class base { public: base(int n) : size_(n) {} int size() { return size_; } int size_; };
template <typename T> class counting : public base { public: counting() : base(0) {} T *p;
    int got() { return last + 1; } int last; };
"""
    text = "int use() { counting<char> c; return c.size() + %s; }"
    for added, told in (("1", []), ("c.got()", ["uninitialized"])):
        files = lowered(header, "b.cpp"), lowered(text % added, "a.cpp")
        assert [one.kind for one in faults(*files)] == told


@pytest.mark.parametrize("call", ["fill(n)", "lib::fill<int>(n)", "from >> n"])
def test_a_function_that_nothing_declares_may_take_a_variable_by_reference(call: str) -> None:
    text = f"int use() {{ int n; {call}; return n + 1; }}"
    assert [one.doubtful for one in faults(lowered(text, "a.cpp"))] == [True]
    declared = f"void fill(int n); int &from; {text}"
    if "fill(" in call:
        assert [one.doubtful for one in faults(lowered(declared, "a.cpp"))] == [False]


def test_a_virtual_call_may_reach_any_of_several_functions() -> None:
    text = """
struct Env { virtual int open(char **result); };
int Env::open(char **) { return 1; }
struct Posix : Env { int open(char **result) override; };
int Posix::open(char **result) { *result = nullptr; return 0; }
void virtually(Env *env) { char *tmp; env->open(&tmp); delete tmp; }
struct Plain { int open(char **result); };
int Plain::open(char **) { return 1; }
void plainly(Plain *p) { char *tmp; p->open(&tmp); delete tmp; }
"""
    found = {f.function: (f.kind, f.doubtful) for f in faults(lowered(text, "a.cpp"))}
    assert found == {"virtually": ("uninitialized", True), "plainly": ("uninitialized", False)}

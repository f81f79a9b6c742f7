"""Symbolic execution of C++: references, methods, constructors and destructors, `new` and
`delete`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from jarvis_ls.jsec.proof.evidence import Verdict
from tests.jsec.test_symbolic import refute

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("z3") is None, reason="z3 is not installed: the extra 'prove'"
)

HOLDER = (
    "class Holder { public: char *d; int n; Holder(int k) : d(new char[10]), n(k) {}\n"
    "~Holder() { delete [] d; DONE }\n"
    "void put(int i) { if (i >= 0 && i < LIMIT) d[i] = 1; /*here*/ } };\n"
)
OWNER = HOLDER.replace("/*here*/", "").replace("LIMIT", "10")
PAIR = "struct Pair { int a; char b[4]; };\n"

SOUND = {
    "a reference parameter": (
        121,
        "static void put(char (&b)[10], int &i) { b[i] = 1; /*here*/ }\n"
        "void f(int n) { char b[10]; if (n < 0 || n > 8) return; int &m = n; m++; put(b, m); }",
    ),
    "a reference that is returned": (
        121,
        "static int &low(int &a, int &b) { return a < b ? *&a : *&b; }\n".replace(
            "a < b ? *&a : *&b", "a"
        )
        + "void f(int n) { char b[10]; int k = 50; low(n, k) = 3; b[n] = 1; /*here*/ }",
    ),
    "an overload": (
        121,
        "namespace a { static int last(int) { return 9; } static int last(long) { return 90; } }\n"
        "void f() { char b[10]; b[a::last(1)] = 1; /*here*/ }",
    ),
    "an array of new": (
        122,
        "void f(int n) { if (n < 1 || n > 100) return; char *p = new char[n];\n"
        "p[n - 1] = 1; /*here*/ delete [] p; }",
    ),
    "new of one object": (
        122,
        PAIR + "void f(int n) { Pair *p = new Pair; p->b[n & 3] = 1; /*here*/ delete p; }",
    ),
    "new never gives a null pointer": (
        476,
        "void f() { int *p = new int(3); *p = 4; /*here*/ delete p; }",
    ),
    "each released as it was allocated": (
        762,
        "void f() { char *p = new char[3]; char *q = new char; char *r = (char *)malloc(3);\n"
        "free(r); delete q; delete [] p; /*here*/ }",
    ),
    "an object that was released once": (
        415,
        "void f(int n) { int *p = new int; if (n) { delete p; p = nullptr; } delete p; /*here*/ }",
    ),
    "a method that tests": (
        121,
        HOLDER.replace("DONE", "").replace("LIMIT", "10")
        + "static void g(int i) { Holder h(3); h.put(i); }\nint main(int c, char **) { g(c); }",
    ),
    "a copy of an object": (
        121,
        PAIR + "void f() { Pair p; p.a = 3; Pair q = p; q.b[q.a] = 1; /*here*/ }",
    ),
    "a cast": (
        121,
        "void f(long n) { char b[10]; b[static_cast<unsigned char>(n) % 10u] = 1; /*here*/ }",
    ),
    "a destructor at each way out": (
        416,
        "static int live; class Count { public: int *p; Count(int *q) : p(q) {} ~Count() { *p = 0; "
        "} };\nint f(int n) { int *p = new int(7); { Count c(p); if (n == 2) return *p; }\n"
        "int k = *p; /*here*/ delete p; return k; }",
    ),
    "what is thrown goes no further": (
        121,
        "void f(int n) { char b[10]; if (n < 0 || n > 9) throw n; b[n] = 1; /*here*/ }",
    ),
    "a virtual method of an object itself": (
        121,
        "struct B { virtual int last() { return 3; } };\n"
        "void f() { char b[10]; B o; b[o.last()] = 1; /*here*/ }",
    ),
    "members that begin one by one": (
        121,
        "struct N { int n, m; N(int k) : m(n), n(k) {} };\n"
        "void f() { char b[10]; N o(3); b[o.m] = 1; /*here*/ }",
    ),
    "a variable that begins with an address": (
        121,
        "static int k = 3; static int *const p = &k;\n"
        "int main() { char b[10]; *p = 4; b[*p] = 1; /*here*/ }",
    ),
    "an object that is assigned": (
        121,
        PAIR + "void f(int n) { Pair p; p.a = 3; Pair q; q.a = n; q = p; q.b[q.a] = 1; /*here*/ }",
    ),
    "operators": (
        121,
        "struct V { int d[4]; int &operator[](int i) { return d[i]; } };\n"
        "static int operator+(const V &v, int k) { return v.d[0] + k; }\n"
        "void f() { char b[10]; V v; v.d[0] = 0; v.d[2] = 0; v[2] = 4; v[0] = 3;\n"
        "b[v[2] + (v + 2)] = 1; /*here*/ }",
    ),
    "a leak that is none": (
        401,
        "void f(int n) { char *p = new char[9]; /*here*/ /*step*/\np[0] = n; delete [] p; }",
    ),
}

FLAWED = {
    "a reference to another number": (
        121,
        "static void put(char (&b)[10], int &i) { i += 2; b[i] = 1; /*here*/ }\n"
        "void f(int n) { char b[10]; if (n < 0 || n > 8) return; put(b, n); }",
    ),
    "what is changed through a reference": (
        121,
        "static void grow(int &n) { n += 10; }\n"
        "void f(int n) { char b[10]; if (n < 0 || n > 9) return; grow(n); b[n] = 1; /*here*/ }",
    ),
    "what another function may change through a reference": (
        121,
        "void grow(int &n);\n"
        "void f(int n) { char b[10]; if (n < 0 || n > 9) return; grow(n); b[n] = 1; /*here*/ }",
    ),
    "the other overload": (
        121,
        "namespace a { static int last(int) { return 9; } static int last(long) { return 90; } }\n"
        "void f() { char b[10]; b[a::last(1L)] = 1; /*here*/ }",
    ),
    "an array that is one too short": (
        122,
        "void f(int n) { if (n < 1 || n > 100) return; char *p = new char[n];\n"
        "p[n] = 1; /*here*/ delete [] p; }",
    ),
    "a number in place of a count": (
        122,
        "void f() { char *p = new char(10); p[9] = 1; /*here*/ delete p; }",
    ),
    "new that may give a null pointer": (
        476,
        "#include <new>\nvoid f() { int *p = new (std::nothrow) int; *p = 4; /*here*/ delete p; }",
    ),
    "a null pointer that a reference is bound to": (
        476,
        "static void put(int &n) { n = 1; }\n"
        "void f(int n) { int *p = n ? &n : nullptr; put(*p); /*here*/ }",
    ),
    "a method of a null pointer": (
        476,
        "class C { public: int n; void put() { n = 1; } };\n"
        "void f(int n) { C c; C *p = n ? &c : nullptr; p->put(); /*here*/ }",
    ),
    "delete for an array": (762, "void f() { char *p = new char[3]; delete p; /*here*/ }"),
    "delete [] for an object": (762, "void f() { char *p = new char; delete [] p; /*here*/ }"),
    "free for new": (762, "void f() { char *p = new char; free(p); /*here*/ }"),
    "delete for malloc": (762, "void f() { char *p = (char *)malloc(1); delete p; /*here*/ }"),
    "delete twice": (
        415,
        "void f(int n) { int *p = new int; if (n) delete p; delete p; /*here*/ }",
    ),
    "use after delete": (416, "int f() { int *p = new int(1); delete p; return *p; /*here*/ }"),
    "a limit that is too high": (
        121,
        HOLDER.replace("DONE", "").replace("LIMIT", "11")
        + "static void g(int i) { Holder h(3); h.put(i); }\nint main(int c, char **) { g(c); }",
    ),
    "a copy of an object that owns": (
        415,
        OWNER.replace("DONE", "/*here*/")
        + "static void g() { Holder a(3); Holder b = a; }\nint main() { g(); }",
    ),
    "a destructor that ends what is used": (
        416,
        OWNER.replace("DONE", "")
        + "int f() { char *p; { Holder h(3); p = h.d; p[0] = 1; } return p[0]; /*here*/ }",
    ),
    "a destructor on a way out": (
        416,
        "class Ends { public: int *p; Ends(int *q) : p(q) {} ~Ends() { delete p; } };\n"
        "int f(int n) { int *p = new int(7); while (n) { Ends e(p); if (n > 3) break; return 1; }\n"
        "return *p; /*here*/ }",
    ),
    "a method that others may replace": (
        121,
        "class B { public: virtual int last() { return 9; } };\n"
        "void f(B &o) { char b[10]; b[o.last()] = 1; /*here*/ }",
    ),
    "a member of a class with two bases": (
        121,
        "struct A { int a; }; struct B { int b; }; struct C : A, B { int c; };\n"
        "static void put(B &o) { o.b = 90; }\n"
        "void f() { char x[10]; C c; c.a = 1; c.b = 1; c.c = 1; put(c); x[c.b] = 1; /*here*/ }",
    ),
    "a choice that is changed": (
        121,
        "void f(int n, int m) { char b[10]; int k = 3; (m ? n : k) = 90; b[k] = 1; /*here*/ }",
    ),
    "an assignment that is changed": (
        121,
        "void f() { char b[10]; int k = 3; (k = 4) += 80; b[k] = 1; /*here*/ }",
    ),
    "what is caught": (
        121,
        "void g(int);\nvoid f(int n) { char b[10]; int k = 3; try { k = 90; g(n); k = 3; }\n"
        "catch (...) {} b[k] = 1; /*here*/ }",
    ),
    "what a template may call with": (
        121,
        "static void put(int n) { char b[10]; b[n] = 1; /*here*/ }\n"
        "template <class T> void all(T n) { put(n); }\nvoid f(int n) { all(n); put(3); }",
    ),
    "what a default argument gives": (
        121,
        "static int put(int n) { char b[10]; b[n] = 1; /*here*/ return n; }\n"
        "static int g(int n = put(90)) { return n; }\nvoid f() { put(3); g(); }",
    ),
    "a variable that code initialises": (
        121,
        "static int many() { return 90; }\nstatic int last = many();\n"
        "int main() { char b[10]; b[last] = 1; /*here*/ }",
    ),
    "what runs before main": (
        121,
        "static int last = 3; struct Early { Early() { last = 90; } }; static Early early;\n"
        "int main() { char b[10]; b[last] = 1; /*here*/ }",
    ),
    "a lambda": (
        121,
        "void f() { char b[10]; int k = 3; auto g = [&k]() { k = 90; }; g(); b[k] = 1; /*here*/ }",
    ),
    "an operator": (
        121,
        "struct N { int n; }; static void operator+=(N &a, int k) { a.n = 90 + k; }\n"
        "void f() { char b[10]; N n; n.n = 3; n += 1; b[n.n] = 1; /*here*/ }",
    ),
    "a member with an initialiser": (
        121,
        "struct N { int n = 90; };\nvoid f() { char b[10]; N n; b[n.n] = 1; /*here*/ }",
    ),
    "what is thrown past a destructor": (
        415,
        "class Ends { public: int *p; Ends(int *q) : p(q) {} ~Ends() { delete p; /*here*/ } };\n"
        "static void g(int n) { int *p = new int; Ends e(p); delete p; if (n) throw n; e.p = 0; }\n"
        "int main(int c, char **) { g(c); }",
    ),
    "an allocator of a base": (
        122,
        "static char room[4]; struct A { void *operator new(size_t) { return room; } };\n"
        "struct B : A { char b[9]; };\n"
        "void f() { B *p = new B; p->b[8] = 1; /*here*/ }",
    ),
    "an operator that gives more": (
        121,
        "struct V { int d[4]; int &operator[](int i) { return d[i]; } };\n"
        "static int operator+(const V &v, int k) { return v.d[0] + k; }\n"
        "void f() { char b[10]; V v; v.d[0] = 0; v.d[2] = 0; v[2] = 4; v[0] = 3;\n"
        "b[v[2] + (v + 3)] = 1; /*here*/ }",
    ),
    "an assignment of the project's own": (
        121,
        "struct N { int n; N &operator=(const N &o) { n = o.n + 90; return *this; } };\n"
        "void f() { char b[10]; N n, m; m.n = 1; n = m; b[n.n] = 1; /*here*/ }",
    ),
    "a member with an assignment of its own": (
        121,
        "struct N { int n; N &operator=(const N &o) { n = o.n + 90; return *this; } };\n"
        "struct M { N n; };\n"
        "void f() { char b[10]; M n, m; m.n.n = 1; n = m; b[n.n.n] = 1; /*here*/ }",
    ),
    "an object that is called by its base": (
        121,
        "struct B { virtual int last() { return 3; } };\n"
        "struct D : B { int last() { return 90; } };\n"
        "void f() { char b[10]; D d; b[((B &)d).last()] = 1; /*here*/ }",
    ),
    "an object that ends with a loop": (
        416,
        "class Ends { public: int *p; Ends(int *q) : p(q) {} ~Ends() { delete p; } };\n"
        "int f(int n) { int *p = new int(7); for (Ends e(p); n > 0; n--) { }\n"
        "return *p; /*here*/ }",
    ),
    "variables that are declared together": (
        121,
        "static int k; struct P { int a; int b; };\n"
        "static P pair() { k = 90; P p; p.a = p.b = 1; return p; }\n"
        "void f() { char b[10]; k = 1; auto [x, y] = pair(); b[k] = 1; /*here*/ }",
    ),
    "members that begin in their order": (
        121,
        "struct N { int n, m; N(int k) : m(k), n(m) {} };\n"
        "void f() { char b[10]; N o(3); b[o.n] = 1; /*here*/ }",
    ),
    "a variable that begins as another one was": (
        121,
        "static int k = 50; static int n = k + 1;\n"
        "int main() { k = 1; char b[10]; b[n] = 1; /*here*/ }",
    ),
    "a statement before a condition": (
        121,
        "static int k;\nvoid f(int n) { char b[100]; k = 0; if (k = 1; n >= 0 && n < 200)\n"
        "b[n] = 1; /*here*/ }",
    ),
    "a method that a container calls": (
        121,
        "#include <vector>\n#include <algorithm>\n"
        "static void put(int n) { char b[10]; b[n] = 1; /*here*/ }\n"
        "struct Less { int k; bool less(int n) { put(n); return n < k; } };\n"
        "struct Order { Less *l; bool operator()(int a, int) { return l->less(a); } };\n"
        "int main(int c, char **) { Less l; l.k = 3; Order o; o.l = &l; o(3, 4);\n"
        "std::vector<int> v(9, c); std::sort(v.begin(), v.end(), o); }",
    ),
    "a function that is one try": (
        121,
        "static void put(int n) { char b[10]; b[n] = 1; /*here*/ }\n"
        "void f(int n) try { put(n); } catch (...) {}\nvoid g() { put(3); }",
    ),
    "a class in a function": (
        121,
        "static void put(int n) { char b[10]; b[n] = 1; /*here*/ }\n"
        "struct B { virtual void go(int n) {} }; void other(B *);\n"
        "void f() { put(3); struct D : B { void go(int n) { put(n); } } d; other(&d); }",
    ),
    "a function that throws nothing, by its address": (
        121,
        "static void low(char *b, int n) noexcept { b[n] = 1; /*here*/ }\n"
        "static void high(char *b, int) { b[0] = 1; }\n"
        "int main(int c, char **) { char b[10]; void (*p)(char *, int) = c > 2 ? low : high;\n"
        "p(b, c); low(b, 3); }",
    ),
    "a method by its address": (
        121,
        "namespace { struct C { void put(int n) { char b[10]; b[n] = 1; /*here*/ } }; }\n"
        "int main(int c, char **) { C o; void (C::*p)(int) = &C::put; (o.*p)(c); o.put(3); }",
    ),
    "a leak": (401, "void f(int n) { char *p = new char[9]; /*here*/ /*step*/\np[0] = n; }"),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_cannot_go_wrong_in_cplusplus_is_refuted(tmp_path: Path, name: str) -> None:
    cwe, text = SOUND[name]
    found = refute(tmp_path, text, cwe, file="a.cpp")
    assert found is not None
    assert found.verdict is Verdict.REFUTED
    assert any("exception" in assumption for assumption in map(str, found.assumptions))


@pytest.mark.parametrize("name", FLAWED)
def test_what_goes_wrong_in_cplusplus_is_never_refuted(tmp_path: Path, name: str) -> None:
    cwe, text = FLAWED[name]
    assert refute(tmp_path, text, cwe, file="a.cpp") is None

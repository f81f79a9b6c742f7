"""Texts that make analysers slow, of any length."""

from __future__ import annotations

from jarvis_ls.codeintel.languages import LanguageName

SHAPES: dict[str, tuple[LanguageName, bytes, bytes, bytes]] = {
    "blanks": ("c", b"int x = ", b" " * 40, b"1;"),
    "functions": (
        "c",
        b"",
        b"void f%d(char *a, char *b) { char *p = malloc(strlen(a)); "
        b"strcpy(p, b); free(p); free(p); p[0] = 1; }\n",
        b"",
    ),
    "one long function": (
        "c",
        b"void f(char *a, int n) { char *p = malloc(n); char b[10];\n",
        b"if (p) { strcpy(b, a); p[n] = b[%d]; free(p); p = malloc(n * 4); }\n",
        b"}",
    ),
    "many variables": (
        "c",
        b"void f(void) {\n",
        b"char *v%d = malloc(%d); v%d[0] = 0; free(v%d);\n",
        b"}",
    ),
    "one variable, many uses": ("c", b"void f(char *p) {\n", b"*p = %d; use(p);\n", b"free(p); }"),
    "many frees": ("c", b"void f(char *p) {\n", b"free(p);\n", b"}"),
    "locks": (
        "c",
        b"void f(void) {\n",
        b"pthread_mutex_lock(&a%d); pthread_mutex_unlock(&a%d);\n",
        b"}",
    ),
    "files": (
        "c",
        b"void f(const char *n) {\n",
        b'FILE *f%d = fopen(n, "w"); fputs(n, f%d);\n',
        b"}",
    ),
    "if else chain": ("c", b"int f(int a) {\n", b"if (a == %d) return %d; else\n", b"return 0; }"),
    "nested ifs": ("c", b"void f(int a) {", b"if (a) { ", b""),
    "open parentheses": ("c", b"int x = ", b"(", b""),
    "open calls": ("c", b"void f(void) { ", b"g(", b""),
    "open braces": ("c", b"void f(void) ", b"{", b""),
    "casts": ("c", b"int x = ", b"(int)", b"1;"),
    "pointers": ("c", b"int ", b"*", b"p;"),
    "sums": ("c", b"int x = ", b"a + ", b"1;"),
    "conditions": ("c", b"int f(int a) { return ", b"a && ", b"1; }"),
    "deep conditions": ("c", b"", b"int f%d(int a) { return " + b"a && " * 60 + b"1; }\n", b""),
    "quotes": ("c", b"", b'"', b""),
    "open comments": ("c", b"", b"/* ", b""),
    "open raw strings": ("rust", b"", b'r#" ', b""),
    "comments": ("c", b"", b"/* a */ // b\n", b""),
    "commas": ("c", b"int a[] = {", b"1, ", b"0};"),
    "macros": ("c", b"", b"#define M%d system\n", b"void f(char *a) { M1(a); }"),
    "directives": ("c", b"", b"#if X\n", b""),
    "labels": ("c", b"void f(void) {\n", b"l%d: goto l%d;\n", b"}"),
    "structs": ("c", b"", b"struct s%d { char b[%d]; struct s%d *n; };\n", b""),
    "prototypes": ("c", b"", b"int f%d(const char *, ...);\n", b""),
    "templates": ("cpp", b"", b"A<", b""),
    "classes": ("cpp", b"", b"class C%d : public B { virtual void f(); char *p; };\n", b""),
    "lambdas": ("cpp", b"auto x = ", b"[](int a) { return ", b""),
    "moves": ("cpp", b"void f(std::string s) {\n", b"g(std::move(s)); s.size();\n", b"}"),
    "news": ("cpp", b"void f() {\n", b"int *p%d = new int[%d]; delete p%d;\n", b"}"),
    "suppressions": ("c", b"", b"// jsec-ignore: unsafe-copy, x%d why\nint v%d;\n", b""),
    "unsafe blocks": ("rust", b"fn f(p: *mut u8) {\n", b"unsafe { *p.add(%d) = 1; }\n", b"}"),
    "unwraps": ("rust", b"fn f(o: Option<u8>) {\n", b"let v%d = o.unwrap(); drop(v%d);\n", b"}"),
    "matches": ("rust", b"fn f(n: u32) { match n {\n", b"%d => panic!(),\n", b"_ => {} } }"),
    "impls": ("rust", b"", b"unsafe impl Send for T%d {}\n", b""),
    "attributes": ("rust", b"", b"#[cfg(test)]\n", b"fn f() {}"),
    "generics": ("rust", b"fn f() -> ", b"Vec<", b""),
    "nested functions": ("rust", b"", b"fn f() { ", b""),
    "method chains": ("rust", b"fn f(s: &str) { s", b".trim().to_string()", b"; }"),
    "items in macros": ("rust", b"", b"m! { fn f%d(o: Option<u8>) { o.unwrap(); } }\n", b""),
    "macros in macros": ("rust", b"fn f() {} ", b"m! { fn f() {} ", b"}"),
    "blocks of tests": ("rust", b"", b"#[test]\nfn t%d() { x().unwrap(); }\n", b""),
}
"""Repeated, nested or left open: language, head, what is repeated, tail. `%d` becomes a number."""


def shaped(name: str, count: int) -> tuple[bytes, LanguageName]:
    """`count` repetitions of a shape, and its language."""
    language, head, unit, tail = SHAPES[name]
    if b"%d" not in unit:
        return head + unit * count + tail, language
    return head + b"".join(unit.replace(b"%d", b"%d" % n) for n in range(count)) + tail, language

"""Documents edited at random, and what is found in them live and afresh."""

from __future__ import annotations

from dataclasses import dataclass

C = """#include <stdlib.h>
#include <string.h>

struct item { char *name; int size; };

void twice(char *p) {
    free(p);
    free(p);
}

int copy(char *p, int n) {
    char b[8];
    if (n > 8)
        return 1;
    strcpy(b, p);
    gets(b);
    return b[n];
}
"""
CPP = """#include <memory>
class Item {
public:
    explicit Item(int n) : data(new int[n]), size(n) {}
    ~Item() { delete data; }
    int at(int i) const { return data[i]; }
private:
    int *data;
    int size;
};

void use(char *p) {
    char b[8];
    strcpy(b, p);
    auto *item = new Item(3);
    delete item;
    delete item;
}
"""
RUST = """use std::ptr;

fn read(p: *const u8) -> u8 {
    unsafe { *p }
}

fn main() {
    let v: Vec<u8> = Vec::with_capacity(8);
    let first = unsafe { ptr::read(v.as_ptr()) };
    let text = std::env::args().next().unwrap();
    println!("{} {}", first, text);
}
"""


@dataclass(frozen=True, slots=True)
class Style:
    """A way of editing."""

    start: str
    """The text in the beginning, more than once."""
    tokens: tuple[str, ...]
    """What is put in."""
    path: str = "a.c"
    deleting: float = 0.3
    """How often something is taken out."""
    moving: float = 0.0
    """How often a stretch of lines is put elsewhere."""
    taking_back: float = 0.0
    """How often the text is what it was some edits ago."""


_BRACES = (
    "{",
    "}",
    "(",
    ")",
    ";",
    "\n",
    "}\n",
    "{\n",
    "void f(char *p) {\n",
    "if (x) {\n",
    "else ",
)
_STATEMENTS = (
    "free(p);\n",
    "gets(b);\n",
    "strcpy(b, p);\n",
    "char b[8];\n",
    "char *p = malloc(8);\n",
    "return 0;\n",
    "memcpy(b, p, 9);\n",
    "p[0] = 1;\n",
    "printf(p);\n",
    "int n = atoi(p);\n",
)
_CONDITIONS = (
    "#if 0\n",
    "#if defined(A)\n",
    "#ifdef B\n",
    "#ifndef C\n",
    "#else\n",
    "#elif A\n",
    "#endif\n",
    "#define A 1\n",
    "#undef A\n",
    "#define F(x) free(x)\n",
    "F(p);\n",
    '#include "a.h"\n',
)
_LITERALS = ('"', "'", "/*", "*/", "//", "\\\n", "\\", "??/", 'R"(', ')"', "\n", "x", "1", "%s")

STYLES: dict[str, Style] = {
    "line ends": Style(C, ("\n", "\r\n", "\r", "a", "free(p);", " ", "\t")),
    "line ends of Python": Style(C, ("\f", "\v", "\x1c", "\x85", "\u2028", "\u2029", "\n", "x")),
    "astral": Style(C, ("😀", "é", "字", "\U0010ffff", "\n", "free(p);", "/* 😀 */")),
    "tokens": Style(C, (*_BRACES, *_STATEMENTS, *_CONDITIONS, *_LITERALS)),
    "braces": Style(C, (*_BRACES, *_STATEMENTS)),
    "conditions": Style(C, (*_CONDITIONS, *_STATEMENTS, "{", "}")),
    "literals": Style(C, (*_LITERALS, *_STATEMENTS)),
    "moving": Style(C, (*_STATEMENTS, *_BRACES[-3:]), deleting=0.1, moving=0.4, taking_back=0.2),
    "C++": Style(
        CPP,
        (
            *_BRACES, *_STATEMENTS, *_CONDITIONS[:7], "class ", "template <class T> ", "~", "::",
            "delete p;\n", "new int[3]", "namespace n {\n", "public:\n", "[&] {", "<", ">",
        ),
        path="a.cpp",
    ),
    "Rust": Style(
        RUST,
        (
            *_BRACES[:8], *_LITERALS[:5], "unsafe {", "fn f() {\n", ".unwrap()", "let x = 1;\n",
            "mod m {\n", "impl T {\n", "#[test]\n", "'a", "macro!(", "match x {", "=> ", "*p", "!",
        ),
        path="a.rs",
    ),
}  # fmt: skip

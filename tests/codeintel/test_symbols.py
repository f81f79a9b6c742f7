"""Every definition and every occurrence is found, in time that grows with the text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ls.codeintel.dependencies import Import, Project, imports
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.symbols import Outline

C = b"""\
#include <x.h>
#define MAX 3
#define SQ(x) ((x) * first(x))
typedef struct point { int x; } point_t;
typedef int (*handler)(int);
enum color { RED, BLUE };
extern int first(int a);
static int table[3], other;
int (*pointer)(void);
static int *first(int a)
{
    /* first */
    log("first"); return first(a) + SQ(a);
}
#ifdef X
int second(void) { handler h = first; return 0; }
#endif
"""
CPP = b"""\
namespace ns {
class A { public: int get() const; A(); ~A(); int inl() { return get(); } };
int A::get() const { return this->get(); }
template <class T> T id(T t) { return t; }
using V = int;
bool operator==(A a, A b) { return true; }
}
"""
RUST = b"""\
pub struct P { x: i32 }
impl P { pub fn new() -> P { P { x: 1 } } fn get(&self) -> i32 { self.x } }
impl Clone for P { fn clone(&self) -> P { P::new() } }
trait T { fn t(&self); }
mod m { pub const A: i32 = 1; static B: i32 = 2; }
macro_rules! mac { () => {} }
fn main() { let p = P::new(); p.get(); mac!(); }
"""


def names(data: bytes, language: LanguageName) -> list[tuple[str, str, str]]:
    return [(s.name, s.kind, s.container) for s in Outline(data, language).symbols]


def test_definitions_of_c() -> None:
    assert names(C, "c") == [
        ("MAX", "macro", ""),
        ("SQ", "macro", ""),
        ("point_t", "type", ""),
        ("point", "struct", ""),
        ("handler", "type", ""),
        ("color", "enum", ""),
        ("RED", "constant", "color"),
        ("BLUE", "constant", "color"),
        ("first", "declaration", ""),
        ("table", "variable", ""),
        ("other", "variable", ""),
        ("pointer", "variable", ""),
        ("first", "function", ""),
        ("second", "function", ""),
    ]


def test_definitions_of_cpp() -> None:
    assert names(CPP, "cpp") == [
        ("ns", "module", ""),
        ("A", "class", "ns"),
        ("get", "declaration", "A"),
        ("inl", "function", "A"),
        ("A::get", "function", "ns"),
        ("id", "function", "ns"),
        ("V", "type", "ns"),
        ("operator==", "function", "ns"),
    ]


def test_definitions_of_rust() -> None:
    assert names(RUST, "rust") == [
        ("P", "struct", ""),
        ("P", "impl", ""),
        ("new", "function", "P"),
        ("get", "function", "P"),
        ("Clone for P", "impl", ""),
        ("clone", "function", "Clone for P"),
        ("T", "trait", ""),
        ("t", "declaration", "T"),
        ("m", "module", ""),
        ("A", "constant", "m"),
        ("B", "variable", "m"),
        ("mac", "macro", ""),
        ("main", "function", ""),
    ]


def test_occurrences_are_told_apart() -> None:
    found = [(o.line, o.use, o.inside) for o in Outline(C, "c").occurrences("first")]
    assert found == [
        (3, "macro", ""),
        (7, "definition", ""),
        (10, "definition", "first"),
        (12, "comment", "first"),
        (13, "text", "first"),
        (13, "call", "first"),
        (16, "use", "second"),
    ]
    found = [(o.line, o.use) for o in Outline(CPP, "cpp").occurrences("get")]
    assert found == [(2, "definition"), (2, "call"), (3, "definition"), (3, "call")]
    found = [(o.line, o.use) for o in Outline(RUST, "rust").occurrences("new")]
    assert found == [(2, "definition"), (3, "call"), (7, "call")]


def test_what_is_around_a_line() -> None:
    outline = Outline(C, "c")
    around = outline.around(12)
    assert around is not None
    assert (around.name, around.line, around.end_line) == ("first", 10, 14)
    assert around.signature == "static int *first(int a)"
    assert outline.around(1) is None


@pytest.mark.parametrize("language", ["c", "cpp", "rust"])
@settings(max_examples=60, deadline=None)
@given(text=st.text("afn{}()<>;:,*&#!\"'/= \n", max_size=120))
def test_any_text_has_an_outline(language: LanguageName, text: str) -> None:
    data = text.encode()
    outline = Outline(data, language)
    lines = data.count(b"\n") + 1
    for symbol in outline.symbols:
        assert 1 <= symbol.line <= symbol.end_line <= lines and symbol.start <= symbol.end
    for found in outline.occurrences("a"):
        assert 1 <= found.line <= lines


@pytest.mark.parametrize("language", ["c", "rust"])
def test_time_grows_with_the_text(language: LanguageName) -> None:
    head = b"fn f() " if language == "rust" else b"int f(void) "

    def took(count: int) -> float:
        flat = b"".join(head + b"{ g(%d); }\n" % n for n in range(count))
        nested = b"mod m { " * min(count, 400) + b"} " * min(count, 400)
        began = time.process_time()
        outline = Outline(flat + (nested if language == "rust" else b""), language)
        assert len(outline.occurrences("g", most=10**9)) == count
        return time.process_time() - began

    took(100)
    small = min(took(1_000) for _ in range(3))
    assert min(took(8_000) for _ in range(3)) < 8 * 4 * small + 0.5


def test_imports_are_read() -> None:
    data = b'#include "a.h" // x\n  # include <b/c.h>\n// #include "d.h"\n/*\n#include "e.h"\n*/\n'
    assert imports("x.c", data) == [Import("a.h", 1), Import("b/c.h", 2, True)]
    data = b"use a::b as c;\npub(crate) use crate::x::{Y, z::W as V, self};\nmod q;\n// mod r;\n"
    assert [i.name for i in imports("x.rs", data) or ()] == [
        "a::b",
        "crate::x::Y",
        "crate::x::z::W",
        "self::q",
    ]
    data = b"import os.path\nfrom .a import b\nfrom . import c\n"
    assert [i.name for i in imports("x.py", data) or ()] == ["os.path", ".a", "."]
    data = b"import a from 'a';\nimport './b';\nexport * from \"./c\";\nconst d = require('d');\n"
    assert [i.name for i in imports("x.ts", data) or ()] == ["a", "./b", "./c", "d"]
    assert imports("x.cob", b"x") is None


@given(
    st.sampled_from(["a.c", "src/a.rs", "p/a.py", "w/a.ts"]),
    st.text("./:ab", max_size=12),
)
def test_any_name_is_resolved_or_not(path: str, name: str) -> None:
    project = Project(["a.c", "src/a.rs", "src/lib.rs", "p/a.py", "p/__init__.py", "w/a.ts", "a.h"])
    found = project.resolve(path, Import(name, 1))
    assert found is None or not found.startswith((".", "/"))

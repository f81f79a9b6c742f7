"""Documents edited at random, and what is found in them live and afresh."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from jarvis_ls.jsec.engine.rule_runner import Engine
from jarvis_ls.jsec.live.documents import LiveDocuments
from jarvis_ls.jsec.live.records import TextChange

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
    tokens: list[str]
    """What is put in."""
    path: str = "a.c"
    deleting: float = 0.3
    """How often something is taken out."""
    moving: float = 0.0
    """How often a stretch of lines is put elsewhere."""
    taking_back: float = 0.0
    """How often the text is what it was some edits ago."""


_BRACES = [
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
]
_STATEMENTS = [
    *("free(p);\n", "gets(b);\n", "strcpy(b, p);\n", "char b[8];\n", "char *p = malloc(8);\n"),
    *("return 0;\n", "memcpy(b, p, 9);\n", "p[0] = 1;\n", "printf(p);\n", "int n = atoi(p);\n"),
]
_CONDITIONS = [
    *("#if 0\n", "#if defined(A)\n", "#ifdef B\n", "#ifndef C\n", "#else\n", "#elif A\n"),
    *("#endif\n", "#define A 1\n", "#undef A\n", "#define F(x) free(x)\n", "F(p);\n"),
    '#include "a.h"\n',
]
_LITERALS = ['"', "'", "/*", "*/", "//", "\\\n", "\\", "??/", 'R"(', ')"', "\n", "x", "1", "%s"]
_CPP = [
    *("class ", "template <class T> ", "~", "::", "delete p;\n", "new int[3]", "namespace n {\n"),
    *("public:\n", "[&] {", "<", ">"),
]
_RUST = [
    *("unsafe {", "fn f() {\n", ".unwrap()", "let x = 1;\n", "mod m {\n", "impl T {\n", "'a"),
    *("#[test]\n", "macro!(", "match x {", "=> ", "*p", "!"),
]

STYLES: dict[str, Style] = {
    "line ends": Style(C, ["\n", "\r\n", "\r", "a", "free(p);", " ", "\t"]),
    "line ends of Python": Style(C, ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029", "\n", "x"]),
    "astral": Style(C, ["😀", "é", "字", "\U0010ffff", "\n", "free(p);", "/* 😀 */"]),
    "tokens": Style(C, [*_BRACES, *_STATEMENTS, *_CONDITIONS, *_LITERALS]),
    "braces": Style(C, [*_BRACES, *_STATEMENTS]),
    "conditions": Style(C, [*_CONDITIONS, *_STATEMENTS, "{", "}"]),
    "literals": Style(C, [*_LITERALS, *_STATEMENTS]),
    "moving": Style(C, [*_STATEMENTS, "else "], deleting=0.1, moving=0.4, taking_back=0.2),
    "C++": Style(CPP, [*_BRACES, *_STATEMENTS, *_CONDITIONS, *_CPP], path="a.cpp"),
    "Rust": Style(RUST, [*_BRACES[:8], *_LITERALS[:5], *_RUST], path="a.rs"),
}

_COPIES = 3
_MOST = 4_000
"""Characters, after which a document begins anew."""
_LANGUAGES = {".c": "c", ".cpp": "cpp", ".rs": "rust"}
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Difference:
    """A text of which something else is shown after edits than afresh."""

    style: str
    seed: str
    edit: int
    text: str
    live: list[object]
    fresh: list[object]


@dataclass(slots=True)
class Run:
    """What a run of one style gave."""

    edits: int = 0
    compared: int = 0
    differences: list[Difference] = field(default_factory=list)


def differences(style: str, seed: str, edits: int, *, every: int = 4, flow_every: int = 10) -> Run:
    """Edit documents of a style at random, and compare what is found live with what is found afresh
    after one of ``every`` edits. Values are followed in one of ``flow_every`` documents."""
    chosen, run = STYLES[style], Run()
    rng, engine, documents = random.Random(seed), Engine(), 0
    while run.edits < edits:
        documents += 1
        follows = documents % flow_every == 0
        live = opened(engine, chosen, chosen.start * _COPIES, follows)
        for version, (change, text) in enumerate(history(rng, chosen), 2):
            live.change(_URI, version, [change])
            run.edits += 1
            if run.edits % every:
                live.analyse(_URI)
                continue
            assert live.text(_URI) == text, "the text is another one"
            shown = rested(live)
            fresh = rested(opened(engine, chosen, text, follows))
            run.compared += 1
            if shown != fresh:
                found = Difference(style, seed, run.edits, text, shown, fresh)
                run.differences.append(found)
                break
            if run.edits >= edits:
                break
    return run


_URI = "file:///nowhere/a"


def opened(engine: Engine, style: Style, text: str, follows: bool) -> LiveDocuments:
    """An editor's documents with one of this text."""
    live = LiveDocuments(engine)
    live.set_flow("", follows)
    language = _LANGUAGES[style.path[style.path.index(".") :]]
    live.open(_URI, "", f"/nowhere/{style.path}", language, text, 1)
    return live


def rested(live: LiveDocuments) -> list[object]:
    """What is shown of the document once everything is known."""
    result = live.analyse(_URI)
    while result.more or not result.settled:
        result = live.analyse(_URI)
    broken = [note for note in result.notes if "failed" in str(note)]
    assert not broken, f"{broken} in {live.text(_URI)!r}"
    return [*map(repr, result.findings), result.notes, result.functions]


def history(rng: random.Random, style: Style) -> Iterator[tuple[TextChange, str]]:
    """Edits of one document until it is long, each with the text that comes of it."""
    text = style.start * _COPIES
    before = [text]
    while len(text) < _MOST:
        start, end, new = some_edit(rng, style, text, before)
        place = (*position(text, start), *position(text, end))
        text = text[:start] + new + text[end:]
        before = [*before[-20:], text]
        yield TextChange(new, place), text
    yield TextChange(style.start), style.start


def some_edit(
    rng: random.Random, style: Style, text: str, before: list[str]
) -> tuple[int, int, str]:
    """A stretch of the text and what comes there."""
    roll = rng.random()
    if roll < style.taking_back:
        return 0, len(text), rng.choice(before)
    if roll < style.taking_back + style.moving:
        lines = text.splitlines(keepends=True)
        first = rng.randrange(len(lines) + 1)
        size = rng.choice([1, 1, 2, 3, 8])
        at = rng.randrange(len(lines) + 1)
        piece = lines[first : first + size]
        rest = lines[:first] + lines[first + size :] if rng.random() < 0.6 else lines
        return 0, len(text), "".join(rest[:at] + piece + rest[at:])
    start = end = rng.randrange(len(text) + 1)
    if rng.random() < style.deleting:
        end = min(len(text), start + rng.choice([1, 1, 1, 2, 5, 20, 80]))
    new = "".join(rng.choices(style.tokens, k=rng.choice([0, 1, 1, 1, 2, 4])))
    return whole(text, start), whole(text, end), new


def whole(text: str, at: int) -> int:
    """The nearest place that is a position in LSP: not within a line end."""
    return at - 1 if text[at - 1 : at + 1] == "\r\n" else at


def position(text: str, at: int) -> tuple[int, int]:
    """Line and UTF-16 column of a place, from 0, counted in the plainest way."""
    ends = [match.end() for match in _LINE_END.finditer(text, 0, at)]
    start = ends[-1] if ends else 0
    return len(ends), len(text[start:at].encode("utf-16-le")) // 2

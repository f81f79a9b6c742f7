"""What heads of functions say is kept while a document is edited; never longer than it holds."""

from __future__ import annotations

import pytest

from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.headers import facts_of
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.lower.c.heads import Heads
from jarvis_ls.jsec.flow.program.file_outline import Outline
from jarvis_ls.jsec.flow.program.open_file import OpenFile

HEADS = b"""\
typedef struct { int n; } *P;
#define LEN 4
enum { MORE = 2 };
static long f(P p, char text[LEN]) {
  return p->n;
}
struct q *g(struct q *first) {
  return first;
}
unsigned h(size_t n, unsigned k[MORE]) {
  return n + k[0];
}
static long i(int n, struct q *last) {
  return n;
}
"""
"""A file in which types have the names of places, and sizes are named."""


def unit_of(data: bytes) -> Unit:
    """Return a file with what it declares itself."""
    return Unit(Source("a.c", data), "c", facts_of(parse(data, "c").root_node, "c"))


def update(file: OpenFile, data: bytes) -> Outline:
    """Return what a document shows of a text."""
    return file.update(unit_of(data), parse(data, "c").root_node, "", ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"p->n", b"p->n + 1000000"),  # in a body
        (b"\n#define", b"\n\n\n#define"),  # all below moves
        (b"MORE = 2", b"MORE = 3"),
        (b"int n; }", b"int n; char more[8]; }"),
        (b"static long f", b"long f"),
        (b"first) {", b"first, int count) {"),
        (b"  return first", b"#define MORE 7\n  return first"),  # in a body, for what follows too
        (b"return p->n;\n}", b"return p->n;\n"),  # torn
        (b"struct q *g(", b"void x(void) { }\nstruct q *g("),
    ],
)
def test_a_fresh_look_says_the_same(old: bytes, new: bytes) -> None:
    assert HEADS.count(old) == 1
    kept = OpenFile()
    after = HEADS.replace(old, new)
    for data in (HEADS, HEADS, after, HEADS, after, after):
        assert update(kept, data) == update(OpenFile(), data)


def test_heads_are_kept_while_a_body_changes() -> None:
    heads = Heads()
    for data, known in ((HEADS, False), (HEADS.replace(b"return n;", b"return 2 * n;"), True)):
        nodes = parse(data, "c").root_node.named_children
        heads.begin(unit_of(data), nodes)
        last = nodes[-1]
        assert (heads.of(last) is not None) == known
        heads.keep(last, ("i", ANY, True))

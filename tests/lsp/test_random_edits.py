"""Random editing: the server's text is the editor's, its diagnostics are those of a fresh scan."""

from __future__ import annotations

import random

import pytest
from lsprotocol import types

from jarvis_ls.lsp.documents import Document, split_lines
from jarvis_ls.lsp.folders import uri_of
from tests.lsp.editor import apply_edits, offset, running

pytestmark = pytest.mark.watches()

ALPHABETS = {
    "line ends": ["\n", "\r\n", "\r", "a", "free(p);", " "],
    "line ends of Python": ["\f", "\x0b", "\x1c", "\x85", "\u2028", "\u2029", "\n", "x"],
    "astral": ["😀", "é", "字", "\U0010ffff", "\n", "free(p);", "/* 😀 */"],
    "tokens": [
        "free(p);",
        "char *p;",
        "{",
        "}",
        "(",
        ")",
        '"',
        "'",
        "/*",
        "*/",
        "//",
        "\\\n",
        "#if 0\n",
        "#endif\n",
        "\n",
        "gets(b);",
        "void f(char *p) {",
        "char b[8];",
        "strcpy(b, p);",
        ";",
        "??/",
    ],
}
START = (
    """#include <stdlib.h>
#include <string.h>

void twice(char *p) {
    free(p);
    free(p);
}

void copy(char *p) {
    char b[8];
    strcpy(b, p);
    gets(b);
}
"""
    * 3
)
CHECK_EVERY = 100
EDITS = 2_500  # of each alphabet: 10,000 in all


def some_range(rng: random.Random, text: str) -> types.Range:
    lines = text.count("\n") + text.count("\r") + 2
    first = rng.randrange(lines)
    start = types.Position(first, rng.randrange(30))
    kind = rng.random()
    if kind < 0.7:
        return types.Range(start, start)
    last = rng.randrange(lines) if kind < 0.71 else first + rng.choice([0, 0, 0, 1])
    return types.Range(start, types.Position(last, rng.randrange(30)))


def some_change(
    rng: random.Random, text: str, alphabet: list[str]
) -> types.TextDocumentContentChangeEvent:
    new = "".join(rng.choices(alphabet, k=rng.choice([0, 1, 1, 1, 2, 4])))
    if rng.random() < 0.02:
        return types.TextDocumentContentChangeWholeDocument(START + new)
    return types.TextDocumentContentChangePartial(some_range(rng, text), new)


def applied(text: str, change: types.TextDocumentContentChangeEvent) -> str:
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return change.text
    span = change.range
    if offset(text, span.start) > offset(text, span.end):
        span = types.Range(span.end, span.start)
    return apply_edits(text, [types.TextEdit(span, change.text)])


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_documents_follow_the_edits(alphabet):
    rng = random.Random(alphabet)
    text = START
    document = Document("file:///a.c", "c", 1, text)
    for _ in range(EDITS):
        change = some_change(rng, text, ALPHABETS[alphabet])
        text = applied(text, change)
        partial = isinstance(change, types.TextDocumentContentChangePartial)
        document.replace(change.range if partial else None, change.text)
        if len(text) > 4_000:
            text = START
            document.replace(None, START)
        assert document.text == text
    assert document._lines == split_lines(text)


@pytest.mark.parametrize("alphabet", ALPHABETS)
async def test_text_and_diagnostics_equal_a_fresh_scan(tmp_path, alphabet):
    rng = random.Random(alphabet)
    edited, fresh = (uri_of(str(tmp_path / name / "a.c")) for name in ("edited", "fresh"))
    text, compared = START, 0
    async with running(tmp_path, options={"debounce": 30, "flow": False}) as editor:
        editor.open(edited, text)
        for number in range(1, EDITS + 1):
            changes = []
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                change = some_change(rng, text, ALPHABETS[alphabet])
                changes.append(change)
                text = applied(text, change)
            if len(text) > 6_000:
                text = START
                changes.append(types.TextDocumentContentChangeWholeDocument(text))
            version = editor.change(edited, *changes)
            if number % CHECK_EVERY == 0:
                await editor.diagnostics(edited, version)
                editor.open(fresh, text)
                scanned = await editor.diagnostics(fresh)
                editor.close(fresh)
                wanted = summary(scanned)
                # torn text is shown as it seems at first, and as it is once the editing rests
                await editor.pushed(edited, lambda shown, wanted=wanted: summary(shown) == wanted)
                compared += len(scanned)
                editor.published.clear()
    assert compared > 20


def summary(diagnostics: list[types.Diagnostic]) -> list[object]:
    return [
        (
            one.code,
            one.message,
            one.range.start.line,
            one.range.start.character,
            one.range.end.line,
            one.range.end.character,
        )
        for one in diagnostics
    ]

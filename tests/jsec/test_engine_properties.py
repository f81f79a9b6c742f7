"""What holds for every text: no crash, the same answer however it came about, linear time."""

from __future__ import annotations

import contextlib
import gc
import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shapes import SHAPES, shaped

from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.parse import count_errors, parse, parse_edited
from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.engine.rule_runner import Engine, ItemCache
from jarvis_ls.jsec.engine.visibility import assess
from jarvis_ls.jsec.scan.apply_fixes import apply_fixes

pytestmark = pytest.mark.watches()

LANGUAGES: tuple[LanguageName, ...] = ("c", "cpp", "rust")
ENGINE = Engine()
FIXTURES = sorted((Path(__file__).parent / "rules").rglob("*.*"))
PIECES = [path.read_bytes() for path in FIXTURES]

TOKENS = [
    b"free(p);",
    b"malloc(n * 4)",
    b"strcpy(a, b);",
    b"if (",
    b"{",
    b"}",
    b"(",
    b")",
    b";",
    b"\n",
    b"*p = ",
    b"p->x",
    b"char b[10];",
    b"#define X ",
    b"#if 0\n",
    b"#endif\n",
    b"/*",
    b"*/",
    b"//",
    b'"',
    b"'",
    b"\\",
    b"unsafe {",
    b"fn f(",
    b"unwrap()",
    b"as *mut u8",
    b"&mut ",
    b"'a",
    b'r#"',
    b"template <",
    b"class A : ",
    b"~A()",
    b"new int[",
    b"delete ",
    b"=",
    b"return",
    b"while (1)",
    b"\xff",
    b"\0",
    b"\xe2\x80\xa8",
    b"\xf0\x9f\x98\x80",
    b"jsec-ignore: ",
    b'scanf("%s", ',
    b"sizeof(",
    b"for (;;)",
    b"goto x;",
    b"x:",
    b"switch (a) { case 1:",
    b"impl ",
    b"#[test]",
]

tokens = st.lists(st.sampled_from(TOKENS), max_size=60).map(b" ".join)
pieces = st.tuples(st.sampled_from(PIECES), st.integers(0, 4000), st.integers(1, 600)).map(
    lambda cut: cut[0][cut[1] : cut[1] + cut[2]]
)
texts = st.one_of(st.binary(max_size=400), tokens, pieces, st.tuples(pieces, tokens).map(b"".join))
many = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def findings(source: Source, language: LanguageName) -> list[Finding]:
    tree = parse(source.data, language)
    return assess(source, language, tree, ENGINE.analyse(source, language, tree=tree).findings)


class Failures(logging.Handler):
    """Rules that failed while it is installed."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.getMessage()}: {record.exc_info and record.exc_info[1]}")


@contextlib.contextmanager
def no_rule_fails() -> Iterator[None]:
    failures, log = Failures(), logging.getLogger("jarvis_ls")
    log.addHandler(failures)
    try:
        yield
    finally:
        log.removeHandler(failures)
    assert failures.messages == []


@many
@given(texts, st.sampled_from(LANGUAGES))
def test_any_bytes_are_analysed(raw: bytes, language: LanguageName) -> None:
    source = decode("a", raw)
    lines = len(source.line_starts)
    with no_rule_fails():
        found = findings(source, language)
    assert len({one.fingerprint for one in found}) == len(found)
    for one in found:
        span = one.span
        assert 1 <= span.line <= span.end_line <= lines
        assert (span.line, span.column) <= (span.end_line, span.end_column)
        assert 0 <= one.confidence <= 1
        for message in (one.message, one.suggestion):
            places = set(re.findall(r"{(\w+)}", message.template))
            assert places <= {name for name, _ in message.args}, message.template


edits = st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 60), texts), max_size=6)


def _before_character(data: bytes, at: int) -> int:
    """Return the place of the character that the byte at `at` is of."""
    at = min(at, len(data))
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at


@many
@given(st.sampled_from(PIECES), st.sampled_from(LANGUAGES), edits)
def test_following_edits_gives_what_a_fresh_look_gives(
    first: bytes, language: LanguageName, changes: list[tuple[int, int, bytes]]
) -> None:
    data, cache = decode("a", first).data, ItemCache()
    parsed = parse_edited(data, language, None)
    ENGINE.analyse(Source("a", data), language, tree=parsed.tree, cache=cache)
    for at, length, new in changes:
        start = _before_character(data, at)
        end = max(start, _before_character(data, start + length))
        new = new.decode("utf-8", "replace").encode()
        changed = data[:start] + new + data[end:]
        parsed, data = parse_edited(changed, language, parsed), changed
        tree, cache.sure = parsed.tree, parsed.sure
        fresh = parse(data, language)
        kept = ENGINE.analyse(Source("a", data), language, tree=tree, cache=cache)
        if not cache.sure:  # what was learnt of this tree must not be in the way of the right one
            cache.sure = True
            kept = ENGINE.analyse(Source("a", data), language, tree=fresh, cache=cache)
        else:
            assert str(tree.root_node) == str(fresh.root_node)
        assert kept.findings == ENGINE.analyse(Source("a", data), language).findings


def test_what_was_learnt_of_a_text_does_not_hold_for_another_kind_of_item() -> None:
    """Beside an error the same `stpcpy()` is a call at first, then a pattern."""
    cache = ItemCache()
    for before in (b"", b".h"):
        data = before + b"{(\x00for\x00)stpcpy()\x00 /*oid *a() { }\n"
        kept = ENGINE.analyse(Source("a", data), "rust", cache=cache).findings
        assert kept == ENGINE.analyse(Source("a", data), "rust").findings


@many
@given(st.sampled_from(FIXTURES), edits)
def test_fixes_never_break_a_file(path: Path, changes: list[tuple[int, int, bytes]]) -> None:
    data = path.read_bytes()
    for at, length, new in changes[:3]:
        data = data[:at] + new + data[at + length :]
    source = decode(path.name, data)
    language = language_of(path.name, source.data)
    assert language is not None
    fixed = apply_fixes(source, language, findings(source, language), unsafe=True)
    before = count_errors(parse(source.data, language))
    assert count_errors(parse(fixed.after, language)) <= before
    fixed.diff()
    if not fixed.applied:
        assert fixed.after == source.data


FLOOR = 0.02
"""Seconds below which a time says nothing."""

FEWEST = 64
"""Repetitions to begin with."""

DEEPEST = 700
"""The same for shapes that nest."""

MOST = 3
"""How much longer twice the text may take beside other work: linear time takes twice as long,
quadratic four times. `npm run bench -- growth` holds each rule to 2.3 on a quiet machine."""

ROUNDS = 18
"""Most times each is measured; the least of all is closest to the truth."""


def seconds(data: bytes, language: LanguageName) -> float:
    source = Source("a", data)
    gc.collect()
    started = time.process_time()
    findings(source, language)
    return time.process_time() - started


@pytest.mark.parametrize("name", SHAPES)
def test_time_is_linear_in_the_text(name: str) -> None:
    """The least of several runs at n and 2n, n large enough to be measured, and deeper than the
    600 levels below which the time may grow with the depth."""
    count = FEWEST if b"%d" in SHAPES[name][2] else DEEPEST
    data, language = shaped(name, count)
    seconds(data, language)
    while (once := seconds(data, language)) < FLOOR and len(data) < 400_000:
        count *= 2
        data, language = shaped(name, count)
    longer, _ = shaped(name, 2 * count)
    twice = seconds(longer, language)
    for _ in range(ROUNDS):
        once = min(once, seconds(data, language))
        twice = min(twice, seconds(longer, language))
        if twice <= MOST * max(once, FLOOR):
            return
    pytest.fail(f"{name}: {count} to {2 * count}: {twice / max(once, FLOOR):.2f} times as long")

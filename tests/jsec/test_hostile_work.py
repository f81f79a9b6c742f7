"""What hostile files cost, counted in lines of Python and nodes of trees: time says nothing on a
busy machine."""

from __future__ import annotations

import difflib
import sys
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from jarvis_ls.codeintel import deep_nesting
from jarvis_ls.codeintel import parse as parsing
from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.codeintel.top_level_items import items
from jarvis_ls.jsec.engine.rule_runner import Engine
from jarvis_ls.jsec.flow.lower.c.file import lower
from jarvis_ls.jsec.scan.file_scanner import DiskFiles
from jarvis_ls.jsec.scan.flow_scan import kept_at
from jarvis_ls.jsec.scan.project import Project
from jarvis_ls.jsec.scan.result import FileReport
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.settings.settings import Settings
from tests.bench.hostile import FLAW, RUST_FLAW, SHAPES
from tests.support.random_edits import STYLES, differences

pytestmark = pytest.mark.watches()

ENGINE = Engine()
MOST = 2.4
"""How many times the lines that twice the text may take."""
MEGABYTE = 1_000_000


def scanned(folder: Path, data: bytes, ending: str = "c") -> FileReport:
    """The report of one file, with what flow proved in it, all in this process."""
    folder.mkdir(exist_ok=True)
    (folder / f"x.{ending}").write_bytes(data)
    settings = Settings()
    listing = list_sources(str(folder), settings)
    (file,) = listing.files
    with kept_at(None) as place:
        disk = DiskFiles(ENGINE)
        disk.set_project(
            Project(
                listing.root,
                tuple(listing.files),
                settings.max_file_size,
                settings.patterns,
                settings.functions,
                place,
                settings.observed,
            )
        )
        report = disk.scan(file.path)
        disk.set_program({file.path: report.unit})
        found = disk.follow(file.path)
        sure = frozenset(name for _, name in found.decided - found.open)
        return disk.settle(report, found.faults, sure, ())


def hostile(shape: str, ending: str, size: int) -> bytes:
    flaw = RUST_FLAW if ending == "rs" else FLAW
    return (flaw + SHAPES[shape][1](size)).encode("utf-8", "surrogateescape")


def lines_of(work: Callable[[], Any]) -> int:
    """How many lines of Python something takes."""
    count = 0

    def trace(_frame: FrameType, event: str, _value: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    ("shape", "ending"),
    [
        ("allocations", "c"),
        ("frees", "c"),
        ("line-comments", "c"),
        ("prints", "c"),
        ("unwraps", "rs"),
    ],
)
def test_twice_the_text_takes_twice_the_work(shape: str, ending: str, tmp_path: Path) -> None:
    first = scanned(tmp_path / "first", hostile(shape, ending, 7_000), ending)  # what is read once
    assert not [note for note in first.notes if "failed" in note]
    once, twice = (
        lines_of(lambda at=size: scanned(tmp_path / f"{at}", hostile(shape, ending, at), ending))
        for size in (7_000, 14_000)
    )
    assert twice <= MOST * once


class _Counted(bytes):
    """Text that counts the bytes that are copied out of it."""

    copied = 0

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, bytes):
            self.copied += len(found)
        return found


def test_a_long_line_is_not_copied_for_each_statement() -> None:
    def copied(size: int) -> int:
        data = _Counted(hostile("one-line", "c", size))
        ENGINE.analyse(Source("x.c", data), "c")
        return data.copied

    assert copied(28_000) <= MOST * copied(14_000)


def test_what_is_around_a_place_is_looked_at_nearby(tmp_path: Path) -> None:
    """Each step outwards takes the parser's library as long as the place is deep."""
    data = hostile("nested-ifs", "c", 14_000)
    assert lines_of(lambda: scanned(tmp_path, data)) < 100 * len(data)


@pytest.mark.parametrize(
    ("shape", "ending"),
    [
        ("parentheses", "c"),
        ("parentheses", "cpp"),
        ("angles", "cpp"),
        ("template-arguments", "cpp"),
        ("brackets", "rs"),
        ("open-comment", "c"),
        ("open-string", "rs"),
    ],
)
def test_the_parser_is_not_given_what_nobody_looks_at(
    shape: str, ending: str, tmp_path: Path
) -> None:
    data = hostile(shape, ending, MEGABYTE)
    tree = parse(data, {"rs": "rust"}.get(ending, ending))  # type: ignore[arg-type]
    assert tree.root_node.descendant_count < 30_000
    lines = {finding.span.line for finding in scanned(tmp_path, data, ending).findings}
    assert lines == {1 if ending == "rs" else 2}, "what is before it is told"


@pytest.mark.parametrize("ending", ["c", "cpp", "rs"])
def test_what_is_left_out_for_its_brackets_is_told(ending: str, tmp_path: Path) -> None:
    report = scanned(tmp_path, hostile("parentheses", ending, 20_000), ending)
    assert report.notes == ("code inside more than 2400 brackets was not analysed",)


def test_deep_brackets_before_what_is_never_closed_are_left_out(tmp_path: Path) -> None:
    data = FLAW.encode() + b"f(" * 200_000 + b"/* " + b"x " * 20_000
    assert parse(data, "c").root_node.descendant_count < 30_000
    report = scanned(tmp_path, data)
    assert [finding.span.line for finding in report.findings] == [2]


def test_what_is_behind_deep_brackets_is_analysed(tmp_path: Path) -> None:
    deep = b"int x = " + b"(" * 5_000 + b"1" + b")" * 5_000 + b";\n"
    report = scanned(tmp_path, deep + FLAW.encode())
    assert [finding.span.line for finding in report.findings] == [3]


def test_brackets_in_strings_and_comments_are_no_nesting(tmp_path: Path) -> None:
    text = b'char *s = "' + b"(" * 5_000 + b'";\n/* ' + b"[" * 5_000 + b" */\n" + FLAW.encode()
    report = scanned(tmp_path, text)
    assert [finding.span.line for finding in report.findings] == [4]
    assert report.notes == ()


@pytest.mark.parametrize("levels", [2_400, 2_401])
@pytest.mark.parametrize("before", [0, 700, 5_000])
def test_brackets_are_counted_to_the_level(levels: int, before: int, tmp_path: Path) -> None:
    """Whatever is closed before, or opened and closed again."""
    data = b"/* " + b")" * before + b" */\n" + b"int a[] = { (1), (2) };\n" * before
    data += b"int x = " + b"(" * levels + b"1" + b")" * levels + b";\n"
    told = [str(note) for note in scanned(tmp_path, data).notes]
    assert any("more than 2400 brackets" in note for note in told) is (levels > 2_400)


def test_of_a_large_text_that_is_no_code_the_beginning_is_analysed(tmp_path: Path) -> None:
    data = RUST_FLAW.encode() + b"int x;\n" * 100_000
    assert parse(data, "rust").root_node.descendant_count < 100_000
    report = scanned(tmp_path, data, "rs")
    assert [finding.span.line for finding in report.findings] == [1]
    assert report.notes == ("the file is hardly Rust; what is behind line 9356 was not analysed",)


def test_a_large_text_with_some_errors_is_analysed_to_its_end(tmp_path: Path) -> None:
    """Unknown macros cause syntax errors, but not one in every few bytes."""
    lines = b"int f(int a) { return MACRO a; }\n" + b"static int t[] = { 1, 2, 3 };\n" * 3
    report = scanned(tmp_path, lines * 2_500 + FLAW.encode())
    assert report.notes == ()
    assert [finding.span.line for finding in report.findings] == [10_002]


def test_shifts_and_comparisons_are_no_templates(tmp_path: Path) -> None:
    shifts = b"int t[] = {" + b"1 << 2, " * 3_000 + b"};\n"
    compared = (
        b"bool f(int a) {\n" + b"  if (a < 3) return true;\n" * 3_000 + b"  return false;\n}\n"
    )
    report = scanned(tmp_path, shifts + compared + FLAW.encode(), "cpp")
    assert report.notes == ()
    assert [finding.span.line for finding in report.findings] == [3_006]


def test_names_that_are_unknown_are_compared_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []
    close = difflib.get_close_matches

    def count(name: str, known: Collection[str], most: int) -> list[str]:
        compared.append(len(known))
        return close(name, known, most)

    monkeypatch.setattr(difflib, "get_close_matches", count)
    text = "".join(f"// jsec-ignore: double-fre{n % 90} why\n" for n in range(900))
    report = scanned(tmp_path, text.encode())
    assert len(report.findings) == 900
    told = [finding for finding in report.findings if "did you mean" in str(finding.message)]
    assert told
    assert sum(size > 0 for size in compared) <= 100, "50 names, each time the file is judged"


def test_a_million_empty_statements_are_no_items(tmp_path: Path) -> None:
    data = FLAW.encode() + b";" * 50_000
    assert len(list(items(parse(data, "c").root_node, "c"))) < 10
    report = scanned(tmp_path, data)
    assert [finding.span.line for finding in report.findings] == [2]


@pytest.mark.parametrize("style", STYLES)
def test_what_comes_to_be_left_out_while_somebody_types_is_left_out_afresh(
    style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With limits that edits pass again and again."""
    monkeypatch.setattr(deep_nesting, "DEEPEST", 2)
    monkeypatch.setattr(deep_nesting, "MOST_PARTS", 3)
    monkeypatch.setattr(parsing, "_LONG_REST", 40)
    assert differences(style, f"left out {style}", 120).differences == []


def test_a_function_too_large_to_be_followed_is_left_to_the_rules(tmp_path: Path) -> None:
    twice = b"void twice(char *p) {\n    free(p);\n    free(p);\n}\n"
    report = scanned(tmp_path / "large", hostile("frees", "c", 200_000) + twice)
    (note,) = report.notes
    assert note.startswith("'f' is too large for data-flow analysis (more than 20000 instructions)")
    assert {one.rule for one in report.findings} == {"gets-call", "double-free"}
    (second,) = [one for one in report.findings if one.rule == "double-free"]
    assert second.trace and second.evidence == "free(p);"
    assert not scanned(tmp_path / "small", hostile("frees", "c", 2_000)).notes


@pytest.mark.parametrize(("ending", "statement"), [("c", "if (n) g();"), ("rs", "g(n);")])
def test_a_body_with_too_many_statements_is_not_lowered(
    ending: str, statement: str, tmp_path: Path
) -> None:
    head = "fn f(n: u8) {" if ending == "rs" else "void f(int n) {"
    report = scanned(tmp_path, f"{head}{f'{statement} ' * 20_001}}}\n".encode(), ending)
    assert any("more than 20000 instructions" in str(note) for note in report.notes)


def test_many_statements_are_counted_before_one_is_lowered() -> None:
    def lines(statement: bytes, size: int) -> int:
        data = b"void f(int n) {" + statement * size + b"}\n"
        root = parse(data, "c").root_node
        unit = Unit(Source("x.c", data), "c", Facts())
        return lines_of(lambda: lower(unit, root))

    assert lines(b"if (n) g(n, 1); ", 20_001) < 2 * lines(b"n; ", 2_000)


_RELEASED = "void g(char *p) { char *q = p; free(p); *q = 0; }\n"
_DIVIDED = """pub fn g(n: usize) -> usize {
    let mut k = 3;
    if n > 0 { k = 0; }
    if n > 1 { n / k } else { 0 }
}
"""
"""What only data flow finds."""


def test_only_the_first_calls_of_one_name_are_examined(tmp_path: Path) -> None:
    def found(before: int) -> tuple[set[int], bool]:
        body = b'printf("x");\n' * before + b"printf(p);\n" + b"char b[8]; gets(b);\n"
        data = b"#include <stdio.h>\nvoid f(char *p) {\n" + body + b"}\n"
        report = scanned(tmp_path / str(before), data)
        lines = {one.span.line - before for one in report.findings}
        return lines, any("more than 10000 calls of one function" in str(n) for n in report.notes)

    assert found(9_999) == ({3, 4}, False)
    assert found(10_000) == ({4}, True), "calls of another name are examined"


@pytest.mark.parametrize(
    ("ending", "short", "flawed"),
    [
        ("c", "int f{}(int n) {{ return n; }}\n", _RELEASED),
        ("cpp", "int f{}(int n) {{ return n; }}\n", _RELEASED),
        ("rs", "fn f{}(n: u8) -> u8 {{ n }}\n", _DIVIDED),
    ],
)
def test_the_first_functions_of_a_file_of_many_short_ones_are_followed(
    ending: str, short: str, flawed: str, tmp_path: Path
) -> None:
    def found(before: int) -> tuple[bool, list[str]]:
        text = "".join(short.format(n) for n in range(before)) + flawed
        report = scanned(tmp_path / str(before), text.encode(), ending)
        return bool(report.findings), [str(note) for note in report.notes]

    assert found(1_999) == (True, [])
    flaw, (note,) = found(2_000)
    assert not flaw
    assert note.startswith("data-flow analysis left out 1 functions")


def test_a_function_is_followed_with_all_of_its_name_or_none(tmp_path: Path) -> None:
    text = "void f(int) {}\n" + "".join(f"void g{n}() {{}}\n" for n in range(2_000))
    report = scanned(tmp_path, (text + "void f(char *) {}\n").encode(), "cpp")
    assert [str(note) for note in report.notes if "left out 3 functions" in str(note)]


def test_following_costs_no_more_beyond_a_size(tmp_path: Path) -> None:
    size = 120_000  # more than what is followed
    short = lines_of(lambda: scanned(tmp_path / "short", hostile("frees", "c", size)))
    long = lines_of(lambda: scanned(tmp_path / "long", hostile("frees", "c", 2 * size)))
    assert long < 1.9 * short  # what is lowered before it is given up is the same


def test_what_a_rule_finds_in_one_function_is_told_a_thousand_times(tmp_path: Path) -> None:
    report = scanned(tmp_path / "many", hostile("prints", "c", 60_000))
    found = Counter(one.rule for one in report.findings)
    assert found.most_common(1)[0][1] == 1_000
    assert any("more than 1000 findings in one declaration" in note for note in report.notes)


def test_so_many_leaks_of_a_function_are_told(tmp_path: Path) -> None:
    body = "  p = malloc(n);\n" * 1_100
    text = f"#include <stdlib.h>\nvoid f(char *p, int n) {{\n{body}}}\n"
    report = scanned(tmp_path, text.encode())
    assert sum(finding.rule == "memory-leak" for finding in report.findings) == 1_000
    assert any("'memory-leak' has more than 1000 findings" in str(n) for n in report.notes)


@pytest.mark.parametrize(
    "text",
    [
        b"int " + b"x, " * 50_000 + b"y;\n",
        b"int x;\n" * 50_001,
        b"struct s { " + b"int m; " * 50_000 + b"};\n",
        b"enum e { " + b"E, " * 50_001 + b"};\n",
    ],
)
def test_declarations_without_end_are_left_out_and_told(text: bytes, tmp_path: Path) -> None:
    report = scanned(tmp_path, FLAW.encode() + text + FLAW.encode())
    line = 3 if text.count(b"\n") == 1 else 50_003
    assert report.notes == (
        f"a declaration of more than 50000 names, or behind as many, was not analysed: line {line}",
    )
    last = 4 + text.count(b"\n")
    assert [finding.span.line for finding in report.findings] == [2, last]


def test_of_a_huge_function_the_beginning_is_examined(tmp_path: Path) -> None:
    flaw, rest = "char b[8]; gets(b);\n", "n = n + 1;\n" * 30_000
    function = f"void f(int n) {{\n{flaw}{rest}{flaw}}}\n"
    report = scanned(tmp_path / "function", function.encode())
    assert [finding.span.line for finding in report.findings] == [2]
    assert any("or more than 300 kB" in str(note) for note in report.notes)
    methods = "".join(
        f"int method_{n}(int number) {{ return number + {n}; }}\n" for n in range(6_400)
    )
    text = f"class C {{\n{methods}void f() {{{flaw}}}\n}};"
    report = scanned(tmp_path / "class", text.encode(), "cpp")
    assert len(text) > 300_000
    assert [finding.span.line for finding in report.findings] == [6_402]
    assert not any("300 kB" in str(note) for note in report.notes)


@pytest.mark.parametrize(
    ("shape", "ending", "line"), [("functions", "c", 15_002), ("functions-rust", "rs", 15_001)]
)
def test_functions_without_end_are_left_out_and_told(
    shape: str, ending: str, line: int, tmp_path: Path
) -> None:
    report = scanned(tmp_path, hostile(shape, ending, 600_000), ending)
    assert report.findings
    told = f"the first 15000 functions of this file were analysed: split it up from line {line} on"
    assert any(told in str(note) for note in report.notes)


@pytest.mark.parametrize("levels", [60, 195])
def test_structs_in_structs_stop_no_analysis(levels: int, tmp_path: Path) -> None:
    nested = b"struct {" * levels + b"int n; " + b"} s;" * levels
    flaw = b"\nint f(int n) { int a[4]; if (n > 3) return a[4]; return 0; }\n"
    report = scanned(tmp_path, nested + flaw)
    assert report.notes == ()
    assert [finding.rule for finding in report.findings] == ["read-beyond-buffer"]

"""Rewrites: applied whole or not at all, and never at the cost of the file."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from folders import Scan, write

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.parse import count_errors, parse
from jarvis_ls.codeintel.source import decode
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.finding import Edit, Finding, Fix, Message, Span
from jarvis_ls.jsec.base.rule import Rule
from jarvis_ls.jsec.engine.rule_runner import Engine
from jarvis_ls.jsec.rules.registry import all_rules
from jarvis_ls.jsec.scan.apply_fixes import FixedFile, apply_fixes, fix_file, write_fixed

pytestmark = pytest.mark.watches()

TWICE = "#include <stdlib.h>\nvoid f(char *p) {\n    free(p);\n    free(p);\n}\n"
FIXTURES = sorted((Path(__file__).parent / "rules").rglob("*.*"))


def with_edits(finding: Finding, *edits: tuple[tuple[int, int, int, int], str]) -> Finding:
    placed = tuple(Edit(Span(*place), text) for place, text in edits)
    return replace(finding, fix=Fix(Message("t"), placed))


def finding() -> Finding:
    (one,) = [x for x in analysed(TWICE.encode(), "a.c") if x.rule == "double-free"]
    return one


def analysed(raw: bytes, name: str) -> list[Finding]:
    source = decode(name, raw)
    language = language_of(name, source.data)
    assert language is not None
    return Engine().analyse(source, language).findings


def applied(text: str, *findings: Finding) -> FixedFile:
    return apply_fixes(decode("a.c", text.encode()), "c", findings)


def on_disk(root: Path, scan: Scan, name: str) -> FixedFile:
    result = scan(root)
    return fix_file(root, name, result.digests[name], result.findings, unsafe=True, limit=10**7)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_file_keeps_encoding_line_ends_and_mode(
    tmp_path: Path, scan_folder: Scan, encoding: str, ending: str
) -> None:
    text = ("// caf\xe9 \xfc\n" + TWICE).replace("\n", ending)
    write(tmp_path, {"a.c": text.encode(encoding)})
    path = tmp_path / "a.c"
    path.chmod(0o751)
    fixed = on_disk(tmp_path, scan_folder, "a.c")
    assert fixed.applied
    write_fixed(tmp_path, fixed)
    with path.open(encoding=encoding, newline="") as file:
        after = file.read()
    assert path.read_bytes()[:4] == text.encode(encoding)[:4]
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert after != text
    assert after.startswith(f"// caf\xe9 \xfc{ending}#include <stdlib.h>{ending}")
    assert after.replace(ending, "").count("\n") == after.replace(ending, "").count("\r") == 0
    again = on_disk(tmp_path, scan_folder, "a.c")
    assert again.after == again.before.data


def test_every_edit_counts_from_the_text_before() -> None:
    one = with_edits(finding(), ((2, 6, 2, 7), "longer_name"), ((1, 1, 1, 1), "// first\n"))
    fixed = applied(TWICE, one)
    assert fixed.after.decode() == "// first\n" + TWICE.replace("f(char", "longer_name(char")


def test_overlapping_rewrites_are_refused() -> None:
    first = with_edits(finding(), ((3, 5, 3, 13), "release(p);"))
    second = with_edits(finding(), ((3, 10, 3, 11), "q"))
    third = with_edits(finding(), ((4, 5, 4, 13), "release(p);"))
    fixed = applied(TWICE, first, second, third)
    assert fixed.applied == [first, third]
    ((refused, reason),) = fixed.refused
    assert (refused, "overlaps" in reason) == (second, True)


def test_the_same_rewrite_of_two_findings_is_applied_once() -> None:
    one = with_edits(finding(), ((1, 1, 1, 1), "#include <string.h>\n"))
    fixed = applied(TWICE, one, replace(one, gid=2))
    assert len(fixed.applied) == 2
    assert fixed.after.count(b"<string.h>") == 1


@pytest.mark.parametrize("text", ["{", ")", '"', "/*", "free((p;"])
def test_a_rewrite_that_breaks_the_syntax_is_refused(text: str) -> None:
    fixed = applied(TWICE, with_edits(finding(), ((3, 5, 3, 13), text)))
    assert fixed.after == TWICE.encode()
    assert "syntax" in fixed.refused[0][1]


def test_rewrites_that_change_behaviour_need_to_be_asked_for() -> None:
    one = with_edits(finding(), ((3, 5, 3, 13), ";"))
    assert one.fix is not None
    unsafe = replace(one, fix=replace(one.fix, safe=False))
    source = decode("a.c", TWICE.encode())
    assert apply_fixes(source, "c", [unsafe]).after == TWICE.encode()
    assert apply_fixes(source, "c", [unsafe], unsafe=True).applied == [unsafe]


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": TWICE})
    result = scan_folder(tmp_path)
    write(tmp_path, {"a.c": TWICE + "\n"})
    with pytest.raises(SkippedFile, match="changed"):
        fix_file(tmp_path, "a.c", result.digests["a.c"], result.findings, unsafe=False, limit=9999)


def test_what_cannot_be_written_back_is_left_alone(tmp_path: Path, scan_folder: Scan) -> None:
    broken = b"\xff\xfe" + TWICE.encode("utf-16-le") + b"\x00"
    write(tmp_path, {"a.c": broken})
    with pytest.raises(SkippedFile, match="encoding"):
        on_disk(tmp_path, scan_folder, "a.c")


@pytest.mark.parametrize(
    "rule", [one for one in all_rules().values() if one.fixable], ids=lambda rule: rule.id
)
def test_fixes_of_every_rule_hold(rule: Rule) -> None:
    """No fix breaks the file, each removes its finding, and a second run changes nothing."""
    shown = 0
    for fixture in FIXTURES:
        if fixture.stem.replace("_", "-") == rule.id:
            shown += fixes_hold(fixture, rule.id)
    assert shown, "a rule that offers fixes shows one in its fixture"


def fixes_hold(fixture: Path, rule: str) -> int:
    raw = fixture.read_bytes()
    source = decode(fixture.name, raw)
    language = language_of(fixture.name, source.data)
    assert language is not None
    mine = [one for one in analysed(raw, fixture.name) if one.rule == rule]
    fixable = [one for one in mine if one.fix is not None]
    fixed = apply_fixes(source, language, fixable, unsafe=True)
    assert not [why for _, why in fixed.refused if "syntax" in why]
    assert count_errors(parse(fixed.after, language)) <= count_errors(parse(raw, language))
    after = [one for one in analysed(fixed.after, fixture.name) if one.rule == rule]
    assert len(after) <= len(mine) - len(fixed.applied)
    left = [one for one in after if one.fix is not None]
    again = apply_fixes(decode(fixture.name, fixed.after), language, left, unsafe=True)
    assert len(again.applied) <= len(fixed.refused)
    return len(fixed.applied)


@pytest.mark.parametrize(
    ("name", "rule", "text"),
    [
        (  # who gave the pointer, or where it came from, has the block still, and frees it
            "a.c",
            "realloc-assign-back",
            "#include <stdlib.h>\nint f(char **s) {\n    char *p = *s;\n    p = realloc(p, 9);\n"
            "    if (!p) {\n        free(*s);\n        return 1;\n    }\n    *s = p;\n"
            "    return 0;\n}\n",
        ),
        (
            "a.c",
            "realloc-assign-back",
            "#include <stdlib.h>\nchar *f(char *p) {\n    p = realloc(p, 9);\n    return p;\n}\n",
        ),
        (  # what C returns is a number: `?` does not compile
            "a.rs",
            "ignored-result",
            "pub fn f(fd: i32) -> Result<(), E> {\n    unsafe {\n        let _ = libc::close(fd);\n"
            "    }\n    Ok(())\n}\n",
        ),
    ],
)
def test_no_rewrite_where_it_would_do_harm(name: str, rule: str, text: str) -> None:
    (one,) = [x for x in analysed(text.encode(), name) if x.rule == rule]
    assert one.fix is None


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (
            "    if (n) {\n        free(p);\n        goto out;\n    }\n    *p = 1;\n"
            "out:\n    free(p);\n",
            "        free(p);\n        p = NULL;\n",
        ),
        ("    while (n--) {\n        free(p);\n    }\n", "        free(p);\n        p = NULL;\n"),
        ("    if (n)\n        drop(p);\n    free(p);\n", ""),  # freed elsewhere, by another name
        (
            "    char *q = p;\n    if (n) {\n        free(q);\n        goto out;\n    }\n    *p "
            "= 1;\n"
            "out:\n    free(p);\n",
            "",
        ),
    ],
)
@pytest.mark.parametrize("name", ["a.c", "a.cpp"])
def test_what_flow_finds_freed_twice_is_cleared_where_that_is_plain(
    tmp_path: Path, scan_folder: Scan, body: str, after: str, name: str
) -> None:
    head = "#include <stdlib.h>\nstatic void drop(char *p) {\n    free(p);\n}\n"
    text = f"{head}void f(int n, char *p) {{\n{body}}}\nvoid g(char *p) {{ drop(p); }}\n"
    write(tmp_path, {name: text})
    found = [one for one in scan_folder(tmp_path).findings if one.rule == "double-free"]
    assert found and all(one.trace for one in found)
    fixed = on_disk(tmp_path, scan_folder, name)
    assert fixed.after.decode() == (
        text.replace(
            after.replace("        p = NULL;\n", ""), after.replace("NULL", _null(name)), 1
        )
        if after
        else text
    )
    write_fixed(tmp_path, fixed)
    left = [one for one in scan_folder(tmp_path).findings if one.rule == "double-free"]
    assert bool(left) is not bool(after)


def _null(name: str) -> str:
    return "nullptr" if name == "a.cpp" else "NULL"


def test_a_pointer_that_is_constant_is_not_cleared() -> None:
    text = TWICE.replace("char *p", "char *const p")
    (one,) = [x for x in analysed(text.encode(), "a.c") if x.rule == "double-free"]
    assert one.fix is None


def test_the_diff_can_be_read() -> None:
    fixed = applied(TWICE, with_edits(finding(), ((4, 5, 4, 13), "p = NULL;")))
    assert fixed.diff().splitlines()[:3] == ["--- a/a.c", "+++ b/a.c", "@@ -1,5 +1,5 @@"]
    assert "-    free(p);" in fixed.diff()
    assert "+    p = NULL;" in fixed.diff()

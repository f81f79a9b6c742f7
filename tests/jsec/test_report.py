"""Reports for people and programs."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from folders import FLAWED, RULE, Scan, write
from markdown_it import MarkdownIt

from jarvis_ls import __version__
from jarvis_ls.core.finding import Finding, Message, Related, Span
from jarvis_ls.jsec.base.categories import CATEGORIES
from jarvis_ls.jsec.report.html import render_html
from jarvis_ls.jsec.report.json import render_json, render_jsonl
from jarvis_ls.jsec.report.markdown import render_markdown
from jarvis_ls.jsec.report.text import Layout, printable, render_text
from jarvis_ls.jsec.scan.result import ScanResult
from jarvis_ls.jsec.scan.source_files import Skipped

EVIL = "<script>alert(1)</script>\x1b[2J\u202e*_`[x](javascript:y)|\n# no"


def evil() -> ScanResult:
    one = Finding(
        rule="own-pattern",
        language="c/cpp",
        category=f"c{EVIL}",
        pattern="p",
        cwe=(22,),
        file=f"d/{EVIL}.c",
        span=Span(1, 1, 1, 3),
        evidence=EVIL,
        message=Message(EVIL),
        suggestion=Message(EVIL),
        confidence=0.5,
        severity="low",
        fingerprint="f",
        trace=(Related(f"d/{EVIL}.c", Span(1, 1, 1, 3), Message(EVIL)),) * 20,
        suppressed=f"comment: {EVIL}",
    )
    found = [one, replace(one, suppressed="", gid=1)]
    return ScanResult(
        "/root", found, {"a.c": ""}, [Skipped(EVIL, EVIL)], [Skipped(EVIL, EVIL)], [EVIL]
    )


def test_text_shows_the_line_with_a_caret(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"d/a.c": FLAWED})
    result = scan_folder(tmp_path)
    lines = render_text(result, result.shown).splitlines()
    assert lines[0] == "d/a.c · 1 finding" and lines[2].startswith("d/a.c:4:5  ")
    at = lines.index("     4 | strcpy(to, from);")
    assert lines[at + 1] == "       | " + "^" * 16
    assert "1 finding (" in "\n".join(lines)
    assert max(len(line) for line in lines) <= 80


def test_people_are_shown_the_path_to_a_finding(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED})
    result = scan_folder(tmp_path)
    steps = tuple(
        Related("a.c", Span(line, 1, line, 2), Message("Step {n}.", (("n", str(line)),)))
        for line in (2, 3)
    )
    (one,) = (replace(finding, trace=steps) for finding in result.shown)
    text = render_text(result, [one])
    assert "\n   1. a.c:2: Step 2.\n   2. a.c:3: Step 3.\n" in text
    assert f"id {one.id}" in text
    assert "\n1. a.c:2: Step 2.\n2. a.c:3: Step 3.\n" in render_markdown(result, [one])
    assert "<ol><li>a.c:2: Step 2.</li><li>a.c:3: Step 3.</li></ol>" in render_html(result, [one])
    many = replace(one, trace=steps * 10)
    assert f"8 more steps (`jsec explain-finding {one.id}`)" in render_text(result, [many])


def test_text_keeps_the_caret_below_wide_and_astral_characters(
    tmp_path: Path, scan_folder: Scan
) -> None:
    write(tmp_path, {"a.c": 'void f(char *a) {\n    puts("漢字\U0001f600"); strcpy(a, a);\n}\n'})
    result = scan_folder(tmp_path)
    (one,) = [x for x in result.findings if x.rule == RULE]
    lines = render_text(result, [one]).splitlines()
    at = next(n for n, line in enumerate(lines) if "strcpy(a, a)" in line and "|" in line)
    wide = sum(1 for char in lines[at].partition("strcpy")[0] if ord(char) > 0x2000)
    assert lines[at + 1].index("^") == lines[at].index("strcpy") + wide


def test_text_cuts_long_lines(tmp_path: Path, scan_folder: Scan) -> None:
    long = "int x = 1; " * 4000
    write(tmp_path, {"a.c": f"void f(char *a, char *b) {{ {long} strcpy(a, b); {long} }}\n"})
    result = scan_folder(tmp_path)
    text = render_text(result, result.shown)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "strcpy(a, b)" in text


def test_text_has_colours_only_when_asked(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED})
    result = scan_folder(tmp_path)
    assert "\x1b" not in render_text(result, result.shown)
    coloured = render_text(result, result.shown, Layout(colour=True))
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render_text(result, result.shown)


def test_nothing_in_the_text_moves_the_cursor() -> None:
    result = evil()
    text = render_text(result, result.findings)
    assert not [char for char in text if char != "\n" and not char.isprintable()]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb", "a    b"),
        ("\x1b[0m", "\\x1b[0m"),
        ("a\u202eb", "a\\u202eb"),
        ("漢é", "漢é"),
        ("\r\n", "\\r\\n"),
        ("\u200b", "\\u200b"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_hides_on_a_screen_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_json_has_the_summary_and_the_issues(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED * 3, "b.c": FLAWED, "d.rs": "fn f() {}\n", "e.c": b"\0"})
    result = scan_folder(tmp_path)
    report = json.loads(render_json(result, result.shown))
    summary = report["summary"]
    assert summary["total"] == len(report["issues"]) == 4
    assert summary["by_language"] == {"c/cpp": 4}
    assert sum(summary["by_severity"].values()) == sum(summary["by_category"].values()) == 4
    assert [one["file"] for one in summary["top_risk_files"]] == ["a.c", "b.c"]
    assert summary["top_risk_files"][0]["findings"] == 3
    assert summary["scanned_files"] == 3
    assert summary["scanned_root"] == str(tmp_path)
    assert summary["skipped"] == [{"file": "e.c", "reason": "binary"}]
    scores = [one["score"] for one in report["issues"]]
    assert scores == sorted(scores, reverse=True)
    lines = render_jsonl(result, result.shown).splitlines()
    assert [json.loads(line) for line in lines] == report["issues"]


def test_markdown_shows_text_as_it_is() -> None:
    result = evil()
    html = (
        MarkdownIt("commonmark", {"html": True})
        .enable("table")
        .render(render_markdown(result, result.findings))
    )
    assert "<script" not in html
    assert "<a " not in html
    assert html.count("<h1>") == 1
    assert "&lt;script&gt;" in html


def test_markdown_orders_by_family(tmp_path: Path, scan_folder: Scan) -> None:
    text = "#include <stdlib.h>\nvoid f(char *p) { free(p); free(p); }\n" + FLAWED
    write(tmp_path, {"a.c": text})
    result = scan_folder(tmp_path)
    headings = re.findall(r"^## (.+)$", render_markdown(result, result.shown), re.MULTILINE)
    assert headings.index("Unsafe API") < headings.index("Memory management")


class Page(HTMLParser):
    """Elements of a page and whether they nest."""

    EMPTY = frozenset({"meta", "input", "rect", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag


def test_the_page_needs_nothing_and_runs_nothing() -> None:
    result = evil()
    text = render_html(result, result.findings)
    page = Page()
    page.feed(text)
    assert page.stack == []
    tags = {tag for tag, _ in page.seen}
    assert not tags & {"script", "link", "img", "iframe", "object", "a", "form"}
    assert not any(name.startswith("on") for _, attrs in page.seen for name in attrs)
    assert {"header", "main", "footer", "h1", "svg"} <= tags
    policy = next(a["content"] for t, a in page.seen if a.get("http-equiv"))
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "\x1b" not in text
    assert "url(" not in text


def test_the_page_names_its_parts(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED})
    result = scan_folder(tmp_path)
    text = render_html(result, result.shown)
    page = Page()
    page.feed(text)
    ids = {attrs["id"] for _, attrs in page.seen if "id" in attrs}
    for _, attrs in page.seen:
        for name in ("aria-labelledby", "aria-describedby"):
            assert attrs.get(name) is None or attrs[name] in ids
    boxes = [attrs for tag, attrs in page.seen if tag == "input"]
    assert [one["id"] for one in boxes] == ["show-high", "show-medium", "show-low"]
    assert '<html lang="en">' in text


def test_the_page_begins_with_the_category_of_the_highest_score(
    tmp_path: Path, scan_folder: Scan
) -> None:
    text = "#include <stdlib.h>\nvoid f(char *p) { free(p); free(p); }\n" + FLAWED
    write(tmp_path, {"a.c": text})
    result = scan_folder(tmp_path)
    names = re.findall(r"<summary>([^<]+) \(\d+\)", render_html(result, result.shown))
    assert names == sorted(names, key=lambda name: -_score(result, name))
    assert names.index("Memory management") < names.index("Unsafe API")


def test_the_page_says_what_it_is_of_and_when(
    tmp_path: Path, scan_folder: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.c": FLAWED})
    result = scan_folder(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    page = render_html(result, result.shown)
    assert f"<p>{tmp_path}, 2023-11-14 22:13 UTC, jsec {__version__}</p>" in page
    for severity in ("high", "medium", "low"):  # the legend of the chart
        assert f">{severity}</text>" in page


def _score(result: ScanResult, name: str) -> float:
    return sum(found.score for found in result.shown if CATEGORIES[found.category] == name)

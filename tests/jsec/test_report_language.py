"""Reports in the language of their reader, and the names of families, the same everywhere."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from folders import FLAWED, Scan, write

from jarvis_ls.core.columns import columns
from jarvis_ls.core.finding import Message, Related, Span
from jarvis_ls.core.translations import CHINESE
from jarvis_ls.core.words import Words, from_json, to_json
from jarvis_ls.jsec.base.categories import CATEGORIES, category_name
from jarvis_ls.jsec.engine.rule_pages import rule_pages
from jarvis_ls.jsec.local.rust.panics import _EXTERNAL
from jarvis_ls.jsec.local.rust.values import _SOURCES
from jarvis_ls.jsec.report.html import render_html
from jarvis_ls.jsec.report.markdown import render_markdown
from jarvis_ls.jsec.report.render import render
from jarvis_ls.jsec.report.spoken import IN_ENGLISH, speaker
from jarvis_ls.jsec.report.text import Layout, render_text
from jarvis_ls.jsec.scan.result import ScanResult
from jarvis_ls.jsec.scan.source_files import Skipped

ROOT = Path(__file__).resolve().parents[2]
LABELS = ROOT / "client-vscode/src/features/findings/labels.ts"
EDITOR = ROOT / "l10n/bundle.l10n.zh-cn.json"


@pytest.fixture
def result(tmp_path: Path, scan_folder: Scan) -> ScanResult:
    """Everything a report can tell: findings, hidden ones, a way, what was left out, a note."""
    write(
        tmp_path,
        {
            "a.c": FLAWED,
            "b.c": FLAWED.replace(
                "strcpy(to, from);",
                "strcpy(to, from); // jsec-ignore: unbounded-string-copy not here",
            ),
        },
    )
    found = scan_folder(tmp_path)
    found.findings = [
        replace(one, trace=(Related(one.file, Span(1, 1, 1, 2), one.message),) * 20)
        for one in found.findings
    ]
    found.skipped = [
        Skipped("p.c", "a named pipe"),
        Skipped("q.c", Words("the analysis failed: {why}", why="ValueError")),
    ]
    found.notes = [
        Skipped(
            "a.c", Words("code nested deeper than {levels} levels was not analysed", levels=200)
        )
    ]
    found.stale_baseline, found.cached = 2, 1
    return found


def test_every_family_has_a_name_and_the_editor_has_the_same() -> None:
    assert {page.category for page in rule_pages()} - set(CATEGORIES) == set()
    shown = LABELS.read_text("utf-8").partition("function categoryName")[2]
    assert dict(re.findall(r"(\w+): l10n\.t\('([^']+)'\)", shown.partition("};")[0])) == CATEGORIES
    chinese, say = json.loads(EDITOR.read_text("utf-8")), speaker(CHINESE)
    assert {name: say(name) for name in CATEGORIES.values()} == {
        name: chinese[name] for name in CATEGORIES.values()
    }
    assert category_name("not_known_yet", say) == "Not known yet"


def test_words_in_a_message_are_translated_but_no_names_of_code() -> None:
    say = speaker(CHINESE)
    template = "Untrusted input from {source} is used as the address '{address}'."
    args = (("source", "the command line"), ("address", "Delete"))
    assert say.text(Message(template, args)) == "来自命令行的不可信输入被用作地址 'Delete'。"
    operations = {*_EXTERNAL.values(), *(words for _, words in _SOURCES)}
    for words in sorted(operations):
        assert " " in words
        assert say(words) != words


@pytest.mark.parametrize("renders", [render_html, render_markdown])
def test_families_stand_in_reports_by_name(renders: object, result: ScanResult) -> None:
    assert callable(renders)
    english = renders(result, result.shown)
    assert "Unsafe API" in english or "Buffer overflow" in english
    for identifier in CATEGORIES:
        assert "_" not in identifier or not re.search(rf"\b{identifier}\b", english)
    assert "缓冲区溢出" in renders(result, result.shown, speaker(CHINESE)) or "不安全的 API" in (
        renders(result, result.shown, speaker(CHINESE))
    )


def test_reports_in_chinese_have_no_english_sentence(result: ScanResult) -> None:
    say = speaker(CHINESE)
    for text in (
        render_text(result, result.findings, say=say),
        render_markdown(result, result.findings, say),
        re.sub(
            r"<style>.*?</style>|<[^>]*>",
            " ",
            render_html(result, result.findings, say),
            flags=re.DOTALL,
        ),
    ):
        kept = re.sub(r"`[^`]*`|FLAWED|^ +\d* \| .*$|^    .*$", "", text, flags=re.MULTILINE)
        assert re.findall(r"[a-z]{2,} (?:[a-z]{2,} )+[a-z]{2,}", kept.replace("not here", "")) == []
        assert "无法" in text or "命名管道" in text


def test_lines_in_chinese_are_no_wider_than_the_terminal(result: ScanResult) -> None:
    result.findings = [replace(one, trace=()) for one in result.findings]
    lines = render_text(result, result.findings, Layout(width=40), speaker(CHINESE)).splitlines()
    prose = [line for line in lines if re.match(r"  [\u4e00-\u9fff→]", line)]
    assert len(prose) > 3
    assert max(columns(line) for line in prose) <= 40


def test_what_programs_read_is_english(result: ScanResult) -> None:
    for form in ("json", "jsonl", "sarif"):
        assert render(form, result, say=speaker(CHINESE)) == render(form, result)
    assert IN_ENGLISH("{count} findings", count=2) == "2 findings"


def test_what_went_through_a_file_is_said_in_chinese_too() -> None:
    template = "code nested deeper than {levels} levels was not analysed"
    note = from_json(json.loads(json.dumps(to_json(Words(template, levels=200)))))
    assert speaker(CHINESE)(note) == "嵌套超过 200 层的代码未分析"
    assert IN_ENGLISH(note) == note == "code nested deeper than 200 levels was not analysed"
    assert speaker(CHINESE)("nothing that anybody knows") == "nothing that anybody knows"

"""Values followed while the user types: after any edits the same is known as if just opened."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from folders import write
from live_files import opened, settled
from two_files import HEADER, LONG, PAST, SHORT, SINK

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.engine.rule_runner import Engine, FileAnalysis
from jarvis_ls.jsec.flow.lower.c.file import Lowering
from jarvis_ls.jsec.flow.program.ir_store import StoreFolder
from jarvis_ls.jsec.live import documents
from jarvis_ls.jsec.live.records import LiveResult, TextChange
from jarvis_ls.jsec.scan.cache import Cache
from jarvis_ls.jsec.scan.scanner import Effort, scan_files
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.settings.settings import Settings

LOCAL = """\
#include <stdlib.h>
#include <string.h>
static int limit = 5;
static void fill(char *to, int count) {
    for (int i = 0; i < count; i++)
        to[i] = 'x';
}
void one(void) {
    char room[8];
    fill(room, 9);
}
void two(void) {
    char *p = malloc(4);
    if (p == NULL)
        return;
    free(p);
    free(p);
}
int three(int a) {
    return a / (limit - 5);
}
"""


def scanned(root: Path) -> tuple[StoreFolder, dict[str, str]]:
    """What a scan of a folder keeps of its functions."""
    cache = Cache(root)

    async def units() -> dict[str, str]:
        listing = list_sources(root, Settings())
        reports = [
            one async for one in scan_files(listing, Settings(), effort=Effort(1), cache=cache)
        ]
        return {one.path: one.unit for one in reports}

    return cache.flow, asyncio.run(units())


def flaws(result: LiveResult) -> list[Finding]:
    return [one for one in result.findings if one.rule == PAST]


def test_what_is_only_followed_further_is_neither_checked_nor_lowered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Following takes as many analyses as it has functions; one of them reads the text."""
    monkeypatch.setattr(documents, "FLOW_SECONDS", 0.001)
    done: list[str] = []
    check, declare = Engine.analyse, Lowering.declare

    def count_checks(*args: Any, **named: Any) -> FileAnalysis:
        done.append("check")
        return check(*args, **named)

    def count_lowerings(lowering: Lowering, root: Node) -> None:
        done.append("lower")
        declare(lowering, root)

    monkeypatch.setattr(Engine, "analyse", count_checks)
    monkeypatch.setattr(Lowering, "declare", count_lowerings)
    live = opened(tmp_path, {"a.c": LOCAL})
    first = settled(live, "a.c")
    assert {one.rule for one in first.findings} >= {PAST, "double-free"}
    assert done == ["check", "lower"]
    live.change("a.c", 1, [TextChange("\n" + LOCAL)])
    moved = settled(live, "a.c")
    assert [one.span.line for one in moved.findings] == [
        one.span.line + 1 for one in first.findings
    ]
    assert done == ["check", "lower"] * 2


def test_an_edit_in_one_document_changes_what_is_told_of_another(tmp_path: Path) -> None:
    write(tmp_path, {"a/sink.h": HEADER})
    live = opened(tmp_path, {"a/start.c": LONG, "a/sink.c": SINK})
    (one,) = flaws(settled(live, "a/start.c", "a/sink.c"))
    assert ("a/start.c", 7) in [(step.file, step.span.line) for step in one.trace]
    live.change("a/start.c", 1, [TextChange(SHORT)])
    told = live.analyse("a/start.c")
    assert "a/sink.c" in told.others
    assert flaws(settled(live, "a/sink.c")) == []
    live.change("a/start.c", 2, [TextChange("\n\n" + LONG)])
    (one,) = flaws(settled(live, "a/start.c", "a/sink.c"))
    assert ("a/start.c", 9) in [(step.file, step.span.line) for step in one.trace]


def test_files_that_are_not_open_are_known_from_the_last_scan(tmp_path: Path) -> None:
    write(tmp_path, {"a/sink.h": HEADER, "a/start.c": LONG, "a/sink.c": SINK})
    live = opened(tmp_path, {"a/sink.c": SINK})
    assert flaws(settled(live, "a/sink.c")) == []
    live.set_program(str(tmp_path), *scanned(tmp_path))
    assert len(flaws(settled(live, "a/sink.c"))) == 1
    live.change("a/sink.c", 1, [TextChange(SINK.replace("room[10]", "room[100]"))])
    assert flaws(settled(live, "a/sink.c")) == []
    live.change("a/sink.c", 2, [TextChange(SINK.replace("room[10]", "room[99]"))])
    (one,) = flaws(settled(live, "a/sink.c"))
    assert ("a/start.c", 7) in [(step.file, step.span.line) for step in one.trace]


def test_a_document_that_is_closed_is_known_from_the_last_scan_again(tmp_path: Path) -> None:
    write(tmp_path, {"a/sink.h": HEADER, "a/start.c": LONG, "a/sink.c": SINK})
    live = opened(tmp_path, {"a/sink.c": SINK, "a/start.c": LONG})
    live.set_program(str(tmp_path), *scanned(tmp_path))
    (before,) = flaws(settled(live, "a/start.c", "a/sink.c"))
    assert live.close("a/start.c") == ()  # it is on disk as it was here
    assert flaws(settled(live, "a/sink.c")) == [before]
    live.open("a/start.c", str(tmp_path), "a/start.c", "c", SHORT, 1)
    settled(live, "a/start.c")
    assert flaws(settled(live, "a/sink.c")) == []
    assert live.close("a/start.c") == ("a/sink.c",)
    assert flaws(settled(live, "a/sink.c")) == [before]


def test_closing_a_document_says_of_which_others_less_is_known(tmp_path: Path) -> None:
    write(tmp_path, {"a/sink.h": HEADER})
    live = opened(tmp_path, {"a/start.c": LONG, "a/sink.c": SINK, "a/other.c": LOCAL})
    settled(live, "a/other.c", "a/start.c", "a/sink.c")
    assert live.close("a/start.c") == ("a/sink.c",)
    assert flaws(settled(live, "a/sink.c")) == []


MIDDLE = """\
#include "sink.h"
int ready(void);
void middle(void) {
    if (!ready())
        return;
    put("much longer than ten");
}
"""


def test_a_function_elsewhere_that_comes_here_no_more_takes_its_flaw_along(tmp_path: Path) -> None:
    write(tmp_path, {"a/sink.h": HEADER, "a/middle.c": MIDDLE})
    yes, no = "int ready(void) { return 1; }\n", "int ready(void) { return 0; }\n"
    live = opened(tmp_path, {"a/ready.c": yes, "a/sink.c": SINK})
    live.set_program(str(tmp_path), *scanned(tmp_path))
    assert len(flaws(settled(live, "a/ready.c", "a/sink.c"))) == 1
    live.change("a/ready.c", 1, [TextChange(no)])
    told = live.analyse("a/ready.c")
    while told.more and not told.others:
        told = live.analyse("a/ready.c")
    assert told.others == ("a/sink.c",)
    assert flaws(live.analyse("a/sink.c")) == []


def test_a_file_is_settled_when_those_that_come_to_it_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "FLOW_SECONDS", 0)  # one function at a time
    write(tmp_path, {"a/sink.h": HEADER})
    live = opened(tmp_path, {"a/start.c": LONG, "a/sink.c": SINK})
    assert len(flaws(settled(live, "a/start.c", "a/sink.c"))) == 1
    live.close("a/sink.c")
    settled(live, "a/start.c")
    live.open("a/sink.c", str(tmp_path), "a/sink.c", "c", SINK, 1)
    told = live.analyse("a/sink.c")
    while not told.settled:
        told = live.analyse("a/sink.c")
    assert len(flaws(told)) == 1


def test_after_any_edits_the_same_is_known_as_if_just_opened(tmp_path: Path) -> None:
    chance = random.Random(7)
    pieces = [
        "5",
        "9",
        "x",
        ";",
        "\n",
        "free(p);",
        "{",
        "}",
        "int n = 0;",
        "limit = 3;",
        "",
        "static int limit = 5;\n",
        "void four(void) { one(); }\n",
        "room",
    ]
    live, text, seen = opened(tmp_path, {"a.c": LOCAL}), LOCAL, 0
    for version in range(1, 16):
        start = chance.randrange(len(text))
        end = min(len(text), start + chance.choice([0, 0, 1, 2, 12]))
        new = chance.choice(pieces)
        change = TextChange(new, (*_position(text, start), *_position(text, end)))
        text = text[:start] + new + text[end:]
        live.change("a.c", version, [change])
        seen += bool(live.analyse("a.c").findings)
        if version % 3 == 0:
            fresh = settled(opened(tmp_path, {"a.c": text}), "a.c")
            assert settled(live, "a.c").findings == fresh.findings
    assert seen


def test_flow_that_is_off_follows_nothing(tmp_path: Path) -> None:
    live = opened(tmp_path, {"a/start.c": LONG, "a/sink.c": SINK})
    live.set_flow(str(tmp_path), False)
    told = live.analyse("a/sink.c")
    assert not told.more
    assert [one.rule for one in told.findings] == ["unbounded-string-copy"]


def _position(text: str, index: int) -> tuple[int, int]:
    before = text[:index]
    return before.count("\n"), len(before) - before.rfind("\n") - 1


def test_a_record_within_a_function_that_stayed_survives_edits_elsewhere(tmp_path: Path) -> None:
    def text(lines: int) -> str:
        return (
            "static int first(void) {\n" + "    ;\n" * lines + f"    return {lines};\n}}\n"
            "#define FIELDS struct { int length; char *text; }\n"
            "int second(int a) {\n"
            "    struct local { char room[8]; int at; } l;\n"
            "    FIELDS f = { 3, 0 };\n"
            "    union { int i; float g; } u;\n"
            "    u.i = a + first();\n"
            "    l.room[8] = u.i;\n"
            "    return a / (f.length - 3);\n"
            "}\n"
        )

    live = opened(tmp_path, {"a.c": text(1)})
    before = [one.rule for one in settled(live, "a.c").findings]
    for lines in (2, 1, 3, 5):
        live.change("a.c", lines, [TextChange(text(lines))])
        result = settled(live, "a.c")
        assert [one.rule for one in result.findings] == before
        assert result.notes == []


def test_a_function_too_large_to_be_followed_is_said_while_others_are(tmp_path: Path) -> None:
    large = "void large(char *p, int n) {\n" + "    if (n & 1) p++;\n" * 6_000 + "}\n"
    live = opened(tmp_path, {"a.c": LOCAL + large})
    told = settled(live, "a.c")
    (note,) = told.notes
    assert note.startswith("'large' is too large for data-flow analysis")
    assert PAST in [one.rule for one in told.findings]
    live.change("a.c", 1, [TextChange(LOCAL.replace("fill(room, 9)", "fill(room, 8)") + large)])
    told = settled(live, "a.c")
    assert told.notes == [note]
    assert PAST not in [one.rule for one in told.findings]
    live.change("a.c", 2, [TextChange(LOCAL)])
    assert settled(live, "a.c").notes == []

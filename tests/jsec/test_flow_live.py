"""Values followed while the user types: after any edits the same is known as if just opened."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from folders import write
from live_files import opened, settled
from two_files import HEADER, LONG, PAST, SHORT, SINK

from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.live.records import LiveResult, TextChange
from jarvis_ls.jsec.scan.cache import Cache
from jarvis_ls.jsec.scan.scanner import scan_files
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


def flaws(result: LiveResult) -> list[Finding]:
    return [one for one in result.findings if one.rule == PAST]


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
    cache = Cache(tmp_path)

    async def scanned() -> dict[str, str]:
        listing = list_sources(tmp_path, Settings())
        reports = [one async for one in scan_files(listing, Settings(), jobs=1, cache=cache)]
        return {one.path: one.unit for one in reports}

    units = asyncio.run(scanned())
    live = opened(tmp_path, {"a/sink.c": SINK})
    assert flaws(settled(live, "a/sink.c")) == []
    live.set_program(str(tmp_path), cache.flow, units)
    assert len(flaws(settled(live, "a/sink.c"))) == 1
    live.change("a/sink.c", 1, [TextChange(SINK.replace("room[10]", "room[100]"))])
    assert flaws(settled(live, "a/sink.c")) == []
    live.change("a/sink.c", 2, [TextChange(SINK.replace("room[10]", "room[99]"))])
    (one,) = flaws(settled(live, "a/sink.c"))
    assert ("a/start.c", 7) in [(step.file, step.span.line) for step in one.trace]


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

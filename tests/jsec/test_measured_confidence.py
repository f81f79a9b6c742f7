"""Confidence is no higher than what was found true of findings like it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from folders import Scan, write

from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.findings import measured_confidence
from jarvis_ls.jsec.findings.measured_confidence import share_true

BENCH = Path(__file__).parents[1] / "bench"

SWITCHED = """#include <stdlib.h>
#include <stdio.h>
struct job {{ int kind; }};
int is_first(struct job *job);
int may_read(struct job *job, void *into);
void show(void *text);
int run(struct job *job, char *room) {{
    void *text = is_first(job) ? malloc(100) : room;
    if (!text || !may_read(job, text)) {{
        if ({}(job)) free(text);
        return 0;
    }}
    show(text);
    return 1;
}}
int main(int argc, char **argv) {{
    struct job job = {{argc}};
    char room[100];
    return run(&job, room);
}}
"""


def measure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measured", BENCH / "measure" / "measured.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_that_of_the_judged_findings() -> None:
    told = Path(measured_confidence.__file__).with_name("measured.txt").read_text("utf-8")
    assert told == measure().table(BENCH / "judged.jsonl"), "run calibration.py --table"


def test_few_judged_findings_prove_little() -> None:
    assert share_true(0, 0) == pytest.approx(1 / 3)
    assert share_true(1, 1) < 0.65 < share_true(9, 12)
    assert share_true(0, 12) < 0.1


def only(found: list[Finding], rule: str) -> Finding:
    (finding,) = [finding for finding in found if finding.rule == rule]
    return finding


def test_what_a_function_shows_by_itself_is_said_firmly(tmp_path: Path, scan_folder: Scan) -> None:
    plain = "void f(void) { char text[8]; text[8] = 0; g(text); }\n"
    hidden = "#define LAST 8\nvoid f(void) { char text[8]; text[LAST] = 0; g(text); }\n"
    found = scan_folder(write(tmp_path, {"a.c": plain, "b.c": hidden})).findings
    one, other = (f for f in found if f.rule == "write-past-buffer")
    assert (one.file, other.file) == ("a.c", "b.c")
    assert one.confidence >= 0.8 and one.severity == "high"
    assert other.confidence < 0.6 and other.severity == "low"


def test_a_null_pointer_that_is_always_used_is_not_said_firmly(
    tmp_path: Path, scan_folder: Scan
) -> None:
    found = scan_folder(write(tmp_path, {"a.c": "int f(void) { int *p = 0; return *p; }\n"}))
    assert 0.5 < only(found.findings, "null-dereference").confidence < 0.6


REMOVED = """#include <stdio.h>
#include <stdlib.h>
struct part {{ char *name, *note; int *count; }};
struct part *find(const char *name);
void renew(struct part *part);
int remove_part(const char *name) {{
    struct part *part = find(name);
    if (part == NULL)
        return -1;
    {}
    return 0;
}}
"""
USE = 'printf("removed: %s", part->note);'


@pytest.mark.parametrize(
    ("statements", "sure"),
    [
        (f"free(part->note);\n    {USE}", True),
        (f'free(part->note); /* x = y */\n    puts("{{}}=");\n    {USE}', True),
        (f"if (part->count)\n        free(part->note);\n    {USE}", False),
        (f"free(part->note);\n    renew(part);\n    {USE}", False),
        (f"free(part->note);\n    part->note = find(name)->name;\n    {USE}", False),
        (f"free(part->note);\n    part++;\n    {USE}", False),
        (f"free(part->note);\n    RENEW(part);\n    {USE}", False),
        (f"free(part->note);\n    if (*part->count) {USE}", False),
        (f"free(part->note);\n    if (*part->count) return 1; else {USE}", False),
    ],
)
def test_a_use_right_behind_the_free_is_said_firmly(
    statements: str, sure: bool, tmp_path: Path, scan_folder: Scan
) -> None:
    text = REMOVED.format(statements)
    found = scan_folder(write(tmp_path, {"a.c": text})).findings
    firm = [f for f in found if f.rule == "use-after-free" and f.confidence >= 0.6]
    assert [f.severity for f in firm] == ["high"] * sure


@pytest.mark.parametrize(("asked", "sure"), [("is_first", False), ("may_free", True)])
def test_one_question_with_two_answers_is_doubtful(
    asked: str, sure: bool, tmp_path: Path, scan_folder: Scan
) -> None:
    text = SWITCHED.format(asked).replace(
        "int may_read", "int may_free(struct job *);\nint may_read"
    )
    finding = only(scan_folder(write(tmp_path, {"a.c": text})).findings, "free-of-non-heap-memory")
    assert (finding.confidence > 0.52) is sure

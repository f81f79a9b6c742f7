"""`jsec explain-finding`: the path to a finding, with the lines it goes through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import FLAWED, jsec, write

from jarvis_ls.core.finding import Finding, Message, Related, Span
from jarvis_ls.jsec.scan import records
from jarvis_ls.jsec.scan.project import digest_of
from jarvis_ls.jsec.scan.result import ScanResult

READER = '#include <stdlib.h>\nchar *read_name(void) {\n    return getenv("NAME");\n}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "project", {"a.c": FLAWED, "lib/read.c": READER})


def keep(root: Path, trace: tuple[Related, ...]) -> Finding:
    """Leave what a scan leaves that found one flaw."""
    finding = Finding(
        rule="write-past-end",
        language="c/cpp",
        category="buffer_overflow",
        pattern="strcpy",
        cwe=(121,),
        file="a.c",
        span=Span(4, 5, 4, 21),
        evidence="strcpy(to, from);",
        message=Message("Too long."),
        suggestion=Message("Check it."),
        confidence=0.9,
        severity="high",
        fingerprint="0123456789abcdef",
        trace=trace,
        gid=1,
    )
    files = {name: digest_of((root / name).read_bytes()) for name in ("a.c", "lib/read.c")}
    records.write(root, ScanResult(str(root), [finding], files, []))
    return finding


PATH = (
    Related("lib/read.c", Span(3, 12, 3, 26), Message("It comes from the environment.")),
    Related("a.c", Span(4, 5, 4, 21), Message("It is copied to {size} bytes.", (("size", "4"),))),
)


@pytest.mark.parametrize("by", ["id", "gid", "fingerprint"])
def test_a_finding_is_shown_with_the_lines_of_its_path(root: Path, by: str) -> None:
    finding = keep(root, PATH)
    run = jsec("explain-finding", str(getattr(finding, by)), cwd=root)
    lines = run.stdout.splitlines()
    assert lines[0] == "a.c:4:5"
    assert f"id {finding.id}" in lines[1] and "CWE-121" in lines[1]
    first, second = lines.index("  1. lib/read.c:3"), lines.index("  2. a.c:4")
    assert lines[first + 1 : first + 3] == [
        "  It comes from the environment.",
        '     3 | return getenv("NAME");',
    ]
    assert lines[first + 3] == "       | " + " " * 7 + "^" * 14
    assert lines[second + 1] == "  It is copied to 4 bytes."
    assert "Changed since" not in run.stdout


COPIES = r"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define API(name) name
char out_name[100];

static int has_suffix(const char *name, const char *suffix) {
    return strlen(name) >= strlen(suffix);
}

int map_suffix(char *name, const char *old, const char *new) {
    if (!has_suffix(name, old)) return 0;
    strcat(name, new);
    return 1;
}

void *take(void *opaque, int items, int size) {
    void *block = malloc(items * size);
    return block;
}

const char *API(last_error)(const char **texts, int *number) {
    *number = 1;
    return texts[1];
}

int main(int argc, char **argv) {
    FILE *out;
    if (argc < 3) return 2;
    out = fopen(argv[2], "wb");
    if (out == NULL) return 1;
    fwrite(out_name, 1, sizeof(out_name), out);
    fclose(out);
    return 0;
}
"""

WAYS = {
    "strcat(name, new);": [
        "'name', 'old', 'new' are parameters of the externally visible 'map_suffix'.",
        "Assuming 'has_suffix(name, old)' is true.",
    ],
    "malloc(items * size)": [
        "'opaque', 'items', 'size' are parameters of the externally visible 'take'."
    ],
    "*number = 1;": ["'texts', 'number' are parameters of the externally visible 'last_error'."],
    "fwrite(": ["The arguments of 'main' come from the command line.", "Opened by fopen()."],
}


def test_what_a_rule_sees_without_flow_has_the_way_that_flow_knows(tmp_path: Path) -> None:
    root = write(tmp_path / "copies", {"names.c": COPIES})
    jsec("scan", "--format", "json", "-o", "found.json", cwd=root, status=None)
    found = json.loads((root / "found.json").read_text())["issues"]
    for sink, said in WAYS.items():
        line = COPIES[: COPIES.index(sink)].count("\n") + 1
        steps = next(
            texts
            for issue in found
            if issue["line"] == line
            if (texts := [step["message"] for step in issue["trace"]])[-1:]
            == [issue["description"]]
        )
        assert [step for step in said if step in steps] == said, (sink, steps)
    gid = next(issue["gid"] for issue in found if "strcat" in issue["evidence"])
    shown = jsec("explain-finding", str(gid), cwd=root).stdout
    assert "Assuming 'has_suffix(name, old)' is true." in shown and "strcat(name, new);" in shown


def test_what_changed_since_the_scan_is_said(root: Path) -> None:
    keep(root, PATH)
    (root / "lib/read.c").unlink()
    run = jsec("explain-finding", "1", ".", cwd=root)
    assert "Changed since the scan; line numbers may be off: lib/read.c" in run.stdout
    assert "1. lib/read.c:3" in run.stdout


def test_a_finding_without_a_path(root: Path) -> None:
    keep(root, ())
    assert "has no path" in jsec("explain-finding", "1", cwd=root).stdout


def test_a_finding_that_is_not_there(root: Path) -> None:
    run = jsec("explain-finding", "C000000", cwd=root, status=2)
    assert "has not been scanned yet; run `jsec scan` there first" in run.stderr
    keep(root, PATH)
    run = jsec("explain-finding", "C000000", cwd=root, status=2)
    assert "unknown finding 'C000000' (the last scan has 1)" in run.stderr


def test_records_that_were_damaged_are_as_good_as_not_there(root: Path) -> None:
    keep(root, PATH)
    file = root / ".jarvis/sec/candidates.jsonl"
    file.write_text('{"id": "C1", "gid": 1}\n[]\n{"torn\n' + file.read_text())
    assert "the last scan has 1" in jsec("explain-finding", "C1", cwd=root, status=2).stderr
    assert "1. lib/read.c:3" in jsec("explain-finding", "1", cwd=root).stdout

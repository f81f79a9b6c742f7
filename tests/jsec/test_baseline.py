"""Known findings: they stay known when lines move and files are renamed, and only then."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from folders import FLAWED, Scan, write

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.core.finding import Finding, Message, Span, fingerprint
from jarvis_ls.jsec.findings.baseline import FILE, Baseline, load_baseline, save_baseline
from jarvis_ls.jsec.scan.result import ScanResult

pytestmark = pytest.mark.watches()

TWICE = FLAWED + FLAWED.replace("copy(", "copy_again(")


def accept(scan: Scan, root: Path) -> None:
    result = scan(root, baseline=load_baseline(root))
    save_baseline(root, load_baseline(root).with_findings(result.findings))


def told(scan: Scan, root: Path) -> ScanResult:
    return scan(root, baseline=load_baseline(root))


def test_only_what_is_new_is_told(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED})
    accept(scan_folder, tmp_path)
    assert [one.suppressed for one in told(scan_folder, tmp_path).findings] == ["baseline"]
    write(tmp_path, {"a.c": FLAWED + "void more(char *a, char *b) { strcpy(a, b); }\n"})
    assert [one.span.line for one in told(scan_folder, tmp_path).shown] == [6]


def test_moved_lines_stay_known(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": TWICE})
    accept(scan_folder, tmp_path)
    write(tmp_path, {"a.c": "\n\nint before;\n" + TWICE.replace("    strcpy", "\tstrcpy")})
    assert told(scan_folder, tmp_path).shown == []


def test_one_more_of_the_same_line_is_new(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED})
    accept(scan_folder, tmp_path)
    write(tmp_path, {"a.c": TWICE})
    assert len(told(scan_folder, tmp_path).shown) == 1


SPACES = """#include <stdio.h>
#include <string.h>
void fill(char *out) {
    char small[4];
    sprintf(out, "   ");
    sprintf(out,  "     ");
    strcpy(small, out);
    strcpy(small,  out);
    // jsec-ignore: no-such-rule  because
    // jsec-ignore: no-such-rule because
}
"""
PATTERN = """[[pattern]]
id = "own"
regex = 'sprintf'
languages = ["c"]
message = "Not here."
severity = "low"
"""


def test_lines_that_differ_in_spaces_only_are_told_apart(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": SPACES, ".jarvis/jsec.toml": PATTERN})
    found = scan_folder(tmp_path).findings
    rules = [one.rule for one in found]
    for rule in ("own", "unbounded-sprintf", "write-past-buffer", "unknown-rule-in-suppression"):
        assert rules.count(rule) == 2, rules
    assert len({one.fingerprint for one in found}) == len(found)
    accept(scan_folder, tmp_path)
    (tmp_path / "a.c").rename(tmp_path / "b.c")
    shown = told(scan_folder, tmp_path).shown
    assert {one.rule for one in shown} == {"unknown-rule-in-suppression"}


def test_renamed_files_stay_known(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"old/a.c": TWICE})
    accept(scan_folder, tmp_path)
    (tmp_path / "old" / "a.c").rename(tmp_path / "new.c")
    result = told(scan_folder, tmp_path)
    assert (result.shown, result.stale_baseline) == ([], 0)


def test_an_update_follows_renamed_files(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"old/a.c": TWICE})
    accept(scan_folder, tmp_path)
    (tmp_path / "old" / "a.c").rename(tmp_path / "new.c")
    baseline = load_baseline(tmp_path)
    result = scan_folder(tmp_path, baseline=baseline)
    save_baseline(tmp_path, baseline.without_stale().with_findings(result.findings))
    assert len(load_baseline(tmp_path)) == len(result.findings) == 2
    after = told(scan_folder, tmp_path)
    assert (after.shown, after.stale_baseline) == ([], 0)


def test_a_copy_of_a_file_is_new(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED})
    accept(scan_folder, tmp_path)
    write(tmp_path, {"b.c": FLAWED})
    assert [one.file for one in told(scan_folder, tmp_path).shown] == ["b.c"]


def test_it_shrinks_when_findings_are_gone(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED, "b.c": FLAWED})
    accept(scan_folder, tmp_path)
    write(tmp_path, {"a.c": "int fixed;\n"})
    baseline = load_baseline(tmp_path)
    assert scan_folder(tmp_path, baseline=baseline).stale_baseline == 1
    save_baseline(tmp_path, baseline.without_stale())
    assert len(load_baseline(tmp_path)) == 1


def test_files_that_could_not_be_read_keep_their_entries(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED})
    accept(scan_folder, tmp_path)
    write(tmp_path, {"a.c": b"\x7fELF\2\1\1" + bytes(64)})
    baseline = load_baseline(tmp_path)
    result = scan_folder(tmp_path, baseline=baseline)
    assert [one.path for one in result.skipped] == ["a.c"]
    assert result.stale_baseline == 0
    assert len(baseline.without_stale({"a.c"})) == 1


def test_what_comments_hide_does_not_become_stale(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED})
    accept(scan_folder, tmp_path)
    hidden = FLAWED.replace("from);", "from); // jsec-ignore: unbounded-string-copy fits")
    write(tmp_path, {"a.c": hidden})
    (one,) = told(scan_folder, tmp_path).findings
    assert one.suppressed.startswith("comment")


def test_the_file_is_sorted_with_one_finding_a_line(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"b.c": TWICE, "a.c": FLAWED})
    accept(scan_folder, tmp_path)
    text = (tmp_path / FILE).read_text()
    content = json.loads(text)
    assert list(content["files"]) == ["a.c", "b.c"]
    (ones,) = content["files"]["b.c"].values()
    assert ones == sorted(ones)
    assert all(sum(one in line for line in text.splitlines()) == 1 for one in ones)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "baseline.json"),
        ("[]", "version"),
        ('{"version": 2}', "version"),
        ('{"version": 1, "files": []}', "files"),
        ('{"version": 1, "files": {"a.c": 3}}', "files.a.c"),
        ('{"version": 1, "files": {"a.c": {"r": [3]}}}', "files.a.c"),
        ("[" * 100_000, "baseline.json"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, text: str, what: str) -> None:
    write(tmp_path, {FILE: text})
    with pytest.raises(ConfigError, match=what):
        load_baseline(tmp_path)


def finding(file: str, number: int) -> Finding:
    evidence = f"strcpy(a, b{number});"
    return Finding(
        rule="unbounded-string-copy",
        language="c/cpp",
        category="unsafe_api",
        pattern="strcpy",
        cwe=(121,),
        file=file,
        span=Span(number + 1, 1, number + 1, 5),
        evidence=evidence,
        message=Message("m"),
        suggestion=Message("s"),
        confidence=0.9,
        severity="high",
        fingerprint=fingerprint("unbounded-string-copy", file, evidence, 0),
    )


def test_a_hundred_thousand_entries_cost_little(tmp_path: Path) -> None:
    files = {f"src/{n}.c": [finding(f"src/{n}.c", m) for m in range(200)] for n in range(500)}
    everything = [one for found in files.values() for one in found]
    write(tmp_path, dict.fromkeys(files, ""))
    save_baseline(tmp_path, Baseline({}, lambda _file: True).with_findings(everything))
    started = time.process_time()
    baseline = load_baseline(tmp_path)
    read = time.process_time() - started
    for file, found in files.items():
        assert all(one.suppressed for one in baseline.mark(file, found))
    marked = time.process_time() - started - read
    assert len(baseline) == 100_000
    assert max(read, marked) < 60, "what looks at all of them for each takes hours"

"""What a scan leaves in `.jarvis/sec` for the stages after it."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from folders import FLAWED, Scan, write

from jarvis_ls.core.store import read_records
from jarvis_ls.jsec.findings.baseline import Baseline
from jarvis_ls.jsec.scan import records

CANDIDATES = Path(".jarvis/sec/candidates.jsonl")
FIELDS = list(
    "gid id rule language category pattern cwe file line column end_line end_column "
    "evidence description suggestion confidence severity score fingerprint trace verdict "
    "suppressed".split()
)


def test_candidates_are_numbered_and_hold_every_field(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"b.c": FLAWED, "a/c.c": FLAWED * 2})
    records.write(tmp_path, scan_folder(tmp_path))
    found = list(read_records(tmp_path / CANDIDATES))
    assert [one["gid"] for one in found] == list(range(1, len(found) + 1))
    assert [one["file"] for one in found] == ["a/c.c", "a/c.c", "b.c"]
    assert all(list(one) == FIELDS for one in found)
    one = found[0]
    text = f"{one['file']}:{one['line']}:{one['category']}:{one['pattern']}"
    assert one["id"] == "C" + hashlib.sha1(text.encode()).hexdigest()[:6]
    weight = {"high": 3, "medium": 2, "low": 1}[one["severity"]]
    assert one["score"] == round(one["confidence"] * weight, 2)


def test_git_is_told_to_leave_them_alone_and_to_take_the_baseline(
    tmp_path: Path, scan_folder: Scan
) -> None:
    write(tmp_path, {"a.c": FLAWED})
    records.write(tmp_path, scan_folder(tmp_path))
    (tmp_path / ".jarvis/sec/baseline.json").write_text("{}")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    told = subprocess.run(
        ["git", "-C", tmp_path, "status", "--short", "--untracked-files=all"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert told.splitlines() == ["?? .jarvis/sec/baseline.json", "?? a.c"]


def test_hidden_findings_are_no_candidates(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED})
    known = Baseline({}, lambda _file: True).with_findings(scan_folder(tmp_path).findings)
    write(tmp_path, {"b.c": FLAWED})
    result = scan_folder(tmp_path, baseline=known)
    records.write(tmp_path, result)
    assert [(one.file, one.gid) for one in result.findings] == [("a.c", 0), ("b.c", 1)]
    assert [one["file"] for one in read_records(tmp_path / CANDIDATES)] == ["b.c"]


def test_a_scan_of_some_files_leaves_the_others_as_they_were(
    tmp_path: Path, scan_folder: Scan
) -> None:
    write(tmp_path, {"a.c": FLAWED, "b.c": FLAWED, "c.c": FLAWED})
    records.write(tmp_path, scan_folder(tmp_path))
    write(tmp_path, {"b.c": "int fixed;\n"})
    (tmp_path / "c.c").unlink()
    records.update(tmp_path, scan_folder(tmp_path, only=["b.c"]), {"a.c", "b.c"})
    found = list(read_records(tmp_path / CANDIDATES))
    assert [(one["gid"], one["file"]) for one in found] == [(1, "a.c")]
    assert list(records.read_scanned(tmp_path)) == ["a.c", "b.c"]

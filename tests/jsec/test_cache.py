"""Answers of earlier scans are used while they hold, and never believed otherwise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from folders import FLAWED, Scan, write

from jarvis_ls.jsec.scan import cache as cache_module
from jarvis_ls.jsec.scan.cache import Cache
from jarvis_ls.jsec.scan.result import FileReport, ScanResult
from jarvis_ls.jsec.scan.scanner import Progress

pytestmark = pytest.mark.watches()

STORE = Path(".jarvis/cache/scan.jsonl")
MANY = {f"f{n}.c": FLAWED for n in range(6)}


def same(first: ScanResult, second: ScanResult) -> bool:
    return first.findings == second.findings and first.digests == second.digests


def test_an_unchanged_folder_is_not_scanned_again(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, MANY)
    first = scan_folder(tmp_path, cached=True)
    second = scan_folder(tmp_path, cached=True)
    assert (first.cached, second.cached) == (0, 6)
    assert first.findings
    assert same(first, second)


def test_fixes_and_traces_come_back_whole(tmp_path: Path, scan_folder: Scan) -> None:
    text = "#include <stdlib.h>\nvoid f(char *p) { free(p); free(p); }\n"
    write(tmp_path, {"a.c": text})
    first, second = (scan_folder(tmp_path, cached=True) for _ in range(2))
    assert second.cached == 1
    assert any(one.fix for one in first.findings)
    assert same(first, second)


def test_a_changed_file_is_scanned_again(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, MANY)
    scan_folder(tmp_path, cached=True)
    write(tmp_path, {"f0.c": "int fixed;\n"})
    result = scan_folder(tmp_path, cached=True)
    assert result.cached == 5
    assert "f0.c" not in {one.file for one in result.findings}


def test_a_file_that_is_another_for_a_moment_is_not_kept_without_its_flow(
    tmp_path: Path, scan_folder: Scan
) -> None:
    """A checkout while values are followed: what is kept of the file as it was is not all."""
    text = "#include <stdlib.h>\nint *f(int n) { int a[4]; a[n > 1 ? 9 : 0] = n; return 0; }\n"
    write(tmp_path, {"a.c": text, "b.c": FLAWED})
    expected = scan_folder(tmp_path)
    assert "a.c" in {one.file for one in expected.findings}

    def change(progress: Progress) -> None:
        if progress.stage == "flow":
            write(tmp_path, {"a.c": "int other;\n"})

    scan_folder(tmp_path, cached=True, progress=change)
    write(tmp_path, {"a.c": text})
    assert same(scan_folder(tmp_path, cached=True), expected)


def test_a_renamed_file_is_told_under_its_new_name(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, MANY)
    scan_folder(tmp_path, cached=True)
    (tmp_path / "f0.c").rename(tmp_path / "g.c")
    assert "g.c" in {one.file for one in scan_folder(tmp_path, cached=True).findings}


USES = '#include "run.h"\nvoid f(char *x) { RUN(x); }\n'
ALIAS = "#define RUN system\n"


def commands(result: ScanResult) -> int:
    return sum(78 in one.cwe for one in result.findings)


@pytest.mark.parametrize("change", ["changed", "created", "deleted", "nearer", "indirect"])
def test_a_change_of_an_included_header_counts(
    tmp_path: Path, scan_folder: Scan, change: str
) -> None:
    calm = "#define RUN puts\n"
    before: dict[str, str | bytes] = {"src/a.c": USES, "inc/run.h": calm}
    after: dict[str, str | bytes] = {"inc/run.h": ALIAS}
    if change == "created":
        before.pop("inc/run.h")
    if change == "deleted":
        before["inc/run.h"], after = ALIAS, {}
    if change == "nearer":
        after = {"src/run.h": ALIAS}
    if change == "indirect":
        before["inc/run.h"], before["inc/deep.h"] = '#include "deep.h"\n', calm
        after = {"inc/deep.h": ALIAS}
    write(tmp_path, before)
    first = scan_folder(tmp_path, cached=True)
    assert scan_folder(tmp_path, cached=True).cached == len(before)
    write(tmp_path, after)
    if change == "deleted":
        (tmp_path / "inc/run.h").unlink()
    second = scan_folder(tmp_path, cached=True)
    assert same(second, scan_folder(tmp_path))
    assert (commands(first) == 0, commands(second) == 0) == (
        (False, True) if change == "deleted" else (True, False)
    )


def test_other_patterns_and_another_program_do_not_use_the_answers(
    tmp_path: Path, scan_folder: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, MANY)
    scan_folder(tmp_path, cached=True)
    pattern = "[[pattern]]\nid = 'no-copy'\nregex = 'copy'\nmessage = 'm'\n"
    write(tmp_path, {".jarvis/jsec.toml": pattern})
    result = scan_folder(tmp_path, cached=True)
    assert result.cached == 0
    assert "no-copy" in {one.rule for one in result.findings}
    monkeypatch.setattr(cache_module, "engine_version", lambda: "another")
    assert scan_folder(tmp_path, cached=True).cached == 0


def test_damage_costs_only_what_is_damaged(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {**MANY, ".jarvis/jsec.toml": "flow = false\n"})  # a line for each file
    first = scan_folder(tmp_path, cached=True)
    store = tmp_path / STORE
    lines = store.read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b"strcpy", b"strcpx")
    lines[3] = lines[3][:-20]
    store.write_bytes(b"\n".join(lines)[:-5])
    second = scan_folder(tmp_path, cached=True)
    assert second.cached == 3
    assert same(first, second)
    assert scan_folder(tmp_path, cached=True).cached == 6


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff" * 5000, b"{}\n" * 50, b"0" * 200])
def test_any_content_is_as_good_as_none(tmp_path: Path, scan_folder: Scan, content: bytes) -> None:
    write(tmp_path, {**MANY, str(STORE): content})
    result = scan_folder(tmp_path, cached=True)
    assert (result.cached, len(result.findings) > 0) == (0, True)
    assert scan_folder(tmp_path, cached=True).cached == 6


def test_answers_that_came_with_the_folder_are_not_believed(
    tmp_path: Path, scan_folder: Scan, home: Path
) -> None:
    write(tmp_path, MANY)
    scan_folder(tmp_path, cached=True)
    (home / "cache.key").unlink()  # now it is somebody else's
    result = scan_folder(tmp_path, cached=True)
    assert (result.cached, len(result.findings) > 0) == (0, True)


@pytest.mark.parametrize("left", [b"", b"short"])
def test_a_key_that_a_killed_process_left_unfinished_is_made_anew(
    tmp_path: Path, scan_folder: Scan, home: Path, left: bytes
) -> None:
    write(tmp_path, MANY)
    (home / "cache.key").write_bytes(left)
    assert scan_folder(tmp_path, cached=True).notes == []
    assert scan_folder(tmp_path, cached=True).cached == 6
    assert (home / "cache.key").stat().st_mode & 0o777 == 0o600


def test_the_store_does_not_grow_for_ever(tmp_path: Path) -> None:
    for turn in range(60):
        cache = Cache(tmp_path)
        for number in range(6):
            cache.put(FileReport(f"f{number}.c", digest=f"turn {turn}"))
        cache.close(complete=True)
    assert len((tmp_path / STORE).read_bytes().splitlines()) < 200


def test_git_is_told_to_leave_it_alone(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, MANY)
    scan_folder(tmp_path, cached=True)
    assert (tmp_path / ".jarvis/cache/.gitignore").read_text() == "*\n"


def test_no_rule_is_loaded_when_every_answer_is_known(tmp_path: Path) -> None:
    write(tmp_path, MANY)
    script = (
        "import sys; from jarvis_ls.cli.jsec import main; status = main(sys.argv[1:]);"
        "rules = [name for name in sys.modules if '.rules.c.' in name or '.rules.rust.' in name];"
        "print(status, bool(rules), file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, "scan", str(tmp_path), "--format", "json"]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)]
    assert [one.stderr.split() for one in runs] == [["0", "False"]] * 2
    assert '"cached_files": 6' in runs[1].stdout

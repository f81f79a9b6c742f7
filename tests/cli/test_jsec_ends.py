"""Scans that end early: Ctrl-C, kill -9, a file that takes too long, a full disk."""

from __future__ import annotations

import json
import os
import random
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from commands import FLAWED, command, issues, jsec, write

from tests.support.patience import HANGS

pytestmark = pytest.mark.watches()

SLOW = "void f(int a) {\n" + "  if (a) { a = (a + 1) * (a - 2); }\n" * 40_000 + "}\n"

OVER_TWO_CALLS = """#include <string.h>
static void put(const char *text) {
    char small[8];
    strcpy(small, text);
}
void start(void) {
    put("much longer than eight");
}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def start(root: Path, *arguments: str, **options: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "JARVIS_HOME": str(root.parent / "home")}
    return subprocess.Popen(
        command("scan", *arguments),
        cwd=root,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,  # type: ignore[call-overload]
    )


def wait_for(what: Callable[[], object], seconds: float = HANGS) -> None:
    ends = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < ends, "it did not come"
        time.sleep(0.02)


def answers(root: Path) -> int:
    store = root / ".jarvis/cache/scan.jsonl"
    return store.read_bytes().count(b"\n") if store.exists() else 0


def workers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def test_interrupt_ends_with_what_there_is(root: Path) -> None:
    write(root, {f"{n}.c": FLAWED for n in range(8)} | {"slow.c": SLOW * 4})
    process = start(root, "--format", "json", "--jobs", "2", "--timeout", "120")
    wait_for(lambda: answers(root) >= 8)
    workers = workers_of(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANGS)
    report = json.loads(out)
    assert process.returncode == 130
    assert err == ""
    assert report["summary"]["cancelled"] is True
    assert len(report["issues"]) == 8
    wait_for(lambda: not any(one.is_running() for one in workers))


def test_interrupt_before_anything_was_found(root: Path) -> None:
    write(root, {"slow.c": SLOW * 4})
    process = start(root, "--timeout", "120", "--no-cache")
    wait_for(lambda: workers_of(process))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANGS)
    assert (process.returncode, err) == (130, "")
    assert ", interrupted" in out


def test_a_file_that_takes_too_long_is_named_and_the_rest_goes_on(root: Path) -> None:
    write(root, {"a.c": FLAWED, "slow.c": SLOW * 4, "z.c": FLAWED})
    run = jsec(
        "scan", "--format", "json", "--timeout", "0.5", "--jobs", "1", "--no-cache", cwd=root
    )
    report = json.loads(run.stdout)
    assert {one["file"] for one in report["issues"] if one["rule"] == "jsec.timeout"} == {"slow.c"}
    (skipped,) = report["summary"]["skipped"]
    assert skipped["file"] == "slow.c"
    assert "time limit" in skipped["reason"]
    assert report["summary"]["scanned_files"] == 2
    assert {"a.c", "z.c"} <= {one["file"] for one in report["issues"]}


def test_a_file_that_takes_too_long_keeps_what_was_found(root: Path) -> None:
    text = "".join(
        f"void f{n}(char *p) {{ char b[4]; strcpy(b, p); gets(b); }}\n" for n in range(5_000)
    )
    write(root, {"a.c": FLAWED, "many.c": text})
    run = jsec("scan", "--format", "json", "--timeout", "2", "--jobs", "1", cwd=root)
    report = json.loads(run.stdout)
    found = [issue for issue in report["issues"] if issue["file"] == "many.c"]
    rules = {issue["rule"] for issue in found}
    assert "jsec.timeout" in rules
    assert "gets-call" in rules
    assert len(found) < 10_000
    assert report["summary"]["skipped"] == []
    notes = [note["note"] for note in report["summary"]["notes"] if note["file"] == "many.c"]
    assert any("what they found until then is kept" in note for note in notes)
    again = issues("--timeout", "120", cwd=root)  # no part of an answer is kept
    assert sum(issue["file"] == "many.c" for issue in again) >= 10_000


def valid(root: Path) -> None:
    """No file we keep is torn beyond its last line, and nothing temporary is in the way."""
    for name in ("cache/scan.jsonl", "sec/candidates.jsonl", "sec/scanned.jsonl"):
        path = root / ".jarvis" / name
        if not path.exists():
            continue
        lines = path.read_bytes().split(b"\n")
        for line in lines[:-1]:
            json.loads(line[64:] if name.startswith("cache") else line)
        if name.startswith("sec"):
            assert lines[-1] == b""


def test_kill_at_any_moment_leaves_valid_files_and_loses_nothing(root: Path) -> None:
    write(root, {f"{n}.c": FLAWED * (n % 5 + 1) for n in range(40)})
    expected = issues("--no-cache", cwd=root)
    generator = random.Random(7)
    for _ in range(12):
        process = start(root, "--jobs", "2")
        time.sleep(generator.uniform(0.0, 1.2))
        workers = workers_of(process) if process.poll() is None else []
        process.kill()
        process.communicate()
        valid(root)
        wait_for(lambda workers=workers: not any(one.is_running() for one in workers))  # type: ignore[misc]
    assert issues(cwd=root) == expected
    lines = (root / ".jarvis/sec/candidates.jsonl").read_text().splitlines()
    assert sorted(int(json.loads(line)["gid"]) for line in lines) == list(
        range(1, len(expected) + 1)
    )


def test_kill_keeps_the_answers_so_far(root: Path) -> None:
    write(root, {f"{n}.c": FLAWED for n in range(6)} | {"slow.c": SLOW * 4})
    process = start(root, "--jobs", "2", "--timeout", "120")
    wait_for(lambda: answers(root) >= 6)
    process.kill()
    process.communicate()
    run = jsec("scan", "--exclude", "slow.c", "--format", "json", cwd=root)
    assert json.loads(run.stdout)["summary"]["cached_files"] == 6


def test_a_full_disk_is_said_and_the_report_still_comes(root: Path) -> None:
    write(root, {f"{n}.c": FLAWED * 20 for n in range(4)})
    expected = len(issues("--no-cache", cwd=root))
    before = (root / ".jarvis/sec/candidates.jsonl").read_bytes()

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    process = start(root, preexec_fn=limit)
    out, err = process.communicate(timeout=HANGS)
    assert process.returncode == 0
    assert f"{expected} findings" in out
    assert "cannot write" in out
    assert "File too large" in " ".join(out.split())
    assert "Traceback" not in err
    assert (root / ".jarvis/sec/candidates.jsonl").read_bytes() == before
    begun = [file.name for file in (root / ".jarvis/sec").glob(".*")]
    assert begun == [".gitignore"]  # which is short enough; nothing half written stays
    valid(root)


def test_an_interrupt_while_the_command_begins_is_no_traceback(root: Path) -> None:
    """The signal comes while the arguments are described, before there is a scan."""
    code = (
        # A job in the background of a shell ignores the signal from its start.
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from jarvis_ls.cli import jsec\n"
        "jsec._rules_command = lambda _: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.exit(jsec.main(['scan', '.']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "")


def test_functions_that_the_cache_does_not_take_are_followed_all_the_same(root: Path) -> None:
    write(root, {"a.c": OVER_TWO_CALLS})
    expected = issues("--no-cache", cwd=root)
    assert expected and any(one["trace"] for one in expected)
    (root / ".jarvis/cache").mkdir(exist_ok=True)
    (root / ".jarvis/cache/flow").write_text("no folder: nothing can be kept below it")
    run = jsec("scan", "--format", "json", cwd=root)
    assert json.loads(run.stdout)["issues"] == expected
    assert "Traceback" not in run.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_device_is_said_in_one_line(root: Path) -> None:
    write(root, {"a.c": FLAWED})
    run = jsec("scan", "--quiet", "--output", "/dev/full", cwd=root, status=2)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1), run.stderr
    assert "No space left" in run.stderr
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("scan", "--quiet"),
            cwd=root,
            text=True,
            timeout=HANGS,
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "No space left" in done.stderr


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("--help",), ("explain", "double-free")])
def test_a_reader_that_has_gone_is_not_complained_of(
    arguments: tuple[str, ...], buffered: str
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command(*arguments),
        env={**os.environ, "PYTHONUNBUFFERED": buffered},
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=HANGS,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("buffered", ["", "1"])
def test_output_that_a_full_device_takes_no_more_of_is_said_in_one_line(buffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("rules"),
            env={**os.environ, "PYTHONUNBUFFERED": buffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=HANGS,
            check=False,
        )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "No space left" in done.stderr


def test_a_closed_output_is_none(root: Path) -> None:
    write(root, {"a.c": FLAWED})
    shell = " ".join(["exec", *map(shlex.quote, command("scan", "--fail-on", "low")), ">&-"])
    done = subprocess.run(
        ["sh", "-c", shell],
        cwd=root,
        stderr=subprocess.PIPE,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stderr


def test_a_report_that_does_not_fit_on_the_disk_is_an_error(root: Path) -> None:
    write(root, {"a.c": FLAWED * 30, "report.json": "old"})

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    process = start(root, "--format", "json", "--output", "report.json", preexec_fn=limit)
    _, err = process.communicate(timeout=HANGS)
    assert process.returncode == 2
    assert "cannot write" in err
    assert (root / "report.json").read_text() == "old"


@pytest.mark.parametrize("kind", ["file", "link", "read-only"])
def test_a_folder_that_keeps_nothing_is_scanned_all_the_same(root: Path, kind: str) -> None:
    write(root, {"a.c": FLAWED})
    outside = root.parent / "outside"
    outside.mkdir()
    if kind == "file":
        (root / ".jarvis").write_text("")
    elif kind == "link":
        (root / ".jarvis").symlink_to(outside)
    else:
        (root / ".jarvis").mkdir()
        (root / ".jarvis/cache").write_text("")
        (root / ".jarvis/sec").write_text("")
    run = jsec("scan", cwd=root)
    assert "1 finding" in run.stdout
    assert "not a folder" in run.stdout.replace("\n", " ")
    assert not list(outside.iterdir())

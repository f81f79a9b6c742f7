"""Files that include what has no end: a pipe nobody writes to, a device, more than memory holds."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from project import jc2r
from toolchain import needs_cargo

GOOD = "int good(int a) { return a + 1; }\n"
DIRECT = {
    "pipe": '#include "pipe.h"\nint f(void) { return 1; }\n',
    "through": '#include "through.h"\nint f(void) { return 1; }\n',
    "device": '#include "/dev/zero"\nint f(void) { return 1; }\n',
    "asked": '#if __has_include("pipe.h")\n#endif\nint f(void) { return 1; }\n',
    "linked": '#include "zero.h"\nint f(void) { return 1; }\n',
    "sparse": '#include "sparse.h"\nint f(void) { return 1; }\n',
}
_JOINED = "#define S(x) #x\n#define T(x) S(x)\n#include T({})\nint f(void) {{ return 1; }}\n"
COMPUTED = {"joined": _JOINED.format("/dev/zero"), "waiting": _JOINED.format("pipe.h")}


def project(root: Path, text: str) -> Path:
    root.mkdir()
    (root / "good.c").write_text(GOOD)
    (root / "bad.c").write_text(text)
    (root / "through.h").write_text('#pragma once\n#include "pipe.h"\n')
    (root / "zero.h").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe.h")
    with (root / "sparse.h").open("wb") as file:
        file.truncate(3_000_000_000)
    return root


@pytest.mark.parametrize("text", DIRECT.values(), ids=DIRECT)
def test_what_has_no_end_is_not_read(tmp_path: Path, text: str) -> None:
    root = project(tmp_path / "p", text)
    done = jc2r("scan", "--no-graphs", root)
    assert done.returncode == 1 and "bad.c: not read: it includes" in done.stderr
    assert '"good"' in (root / ".jarvis" / "c2rust" / "symbols.jsonl").read_text()


@pytest.mark.parametrize("text", COMPUTED.values(), ids=COMPUTED)
def test_a_name_that_is_worked_out_ends_its_process_only(tmp_path: Path, text: str) -> None:
    root = project(tmp_path / "p", text)
    done = jc2r("scan", "--no-graphs", root)
    assert done.returncode == 1 and "bad.c: not read: " in done.stderr
    assert '"good"' in (root / ".jarvis" / "c2rust" / "symbols.jsonl").read_text()


@needs_cargo
@pytest.mark.parametrize("name", ["device", "waiting"])
def test_the_rest_is_translated(tmp_path: Path, name: str) -> None:
    root = project(tmp_path / "p", {**DIRECT, **COMPUTED}[name])
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 1 and "bad.c: not translated: not read" in done.stdout, done.stderr
    assert "fn good" in (tmp_path / "p_rs" / "src" / "good.rs").read_text()


def test_a_source_that_is_a_pipe_is_left_out(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    (root / "good.c").write_text(GOOD)
    os.mkfifo(root / "bad.c")
    try:
        done = jc2r("scan", "--no-graphs", root)
    except subprocess.TimeoutExpired:
        pytest.fail("it waits for the pipe")
    assert '"good"' in (root / ".jarvis" / "c2rust" / "symbols.jsonl").read_text()
    assert "Traceback" not in done.stderr

"""`jc2r lift` and `jc2r verify` ended by SIGKILL wherever they are: nothing is lost or doubled."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from project import JC2R, jc2r, write
from toolchain import needs_cargo

pytestmark = [
    needs_cargo,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jc2r lift needs Linux"),
]

PROJECT = {
    "a.h": "struct state { int used, table[4]; };\nint use(struct state *s, int n);\n",
    "a.c": """#include "a.h"
static void put(struct state *s, int n) { s->table[s->used & 3] += n; s->used++; }
int use(struct state *s, int n) {
    int i;
    for (i = 0; i < 3; i++) put(s, n * i);
    return s->table[0];
}
""",
    "b.c": """#include "a.h"
int twice(struct state *s, int n) { int found = 0; if (n > 2) found = 1; s->used = 0;
    if (found) return use(s, n); return use(s, 2 * n); }
""",
}


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".jarvis" not in path.parts
    }


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def builds(crate: Path) -> bool:
    """Whether rustc takes the library as it lies there."""
    made, source = crate / "target" / "checked.rmeta", crate / "src" / "lib.rs"
    command = [
        "rustc",
        "--edition=2021",
        "--crate-type=lib",
        "--emit=metadata",
        "-Awarnings",
        "-o",
        str(made),
        str(source),
    ]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def killed(words: list[object], when: Callable[[float], bool]) -> bool:
    """Start a command and kill it with all it has started once `when`, which is told the seconds;
    whether it was still there."""
    started = time.monotonic()
    process = subprocess.Popen(
        [*JC2R, *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None and not when(time.monotonic() - started):
        time.sleep(0.0005)
    ended = process.poll() is not None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return not ended


def test_lifting_and_comparing_survive_being_killed_anywhere(tmp_path: Path) -> None:
    """At random moments, and right after a pass was put into the crate, before its commit."""
    root, crate = tmp_path / "p", tmp_path / "p_rs"
    write(root, PROJECT)
    git(tmp_path, "init", "--quiet", "p")
    git(root, "add", "a.c")
    before = snapshot(root)
    assert jc2r("run", "--baseline", root).returncode == 0
    seed = random.randrange(1 << 32)
    draw = random.Random(seed)

    lift: list[object] = ["lift", "--cases", 4, root]
    for round_ in range(3):
        place, moment = (crate / "src").stat().st_ino, draw.uniform(0.2, 3)
        at_change = round_ >= 1
        killed(
            lift,
            lambda seconds: (
                (crate / "src").stat().st_ino != place if at_change else seconds > moment  # noqa: B023
            ),
        )
        assert builds(crate), (seed, round_)
    done = jc2r(*lift, "--format", "json")
    assert done.returncode == 0, (seed, done.stderr)

    report = json.loads(done.stdout)
    assert report["before"]["raw_pointers"] == report["before"]["unsafe_functions"] + 1 == 4
    assert report["after"]["raw_pointers"] == 2, "nothing of what killed runs did is lost"
    states = {one["name"]: one["state"] for one in report["functions"]}
    assert states == {"put": "sound", "use": "unsafe", "twice": "unsafe"}, "C calls the last two"
    kept = [one["name"] for one in report["passes"] if one["kept"]]
    assert {"references", "iterators", "flags", "safety"} <= set(kept)
    lifted = git(crate, "log", "--reverse", "--format=%s").splitlines()
    assert lifted[-len(kept) :] == [f"Lifted: {name}" for name in kept], "each once, in order"
    assert git(crate, "status", "--porcelain") == "" and not (crate / "target" / "lifted").exists()

    verify: list[object] = ["verify", "--mutants", 0, "--cases", 10, root]
    moment = draw.uniform(0.2, 3)
    killed(verify, lambda seconds: seconds > moment)
    done = jc2r(*verify)
    assert done.returncode == 0, (seed, done.stdout + done.stderr)
    assert "3 of 3 functions behave like the C" in done.stdout
    records = (root / ".jarvis" / "c2rust" / "equivalence.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["function"] for line in records) == ["put", "twice", "use"]
    assert snapshot(root) == before, "the user's files and index are as they were"


def test_sources_that_stood_aside_when_a_run_was_killed_come_back(tmp_path: Path) -> None:
    """Where a file system cannot exchange two folders, one goes aside before the other comes."""
    root, crate = tmp_path / "p", tmp_path / "p_rs"
    write(root, {"a.c": "int a(int n) { return n + 1; }\n"})
    assert jc2r("run", "--baseline", root).returncode == 0
    (crate / "src").rename(crate / "target" / "before-lift")
    done = jc2r("lift", "--cases", 2, root)
    assert done.returncode == 0, done.stderr
    assert "fn a(" in (crate / "src" / "a.rs").read_text()

"""Moving a project piece by piece: what was not chosen stays in C, and every mixture runs."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from project import jc2r, write
from toolchain import needs_cargo

MAIN = """#include <stdio.h>
#include "sums.h"

static int twice(int x)
{
    return 2 * x;
}

int main(void)
{
    int first = twice(sum(3)), second = sum(4);
    printf("%d %d %d\\n", first, second, count());
    return count();
}
"""
SUMS = """#include "sums.h"

static int calls;

int sum(int n)
{
    calls++;
    return n ? n + sum(n - 1) : 0;
}

int count(void)
{
    return calls;
}
"""
PROJECT = {"main.c": MAIN, "sums.c": SUMS, "sums.h": "int sum(int n);\nint count(void);\n"}
SAID = (9, "12 10 9\n")


def states(root: Path) -> dict[str, Any]:
    progress = json.loads((root / ".jarvis" / "c2rust" / "progress.json").read_text())
    return {one["name"]: one["state"] for one in progress["functions"]}


def outcome(root: Path) -> tuple[int, str]:
    program = root.parent / f"{root.name}_rs" / "target" / "release" / "main"
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout


@needs_cargo
def test_functions_move_one_by_one_and_the_program_stays_the_same(tmp_path: Path) -> None:
    root = tmp_path / "small"
    write(root, PROJECT)
    done = jc2r("run", "--baseline", "--only", "sums.c:sum", root)
    assert done.returncode == 0, done.stderr
    assert states(root) == {"sum": "baseline", "count": "c", "twice": "c", "main": "c"}
    assert "sums.c:11: count stays in C: not chosen for translation yet" in done.stdout
    assert outcome(root) == SAID

    done = jc2r("run", "--baseline", "--only", "main.c", root)
    assert done.returncode == 0, done.stderr
    moved = ("sum", "twice", "main")
    assert states(root) == {"count": "c", **dict.fromkeys(moved, "baseline")}
    assert outcome(root) == SAID

    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    assert set(states(root).values()) == {"baseline"}
    assert outcome(root) == SAID

    again = jc2r("run", "--baseline", "--only", "main.c:twice", root)
    assert "no changes" in again.stdout, "what is in Rust is not taken back"


MIXED = {
    "state.h": """struct state { int (*step)(struct state *, int); int sum; unsigned flags : 3; };
extern struct state shared;
int down(int n);
int up(int n);
void reset(struct state *s);
""",
    "steps.c": """#include "state.h"
static int calls;
static int twice(int n) { static int last = 1; last += n; return 2 * n + last; }
static int stepped(struct state *s, int n) { s->sum += twice(n) + calls++; return s->sum; }
struct state shared = { stepped, 3, 5 };
void reset(struct state *s) { s->step = stepped; s->flags++; calls -= 2; }
int up(int n) { return n > 9 ? calls : down(n + 2) + shared.step(&shared, n); }
""",
    "main.c": """#include <stdio.h>
#include "state.h"
static int depth;
int down(int n) { depth++; return n <= 0 || depth > 20 ? depth : up(n - 1) - 1; }
static void say(const char *what, int n) { printf("%s %d %d %u\\n", what, n, depth, shared.flags); }
int main(void) {
    say("up", up(1));
    reset(&shared);
    for (int i = 0; i < 3; i++) say("step", shared.step(&shared, i));
    say("down", down(4));
    return shared.sum & 127;
}
""",
}
FUNCTIONS = [
    *("steps.c:" + name for name in ("twice", "stepped", "reset", "up")),
    *("main.c:" + name for name in ("down", "say", "main")),
]


@needs_cargo
@pytest.mark.parametrize("seed", range(4))
def test_every_mixture_builds_and_runs_the_same(tmp_path: Path, seed: int) -> None:
    """Statics, a table of functions, a circle through two files: whichever of them are in C."""
    root = tmp_path / "small"
    write(root, MIXED)
    chosen = random.Random(seed).sample(FUNCTIONS, 1 + 3 * seed // 2)
    words = [word for one in chosen for word in ("--only", one)]
    done = jc2r("run", "--baseline", *words, root)
    assert done.returncode == 0, done.stderr
    in_rust = {name for name, state in states(root).items() if state == "baseline"}
    assert in_rust - {"main"} == {one.partition(":")[2] for one in chosen} - {"main"}
    c = tmp_path / "c"
    subprocess.run(["cc", "-o", c, root / "main.c", root / "steps.c"], check=True, timeout=60)
    said = subprocess.run([c], capture_output=True, text=True, timeout=60, check=False)
    rust = subprocess.run(
        [root.parent / "small_rs" / "target" / "release" / "main"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (rust.returncode, rust.stdout) == (said.returncode, said.stdout)


def test_a_file_that_is_not_compiled_cannot_be_chosen(tmp_path: Path) -> None:
    root = tmp_path / "small"
    write(root, PROJECT)
    done = jc2r("run", "--baseline", "--only", "other.c", root)
    assert done.returncode == 2
    assert "other.c: no such C file is compiled in this project." in done.stderr
    assert not (tmp_path / "small_rs").exists()


@pytest.mark.parametrize("function", ["nothing", ""])
def test_a_function_that_is_not_there_is_named(tmp_path: Path, function: str) -> None:
    root = tmp_path / "small"
    write(root, PROJECT)
    done = jc2r("run", "--baseline", "--only", f"sums.c:{function}", root)
    assert done.returncode == 2
    assert f"sums.c:{function}: no such function." in done.stderr


@needs_cargo
@pytest.mark.parametrize("folder", ["crate", "core"])
def test_a_crate_may_be_in_a_folder_that_is_named_as_nothing_in_rust_may(
    tmp_path: Path, folder: str
) -> None:
    root = tmp_path / "project"
    write(root, PROJECT)
    done = jc2r("run", "--baseline", root, "--crate", tmp_path / folder)
    assert done.returncode == 0, done.stdout + done.stderr
    program = tmp_path / folder / "target" / "release" / "main"
    said = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert (said.returncode, said.stdout) == SAID

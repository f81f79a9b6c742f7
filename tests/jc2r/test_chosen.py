"""Moving a project piece by piece: what was not chosen stays in C, and every mixture runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_scan import jc2r, write
from test_translation import needs_cargo

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
    assert "nothing had changed" in again.stdout, "what is in Rust is not taken back"


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
    assert f"sums.c:{function}: there is no such function." in done.stderr

"""`jc2r optimize`: what clippy is sure of, as long as the crate behaves like the C."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from project import jc2r, write
from toolchain import needs_cargo

pytestmark = [
    needs_cargo,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jc2r optimize needs Linux"),
    pytest.mark.skipif(shutil.which("cargo-clippy") is None, reason="needs clippy"),
]

C = """\
int weigh(int a, int b) { int sum = a; if (b > 2) { sum = sum * 31 + b; } return sum; }
"""

CLIPPY = """\
#!{python}
'''Suggests a change that is right, one that is wrong, and one that does not build.'''
import json, pathlib, sys
manifest = pathlib.Path(sys.argv[sys.argv.index("--manifest-path") + 1])
data = (manifest.parent / "src" / "a.rs").read_bytes()
for lint, old, new in (
    ("broken", b"-> i32", "-> Missing"),
    ("right", b"return sum;", "sum"),
    ("wrong", b"31i32", "33i32"),
):
    if old not in data:
        continue
    at = data.index(old)
    span = {{"file_name": "src/a.rs", "byte_start": at, "byte_end": at + len(old)}}
    sure = {{"suggestion_applicability": "MachineApplicable"}}
    child = {{**span, **sure, "suggested_replacement": new}}
    print(json.dumps({{"reason": "compiler-message", "message": {{
        "level": "warning", "message": lint, "code": {{"code": "clippy::" + lint}},
        "spans": [{{**span, "is_primary": True}}], "children": [{{"spans": [child]}}]}}}}))
"""


def translated(folder: Path) -> Path:
    root = folder / "p"
    write(root, {"a.c": C})
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    return root


def commits(root: Path) -> list[str]:
    command = ["git", "-C", str(root.parent / "p_rs"), "log", "--reverse", "--format=%s"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def test_each_lint_is_a_commit_and_nothing_is_left_for_a_second_run(tmp_path: Path) -> None:
    root = translated(tmp_path)
    file = tmp_path / "p_rs" / "src" / "a.rs"
    before, history = file.read_bytes(), commits(root)
    done = jc2r("optimize", "--dry-run", "--lint", "needless_return", "--format", "json", root)
    assert done.returncode == 0, done.stderr
    assert [step["lint"] for step in json.loads(done.stdout)["steps"]] == [
        "clippy::needless_return"
    ]
    assert file.read_bytes() == before and commits(root) == history

    done = jc2r("optimize", "--cases", 8, "--format", "json", root)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    kept = [step["lint"] for step in told["steps"] if step["kept"]]
    assert "clippy::needless_return" in kept and told["after"] < told["before"]
    assert told["comparisons"] == 1, "all together first"
    assert b"return sum" not in file.read_bytes()
    assert commits(root) == [*history, *(f"Optimized: {lint}" for lint in kept)]
    folder = root / ".jarvis" / "c2rust"
    progress = json.loads((folder / "optimize_progress.json").read_text())
    assert progress["steps_completed"] == kept and len(progress["last_commit"]) == 40
    assert json.loads((folder / "optimize_report.json").read_text())["files_scanned"] >= 3

    again = jc2r("optimize", "--cases", 8, "--format", "json", root)
    assert again.returncode == 0, again.stderr
    assert not any(step["kept"] for step in json.loads(again.stdout)["steps"])
    assert commits(root) == [*history, *(f"Optimized: {lint}" for lint in kept)]
    assert "no such folder" in jc2r("optimize", tmp_path / "nowhere").stderr


def test_what_does_not_build_or_behaves_differently_is_taken_back(tmp_path: Path) -> None:
    """A clippy that is sure of changes that are wrong."""
    root = translated(tmp_path)
    write(tmp_path / "bin", {"cargo-clippy": CLIPPY.format(python=sys.executable)})
    (tmp_path / "bin" / "cargo-clippy").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = jc2r("optimize", "--cases", 8, "--format", "json", root, PATH=path)
    assert done.returncode == 0, done.stderr
    told = {step["lint"]: step for step in json.loads(done.stdout)["steps"]}
    assert told["clippy::right"]["kept"]
    assert "it does not build" in told["clippy::broken"]["why"]["text"]
    assert "it behaves differently" in told["clippy::wrong"]["why"]["text"]
    text = (tmp_path / "p_rs" / "src" / "a.rs").read_text()
    assert "31i32" in text and "return sum" not in text and "Missing" not in text
    assert commits(root)[-1] == "Optimized: clippy::right"
    done = jc2r("optimize", "--cases", 8, root, PATH=path)
    assert "clippy::wrong: reverted by an earlier run: it behaves differently" in done.stdout
    assert done.returncode == 0 and commits(root)[-1] == "Optimized: clippy::right"

"""The compiled wheel tells what the Python it was made of tells."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cases.tree import write_tree
from tests.support.compiled import compiled

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "server"
pytestmark = pytest.mark.watches("scripts/package")


@pytest.fixture(scope="module")
def machine_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("compiled"))


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every fixture of a rule, and a case of every family in several variants of flow."""
    folder = tmp_path_factory.mktemp("sources")
    shutil.copytree(ROOT / "tests" / "jsec" / "rules", folder / "rules")
    cases = folder / "cases"
    cases.mkdir()
    write_tree(cases, per_family=6)
    return folder


def run(package: Path, *arguments: object) -> str:
    """What a program run with `package` wrote; fails with what it wrote as an error."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def report(package: Path, folder: Path) -> dict[str, Any]:
    command = ("-m", "jarvis_ls.cli.jsec", "scan", "--quiet", "--no-cache", "--format", "json")
    told: dict[str, Any] = json.loads(run(package, *command, folder))
    return told


def test_what_is_followed_is_machine_code(machine_code: Path) -> None:
    where = "import jarvis_ls.jsec.flow.interp.fixpoint as one; print(one.__file__)"
    assert Path(run(machine_code, "-c", where).strip()).suffix in (".so", ".pyd")
    assert Path(run(PYTHON, "-c", where).strip()).suffix == ".py"


def test_it_tells_the_same(machine_code: Path, sources: Path) -> None:
    expected, told = report(PYTHON, sources), report(machine_code, sources)
    assert len(expected["issues"]) > 1000
    for one in (expected, told):
        del one["summary"]["seconds"]
    assert told == expected


def test_what_start_leaves_is_machine_code(machine_code: Path, tmp_path: Path) -> None:
    leave = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'scripts' / 'package')!r}); "
        "import leave_compiled as l, pathlib; root, site = map(pathlib.Path, sys.argv[1:]); "
        "l.leave(root, site); print(l.state(root, site))"
    )
    assert run(PYTHON, "-c", leave, ROOT, tmp_path).strip() == "done"
    where = (
        "import os, site, sys; os.environ['JARVIS_COMPILED'] = ''; site.addsitedir(sys.argv[1]); "
        "import jarvis_ls.jsec.flow.interp.fixpoint as f; print(f.__file__)"
    )
    assert Path(run(PYTHON, "-c", where, tmp_path).strip()).suffix in (".so", ".pyd")

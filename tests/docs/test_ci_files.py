"""What services run of this repository: hooks of pre-commit, the action of GitHub, the examples of
`docs/ci.md`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.patience import HANGS
from tests.support.repositories import ENVIRONMENT, git, make_repository, write

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
FLAWED = "#include <stdlib.h>\nvoid f(char *p) {\n    free(p);\n    free(p);\n}\n"
CLEAN = "int f(void) { return 0; }\n"


def environment(home: Path, **others: str) -> dict[str, str]:
    """The environment of a service that has our programs on its PATH."""
    path = os.pathsep.join((str(PROGRAMS), os.environ["PATH"]))
    own = {"PATH": path, "JARVIS_HOME": str(home), "PRE_COMMIT_HOME": str(home / "pre-commit")}
    return {**ENVIRONMENT, **own, **others}


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A repository with our hooks, and its commit."""
    root = tmp_path_factory.mktemp("hooks") / "jarvis"
    name = ".pre-commit-hooks.yaml"
    make_repository(root, {name: (ROOT / name).read_bytes()})
    return root, git(root, "rev-parse", "HEAD").strip()


def pre_commit(
    root: Path, hooks: tuple[Path, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run pre-commit with our hooks, which find `jsec` on the PATH instead of installing it."""
    repository, commit = hooks
    named = [{"id": name, "language": "system"} for name in ("jsec", "jsec-project")]
    config = {"repos": [{"repo": str(repository), "rev": commit, "hooks": named}]}
    write(root, {".pre-commit-config.yaml": yaml.safe_dump(config)})
    git(root, "add", "--all")
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--color", "never", *arguments],
        cwd=root,
        env=environment(root.parent / "home"),
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )


def test_pre_commit_scans_the_files_of_a_commit(tmp_path: Path, hooks: tuple[Path, str]) -> None:
    root = make_repository(tmp_path / "own", {"old.c": FLAWED, "notes.txt": "free\n"})
    write(root, {"new.c": CLEAN})
    passed = pre_commit(root, hooks)
    assert passed.returncode == 0 and "Passed" in passed.stdout, passed.stdout + passed.stderr
    write(root, {"new.c": FLAWED})
    failed = pre_commit(root, hooks)
    assert failed.returncode == 1
    assert "new.c:4:5: high: 'p' is freed twice. [double-free]" in failed.stdout
    assert "old.c" not in failed.stdout and not (root / ".jarvis").exists()
    whole = pre_commit(root, hooks, "--hook-stage", "pre-push", "jsec-project")
    assert "old.c:4:5: high: " in whole.stdout and whole.returncode == 1
    git(root, "commit", "--quiet", "--no-verify", "--message", "all of it")
    by_hand = pre_commit(root, hooks, "--hook-stage", "manual", "jsec-project")
    assert "old.c:4:5: high: " in by_hand.stdout, "nothing is staged, the project is scanned"


def action() -> dict[str, Any]:
    """The action as GitHub reads it."""
    read: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return read


def run_action(root: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the scripts of the action's scan as a runner does, with these inputs."""
    definition = action()
    values = {name: given["default"] for name, given in definition["inputs"].items()} | inputs
    step = next(step for step in definition["runs"]["steps"] if step.get("name") == "Scan")
    given = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], text)
        for name, text in step["env"].items()
    }
    script = root.parent / "step.sh"
    script.write_text(step["run"], encoding="utf-8")
    return subprocess.run(
        [shutil.which("bash") or "bash", "--noprofile", "--norc", "-eo", "pipefail", script],
        cwd=root,
        env=environment(root.parent / "home", GITHUB_WORKSPACE=str(root), **given),
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )


def test_the_action_annotates_writes_sarif_and_fails(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "own", {"src/a.c": FLAWED})
    failed = run_action(root)
    assert failed.returncode == 1, failed.stderr
    assert failed.stdout.startswith("::error file=src/a.c,line=4,")
    assert '"double-free"' in (root / "jsec.sarif").read_text(encoding="utf-8")
    passed = run_action(root, **{"fail-on": "", "sarif": "", "arguments": "--rule weak-random"})
    assert (passed.returncode, passed.stdout) == (0, "")


def test_what_an_input_of_the_action_holds_is_not_run(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "own", {"a.c": CLEAN})
    for name in action()["inputs"]:
        run_action(root, **{name: "; touch canary #$(touch canary)`touch canary`"})
    assert not (root / "canary").exists()


def blocks(language: str) -> list[str]:
    """The code blocks of a language in the page."""
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_the_examples_for_services_are_valid() -> None:
    examples = [yaml.safe_load(block) for block in blocks("yaml")]
    keys = {key for example in examples if isinstance(example, dict) for key in example}
    assert {"repos", "jsec"} <= keys and len(examples) == 4
    ids = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    (config,) = (example for example in examples if "repos" in example)
    assert {hook["id"] for repo in config["repos"] for hook in repo["hooks"]} <= ids

"""The crate's own git repository: one commit a file, and nobody else's repository touched."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from project import JC2R, jc2r, write
from toolchain import needs_cargo

from jarvis_ls.jc2r.crate.git_history import History

pytestmark = [
    needs_cargo,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=True, timeout=60
    ).stdout


def log(crate: Path) -> list[str]:
    return git(crate, "log", "--reverse", "--format=%s|%an").splitlines()


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_where_there_is_no_git_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in reversed(os.environ["PATH"].split(os.pathsep)):
        for tool in Path(folder).glob("*") if Path(folder).is_dir() else ():
            if not tool.name.startswith("git"):
                (tools / tool.name).unlink(missing_ok=True)
                (tools / tool.name).symlink_to(tool)
    monkeypatch.setenv("PATH", str(tools))
    root = tmp_path / "p"
    write(root, {"a.c": "int a(void) { return 1; }\n"})
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    assert "git was not found" in done.stdout + done.stderr
    assert not (tmp_path / "p_rs" / ".git").exists()


def test_one_commit_a_file_in_a_repository_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project is in git, has a hook and settings that would spoil commits, and the crate lies
    inside of it."""
    hooks = tmp_path / "hooks"
    write(hooks, {"pre-commit": "#!/bin/sh\nexit 1\n"})
    (hooks / "pre-commit").chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(f"[core]\n\thooksPath = {hooks}\n[commit]\n\tgpgSign = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    root = tmp_path / "p"
    write(root, {"a.c": "int a(void) { return 1; }\n", "b.c": "int b(void) { return 2; }\n"})
    git(root, "init", "--quiet")
    git(root, "add", ".")
    monkeypatch.setenv("GIT_DIR", str(root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(root / ".git" / "index"))
    before = snapshot(root / ".git")
    crate = root / "rust"
    done = jc2r("run", "--baseline", "--crate", crate, root)
    assert done.returncode == 0, done.stderr
    assert snapshot(root / ".git") == before
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert log(crate) == [
        "Crate: types, what the system offers, how it is built|jc2r",
        "Baseline of a.c|jc2r",
        "Baseline of b.c|jc2r",
    ]
    assert git(crate, "status", "--porcelain") == ""
    assert "src/a.rs" in git(crate, "show", "--name-only", "HEAD~1")

    (root / "b.c").write_text("int b(void) { return 3; }\n")
    (crate / ".git" / "index.lock").touch()  # as a killed git leaves it
    done = jc2r("run", "--baseline", "--crate", crate, root)
    assert done.returncode == 0, done.stderr
    assert log(crate)[3:] == ["Baseline of b.c|jc2r"]


def test_a_repository_that_the_user_made_is_left_alone(tmp_path: Path) -> None:
    root, crate = tmp_path / "p", tmp_path / "p_rs"
    write(root, {"a.c": "int a(void) { return 1; }\n"})
    assert jc2r("run", "--baseline", root).returncode == 0
    shutil.rmtree(crate / ".git")
    git(crate, "init", "--quiet")
    before = snapshot(crate / ".git")
    (root / "a.c").write_text("int a(void) { return 2; }\n")
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    assert snapshot(crate / ".git") == before
    assert "return 2" in (crate / "src" / "a.rs").read_text()


POINTS = (".jarvis/c2rust/symbols.jsonl", "../p_rs/.git-jc2r", "../p_rs/.git")


@pytest.mark.parametrize("point", POINTS)
def test_a_run_goes_on_wherever_it_was_killed(tmp_path: Path, point: str) -> None:
    """The run is ended as soon as something is there; the next one does the rest."""
    root, crate = tmp_path / "p", tmp_path / "p_rs"
    write(root, {f"{name}.c": f"int {name}(int n) {{ return n + 1; }}\n" for name in "abcd"})
    process = subprocess.Popen(
        [*JC2R, "run", "--baseline", str(root)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not (root / point).exists() and process.poll() is None:
        assert time.monotonic() < deadline
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert (root / point).exists() or point.endswith("-jc2r")
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    assert "4 of 4 functions in Rust" in done.stdout
    assert [one.partition("|")[0] for one in log(crate)][-4:] == [
        f"Baseline of {name}.c" for name in "abcd"
    ]
    assert git(crate, "status", "--porcelain") == ""
    assert not (crate / ".git-jc2r").exists()


def test_a_commit_holds_its_own_files_whatever_else_is_staged(tmp_path: Path) -> None:
    """A run was killed between `git add` and `git commit`; or the user has staged something."""
    crate = tmp_path / "crate"
    write(crate, {"src/a.rs": "// a\n", "src/b.rs": "// b\n", "c/gone file.c": "int gone;\n"})
    history = History(crate)
    git(crate, "add", "--all")
    assert history.commit(["src/a.rs"], "First of all")
    assert git(crate, "show", "--name-only", "--format=%s").split() == [
        "First",
        "of",
        "all",
        "src/a.rs",
    ]
    assert history.commit(["src/b.rs", "c"], "The others")
    (crate / "c" / "gone file.c").unlink()
    git(crate, "add", "--all")
    write(crate, {"src/b.rs": "// user\n"})
    git(crate, "add", "src/b.rs")
    assert history.commit(["c"], "Gone") and not history.commit(["c"], "Again")
    assert [one.partition("|")[0] for one in log(crate)] == ["First of all", "The others", "Gone"]
    assert git(crate, "status", "--porcelain", "src").split() == ["M", "src/b.rs"]

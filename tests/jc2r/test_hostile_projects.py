"""`jc2r` where something is missing, too old, full or in the way: it says so and leaves all as it
was."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from project import jc2r
from toolchain import needs_cargo

from jarvis_ls.jc2r.translate.recursion import deeply

SUM = "int sum(int a, int b) { return a + b; }\n"
CHINESE = {"LC_ALL": "zh_CN.UTF-8", "PYTHONUTF8": "1"}
OLD = """\
typedef struct { const void *data; unsigned flags; } text;
text clang_getClangVersion(void) { text t = {"Debian clang version 14.0.6", 0}; return t; }
const char *clang_getCString(text t) { return t.data; }
"""


def project(root: Path) -> Path:
    root.mkdir(parents=True)
    (root / "a.c").write_text(SUM + "int main(void) { return sum(1, -1); }\n")
    return root


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ({"LC_ALL": "C.UTF-8"}, "cargo is not installed"),
        (CHINESE, "未安装 cargo"),
    ],
)
def test_without_cargo_nothing_is_written(
    tmp_path: Path, language: dict[str, str], words: str
) -> None:
    root = project(tmp_path / "p")
    before = everything(tmp_path)
    (tmp_path / "none").mkdir()
    nowhere = str(tmp_path / "none")
    done = jc2r("run", "--baseline", root, PATH=nowhere, CARGO_HOME=nowhere, **language)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1
    assert everything(tmp_path) == before and not (tmp_path / "p_rs").exists()


def test_cargo_is_looked_for_where_rustup_puts_it(tmp_path: Path) -> None:
    """An editor started from a desktop has no PATH of a shell."""
    root, cargo = project(tmp_path / "p"), tmp_path / "home" / "bin" / "cargo"
    cargo.parent.mkdir(parents=True)
    cargo.write_text("#!/bin/sh\necho 'cargo 1.63.0'\n")
    cargo.chmod(0o755)
    (tmp_path / "none").mkdir()
    home = str(tmp_path / "home")
    done = jc2r("run", "--baseline", root, PATH=str(tmp_path / "none"), CARGO_HOME=home)
    assert str(cargo) in done.stderr and "1.63" in done.stderr


@pytest.mark.parametrize(
    ("says", "language", "words"),
    [
        (
            "echo 'cargo 1.63.0 (fd9c4297c 2022-07-01)'",
            {"LC_ALL": "C.UTF-8"},
            "of Rust 1.63; 1.82 or newer is needed",
        ),
        ("echo 'cargo 1.63.0'", CHINESE, "属于 Rust 1.63，需要 1.82 或更新的版本"),
        (
            "echo 'error: no default toolchain' >&2; exit 1",
            {"LC_ALL": "C.UTF-8"},
            "does not run: error: no default toolchain",
        ),
    ],
)
def test_with_a_cargo_that_cannot_build_nothing_is_written(
    tmp_path: Path, says: str, language: dict[str, str], words: str
) -> None:
    """An old one, or rustup's where no toolchain was ever chosen."""
    root, cargo = project(tmp_path / "p"), tmp_path / "bin" / "cargo"
    cargo.parent.mkdir()
    cargo.write_text(f"#!/bin/sh\n{says}\n")
    cargo.chmod(0o755)
    before = everything(tmp_path)
    path = os.pathsep.join([str(cargo.parent), os.environ["PATH"]])
    done = jc2r("run", "--baseline", root, PATH=path, **language)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1
    assert everything(tmp_path) == before and not (tmp_path / "p_rs").exists()


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ({"LC_ALL": "C.UTF-8"}, "needs libclang: pip install"),
        (CHINESE, "需要 libclang：pip install"),
    ],
)
def test_without_libclang_it_says_how_to_get_it(
    tmp_path: Path, language: dict[str, str], words: str
) -> None:
    root = project(tmp_path / "p")
    gone = tmp_path / "gone" / "clang"
    gone.mkdir(parents=True)
    (gone / "__init__.py").write_text("raise ImportError('taken away')\n")
    path = os.pathsep.join([str(gone.parent), os.environ.get("PYTHONPATH", "")])
    for command in (["scan"], ["run", "--baseline"]):
        done = jc2r(*command, root, PYTHONPATH=path, **language)
        assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "p_rs").exists()


def test_an_old_libclang_is_named_with_its_version(tmp_path: Path) -> None:
    root, library = project(tmp_path / "p"), tmp_path / "libclang.so"
    compiler = shutil.which("cc")
    assert compiler is not None
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library],
        input=OLD,
        text=True,
        check=True,
    )
    done = jc2r("scan", root, CLANG_LIBRARY_FILE=str(library))
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"libclang 14 at {library} is too old; 17 or newer is needed" in done.stderr


def test_a_file_where_the_crate_would_be_stays(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    (tmp_path / "p_rs").write_text("mine")
    done = jc2r("run", "--baseline", root, **CHINESE)
    assert done.returncode == 2 and "已存在且不是由 jc2r 创建的" in done.stderr
    assert (tmp_path / "p_rs").read_text() == "mine"


@needs_cargo
def test_names_that_cargo_does_not_take(tmp_path: Path) -> None:
    root = project(tmp_path / "2 sums 求和")
    (root / "a.c").rename(root / "主 1.c")
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stderr
    programs = tmp_path / "2 sums 求和_rs" / "target" / "release"
    assert any(
        subprocess.run([one], check=False).returncode == 0
        for one in programs.iterdir()
        if one.is_file() and not one.suffix
    )


def test_a_link_that_leads_out_is_no_part_of_the_project(tmp_path: Path) -> None:
    root, outside = project(tmp_path / "p"), tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.c").write_text("int secret(void) { return 7; }\n")
    (root / "secret.c").symlink_to(outside / "secret.c")
    (root / "folder").symlink_to(outside)
    (root / "same.c").symlink_to(root / "a.c")
    done = jc2r("scan", root)
    assert done.returncode == 0 and "note: secret.c points outside the project" in done.stdout
    names = (root / ".jarvis" / "c2rust" / "symbols.jsonl").read_text()
    assert '"secret"' not in names and '"same.c"' in names


@needs_cargo
def test_a_crate_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    root, crate = project(tmp_path / "p"), tmp_path / "p_rs"
    assert jc2r("run", "--baseline", root).returncode == 0
    before = everything(crate / "src")
    (root / "b.c").write_text("int less(int a) { return a - 1; }\n")
    shutil.rmtree(crate / "target")
    (crate / "target").write_text("in the way")  # as a full disk would be, also for root
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert everything(crate / "src") == before


def test_room_for_recursion_is_given_back() -> None:
    """What nests too deep ends in an error again, not in a process that is gone."""

    def depth(left: int) -> int:
        return deeply(depth, left - 1) + 1 if left else len(deeply(_nest, 20_000))

    before = sys.getrecursionlimit()
    assert depth(3) == 20_003
    assert sys.getrecursionlimit() == before


def _nest(levels: int) -> str:
    return "(" + _nest(levels - 1) if levels else ""

"""What is compiled in a sandbox runs there, on every rung: compilers, CMake, make, tar and cp may
change modes and times inside the copy, and nowhere else."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_ls.runtime.sandbox.base import Ran, Sandbox, Script
from tests.support.container_engine import container_engine
from tests.support.patience import HANGS
from tests.support.sandbox_cases import RUNGS, sandboxes

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's so far"),
    pytest.mark.watches(),
]

CMAKE = """cmake_minimum_required(VERSION 3.10)
project(p C)
file(COPY data DESTINATION ${CMAKE_BINARY_DIR}/copied)
add_executable(p m.c)
"""
MAKE = "m: m.c\n\tcc -o m m.c\n"
SOURCE = "int main(void) { return 3; }\n"


@pytest.fixture(scope="module", autouse=True)
def engine() -> Iterator[str]:
    """Why no container engine can be tried; empty when one answers."""
    with container_engine() as problem:
        yield problem


@pytest.fixture(params=RUNGS)
def sandbox(request: pytest.FixtureRequest, tmp_path: Path, engine: str) -> Sandbox:
    if request.param == "engine" and engine:
        pytest.skip(engine)
    found = sandboxes(tmp_path / "home")[request.param]
    if isinstance(found, str):
        pytest.skip(f"{request.param}: {found}")
    return found


on_own_rungs = pytest.mark.parametrize(
    "sandbox", [rung for rung in RUNGS if rung != "engine"], indirect=True
)
"""An engine has no folders of its own to show: it mounts those of the other rungs."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "run.sh").write_text("#!/bin/sh\necho copied\n")
    (folder / "data" / "run.sh").chmod(0o755)
    (folder / "m.c").write_text(SOURCE)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "Makefile").write_text(MAKE)
    return folder


async def sh(sandbox: Sandbox, root: Path, script: str) -> Ran:
    return await sandbox.run(Script("bash", script, HANGS), [root])


def need(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program} here")


async def test_what_a_compiler_makes_runs(sandbox: Sandbox, root: Path) -> None:
    need("cc")
    ran = await sh(sandbox, root, "cc -o t m.c && ./t; echo $?; rm -f t")
    assert ran.output == "3\n", ran


async def test_cmake_configures_and_builds(sandbox: Sandbox, root: Path) -> None:
    need("cc", "cmake")
    script = (
        "mkdir out && cd out && cmake .. >log 2>&1 && make >>log 2>&1 || cat log;"
        " ./copied/data/run.sh; ./p; echo $?; cd ..; rm -r out"
    )
    ran = await sh(sandbox, root, script)
    assert ran.output == "copied\n3\n", ran


async def test_times_and_modes_are_the_scripts_own(sandbox: Sandbox, root: Path) -> None:
    script = (
        "touch t; touch t; touch -d 2001-02-03 t; cp -p t u; cp -a data copy; stat -c %Y t u;"
        " chmod 640 u; stat -c %a u; chmod -R go= copy; stat -c %a copy/run.sh; ./copy/run.sh;"
        " ln -s t l; touch -h l; chmod 4755 t; stat -c %a t; rm -r t u l copy"
    )
    ran = await sh(sandbox, root, script)
    taken = "981158400"
    assert ran.output.splitlines()[:2] == [taken, taken], ran
    assert ran.output.splitlines()[2:5] == ["640", "700", "copied"], ran
    assert ran.exit == 0


async def test_make_makes_once(sandbox: Sandbox, root: Path) -> None:
    need("cc", "make")
    ran = await sh(sandbox, root, "make -s m && make m; ./m; echo $?; rm m")
    assert ran.output.endswith("is up to date.\n3\n"), ran


async def test_archives_are_unpacked_with_modes(sandbox: Sandbox, root: Path) -> None:
    script = "tar cf a.tar data && mkdir x && tar xpf a.tar -C x && x/data/run.sh; rm -r x a.tar"
    ran = await sh(sandbox, root, script)
    assert ran.output == "copied\n" and ran.exit == 0, ran


async def test_git_works_in_the_copy(sandbox: Sandbox, root: Path) -> None:
    """Also where the machine has settings for git that a script may not read."""
    need("git")
    script = (
        "git init -q . && git config user.email a@b && git config user.name n && git add -A &&"
        " git commit -qm first && git log --format=%s; git status --short; rm -rf .git"
    )
    ran = await sh(sandbox, root, script)
    assert ran.output == "first\n", ran


async def test_who_writes_to_a_closed_pipe_ends_silently(sandbox: Sandbox, root: Path) -> None:
    ran = await sh(sandbox, root, "yes | head -n1; echo ${PIPESTATUS[0]}")
    assert ran.output == "y\n141\n", ran


async def test_python_and_descriptors_change_modes(sandbox: Sandbox, root: Path) -> None:
    """By descriptor, by folder and name, through /proc, and where there is nothing."""
    script = """
import os, stat
open("t", "w").close()
f = os.open("t", os.O_RDONLY)
os.fchmod(f, 0o751)
print(oct(os.stat("t").st_mode & 0o7777))
d = os.open(".", os.O_RDONLY)
os.chmod("t", 0o711, dir_fd=d)
print(oct(os.stat("t").st_mode & 0o7777))
os.chmod(f"/proc/self/fd/{f}", 0o700)
print(oct(os.stat("t").st_mode & 0o7777))
os.utime(f, ns=(5, 7))
print(os.stat("t").st_mtime_ns)
os.mkdir("e"); os.chdir("e")
os.chmod("../t", 0o600)
os.utime("../t")
try:
    os.chmod("none", 0o600)
except OSError as error:
    print(error.strerror)
os.chmod(os.path.realpath("../t"), 0o640)
print(oct(os.stat("../t").st_mode & 0o7777))
os.chdir(".."); os.rmdir("e"); os.unlink("t")
"""
    ran = await sandbox.run(Script("python3", script, HANGS), [root])
    assert ran.output.split("\n") == [
        "0o751",
        "0o711",
        "0o700",
        "7",
        "No such file or directory",
        "0o640",
        "",
    ], ran


async def test_threads_and_many_calls(sandbox: Sandbox, root: Path) -> None:
    script = (
        "for i in $(seq 8); do (for j in $(seq 25); do : >f$i.$j; chmod 700 f$i.$j;"
        " touch -d 2001-02-03 f$i.$j; done) & done; wait; find . -name 'f*' -perm 700"
        " ! -newermt 2001-02-04 | wc -l; rm f*"
    )
    ran = await sh(sandbox, root, script)
    assert ran.output == "200\n", ran


async def test_a_file_keeps_the_mode_a_script_gave_it(sandbox: Sandbox, root: Path) -> None:
    ran = await sh(sandbox, root, "chmod +x m.c; chmod -x data/run.sh")
    modes = {
        change.path: bool(change.after and change.after.mode & 0o100) for change in ran.changes
    }
    assert modes == {"m.c": True, "data/run.sh": False}
    assert os.access(root / "data/run.sh", os.X_OK)


@on_own_rungs
async def test_rust_is_found_outside_of_the_home_folder(
    sandbox: Sandbox, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where variables say, and beside the programs of the search path."""
    elsewhere = Path("/var/tmp") / f"jarvis-rust-{os.getpid()}"
    (elsewhere / "toolchains").mkdir(parents=True)
    elsewhere.chmod(0o755)
    (elsewhere / "settings.toml").write_text("version = '12'\n")
    try:
        monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
        monkeypatch.setenv("RUSTUP_HOME", str(elsewhere))
        ran = await sh(sandbox, root, 'echo "$RUSTUP_HOME"; cat "$RUSTUP_HOME/settings.toml"')
        assert ran.output == f"{elsewhere}\nversion = '12'\n"
    finally:
        shutil.rmtree(elsewhere)


@on_own_rungs
async def test_crates_that_are_there_are_found(
    sandbox: Sandbox, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cargo builds without network from what it has in its home, and may lock it there."""
    elsewhere = Path("/var/tmp") / f"jarvis-cargo-{os.getpid()}"
    (elsewhere / "registry" / "cache").mkdir(parents=True)
    elsewhere.chmod(0o755)
    (elsewhere / "registry" / "cache" / "one.crate").write_text("one\n")
    (elsewhere / "credentials.toml").write_text("secret\n")
    try:
        monkeypatch.setenv("CARGO_HOME", str(elsewhere))
        home = '"${CARGO_HOME:-$HOME/.cargo}"'
        ran = await sh(
            sandbox,
            root,
            f"cat {home}/registry/cache/one.crate; echo x > {home}/.package-cache && echo locked;"
            f" echo x > {home}/registry/cache/two.crate; cat {elsewhere}/credentials.toml",
        )
        assert ran.output.startswith("one\nlocked\n") and "secret" not in ran.output
        assert not (elsewhere / "registry" / "cache" / "two.crate").exists()
    finally:
        shutil.rmtree(elsewhere)

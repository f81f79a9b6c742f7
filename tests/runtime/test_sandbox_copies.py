"""The copy that is kept from one script to the next is the workspace as it is now: after whatever
the user and scripts did, but for what builds have made."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_ls.runtime.edits.file_change import apply_changes
from jarvis_ls.runtime.sandbox import bwrap
from jarvis_ls.runtime.sandbox.base import Ran, Sandbox, SandboxSettings, Script
from jarvis_ls.runtime.sandbox.copies import open_folder
from jarvis_ls.runtime.sandbox.engine import LABEL, Engine
from jarvis_ls.runtime.sandbox.landlock import Landlock
from jarvis_ls.runtime.sandbox.mirror import Limits, Mirror
from jarvis_ls.runtime.sandbox.plain import Plain
from tests.support.container_engine import container_engine
from tests.support.patience import HANGS
from tests.support.sandbox_cases import mutations, picture, sandboxes, start

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's so far"),
    pytest.mark.watches(),
]


LIMITS = Limits(10_000, 100_000_000, None)


@pytest.fixture(scope="module")
def engine() -> Iterator[str]:
    """Why no container engine can be tried; empty when one answers."""
    with container_engine() as problem:
        yield problem


@pytest.fixture(params=["landlock", "bwrap"])
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    found = sandboxes(tmp_path / "home")[request.param]
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


async def sh(sandbox: Sandbox, root: Path, script: str, session: str = "s") -> Ran:
    return await sandbox.run(Script("bash", script, HANGS, session=session), [root])


def copies_of(sandbox: Sandbox, root: Path) -> list[Path]:
    """The folders that are kept for scripts in `root`."""
    return [
        path
        for path in Path(vars(sandbox)["_home"]).glob("sandbox/kept-*")
        if (path / "roots").read_bytes() == os.fsencode(root)
    ]


def listed(root: Path, script: str) -> list[str]:
    done = subprocess.run(["sh", "-c", script], cwd=root, capture_output=True, check=True)
    return sorted(done.stdout.decode(errors="replace").splitlines())


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_user_and_scripts_do_the_copy_is_the_workspace(
    tmp_path: Path, root: Path, seed: int
) -> None:
    """Edits, renames, times put back, folders for files; scripts whose changes are accepted, or
    not; other processes that go on."""
    chance = random.Random(seed)
    start(root)
    shared = "find . -type f -o -type l | LC_ALL=C sort | while IFS= read -r f; do"
    show = (
        f'{shared} if [ -L "$f" ]; then echo "$f -> $(readlink "$f")"; else'
        ' x=-; [ -x "$f" ] && x=x; echo "$f $x $(md5sum <"$f")"; fi; done'
    )
    sandbox: Sandbox = Plain(tmp_path / "home", SandboxSettings())
    for _ in range(8):
        what = chance.choice(["user", "user", "times", "script", "accepted", "process"])
        if what == "user":
            subprocess.run(
                ["sh", "-c", mutations(chance)], cwd=root, capture_output=True, check=False
            )
        elif what == "times":  # as `cp -p`, git and archives put them back
            for path in list(root.rglob("*")):
                if path.is_file() and not path.is_symlink():
                    before = path.stat()
                    path.write_bytes(bytes(reversed(path.read_bytes())))
                    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        elif what == "process":
            sandbox = Plain(tmp_path / "home", SandboxSettings())
        else:
            ran = await sh(sandbox, root, mutations(chance), "")
            if what == "accepted":
                assert apply_changes(ran.changes, [root]) == []
        ran = await sh(sandbox, root, show, "")
        assert sorted(ran.output.splitlines()) == listed(root, show), what
        assert ran.changes == ()


def test_a_copy_follows_thousands_of_changes(root: Path, tmp_path: Path) -> None:
    """The same without processes, so that there are many; some end without a word."""
    state = tmp_path / "state0.json"
    for seed in range(12):
        for path in (root, tmp_path / "copy0"):
            shutil.rmtree(path, ignore_errors=True)
        root.mkdir()
        start(root)
        chance = random.Random(seed)
        mirror = Mirror(str(root), tmp_path / "copy0", state)
        for _ in range(12):
            what = chance.choice(["user", "user", "script", "accepted", "killed", "process"])
            script = mutations(chance)
            places = {"user": [root], "process": [], "accepted": [Path(mirror.folder), root]}
            mirror.bring(LIMITS, threading.Event())
            for place in places.get(what, [Path(mirror.folder)]):
                subprocess.run(["sh", "-c", script], cwd=place, capture_output=True, check=False)
            if what != "killed":
                mirror.look()
                mirror.save()
            if what in ("killed", "process"):
                mirror = Mirror(str(root), tmp_path / "copy0", state)
            mirror.bring(LIMITS, threading.Event())
            assert picture(Path(mirror.folder)) == picture(root), (seed, what, script)
            mirror.look()
            mirror.save()


async def test_a_killed_script_leaves_nothing_in_the_copy(sandbox: Sandbox, root: Path) -> None:
    start(root)
    before = picture(root)
    ran = await sandbox.run(
        Script("bash", "rm -rf d a; echo x >b.txt; sleep 600", 1, session="s"), [root]
    )
    assert ran.ended
    ran = await sh(sandbox, root, "cat a b.txt; ls d")
    assert ran.output.startswith("a\r\nsecond") and "y z" in ran.output
    assert picture(root) == before


async def test_a_link_in_place_of_a_folder_is_not_followed(
    sandbox: Sandbox, root: Path, tmp_path: Path
) -> None:
    """What puts the copy right has more rights than the script."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "x").write_text("untouched")
    (victim / "sub").mkdir()
    start(root)
    await sh(sandbox, root, f"rm -rf d; ln -s {victim} d; ln -s {victim} new; rm -f b.txt")
    (root / "d/x").write_text("changed meanwhile")
    ran = await sh(sandbox, root, "cat d/x; ls")
    assert ran.output.startswith("changed meanwhile") and "new" not in ran.output
    assert (victim / "x").read_text() == "untouched" and (victim / "sub").is_dir()


async def test_sessions_do_not_meet(sandbox: Sandbox, root: Path) -> None:
    (root / ".gitignore").write_text("out/\n")
    one = await sh(sandbox, root, "mkdir out; echo one >out/x", "one")
    assert one.built == ("out",)
    assert (await sh(sandbox, root, "cat out/x; ls", "two")).output.count("one") == 0
    assert (await sh(sandbox, root, "cat out/x", "one")).output == "one\n"
    sandbox.kept.forget("one")
    assert (await sh(sandbox, root, "cat out/x", "three")).output == "one\n"


async def test_a_copy_that_was_prepared_is_found_by_the_first_script(
    sandbox: Sandbox, root: Path
) -> None:
    """As the workspace is when the script comes, and only for the first one of a session."""
    start(root)
    await sandbox.prepare([root], "s")
    (root / "a").write_text("edited since\n")
    (root / "b.txt").unlink()
    (root / "new").write_text("new\n")
    ran = await sh(sandbox, root, "cat a new; ls; echo by the script >new")
    assert ran.output.startswith("edited since\nnew\n") and "b.txt" not in ran.output
    assert [change.path for change in ran.changes] == ["new"]
    await sandbox.prepare([root], "s")
    assert (await sh(sandbox, root, "cat new")).output == "new\n"
    assert len(copies_of(sandbox, root)) == 1


async def test_a_preparation_that_is_stopped_leaves_nothing_held(
    sandbox: Sandbox, root: Path
) -> None:
    start(root)
    for _ in range(3):
        task = asyncio.ensure_future(sandbox.prepare([root], "s"))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
    assert (await sh(sandbox, root, "cat d/x")).output.startswith("d/x")
    assert len(copies_of(sandbox, root)) == 1


def test_what_a_killed_process_has_half_removed_is_removed(tmp_path: Path) -> None:
    """It has no lock any more, and no one will put one there."""
    left = tmp_path / "sandbox/run-1"
    (left / "upper0").mkdir(parents=True)
    (left / "upper0/x").write_text("x")
    open_folder(tmp_path, None).remove()
    assert not left.exists()


async def test_the_place_of_a_build_is_stable(sandbox: Sandbox, root: Path) -> None:
    first = await sh(sandbox, root, "pwd")
    second = await sh(sandbox, root, "pwd")
    assert first.output == second.output
    again = sandboxes(Path(vars(sandbox)["_home"]).parent / "home")["landlock"]
    if sandbox.name == "landlock" and isinstance(again, Landlock):
        sandbox.kept.forget("s")
        assert (await sh(again, root, "pwd", "t")).output == first.output


BUILD = (
    "mkdir -p build && cd build && (test -f Makefile || cmake .. >log 2>&1) && make >log 2>&1;"
    " ./p; echo $?; cat log"
)


async def test_a_build_is_kept_and_never_proposed(sandbox: Sandbox, root: Path) -> None:
    """Without a `.gitignore`; in a folder of its own, and beside the sources."""
    if shutil.which("cmake") is None or shutil.which("cc") is None:
        pytest.skip("no CMake or no C compiler here")
    (root / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(p m.c)\n"
    )
    (root / "m.c").write_text("int main(void) { return 3; }\n")
    ran = await sh(sandbox, root, BUILD)
    assert ran.output.startswith("3\n"), ran
    assert ran.changes == () and ran.built == ("build",)
    ran = await sh(sandbox, root, BUILD)
    assert "Building" not in ran.output and ran.output.startswith("3\n"), ran
    assert ran.built == () and ran.changes == ()
    (root / "m.c").write_text("int main(void) { return 4; }\n")
    ran = await sh(sandbox, root, BUILD)
    assert "Building" in ran.output and ran.output.startswith("4\n"), ran
    ran = await sh(sandbox, root, "sed -i s/4/5/ m.c; " + BUILD)
    assert ran.output.startswith("5\n") and [c.path for c in ran.changes] == ["m.c"], ran
    ran = await sh(sandbox, root, BUILD)  # the change was not accepted
    assert ran.output.startswith("4\n"), ran
    assert sorted(path.name for path in root.iterdir()) == ["CMakeLists.txt", "m.c"]

    ran = await sh(sandbox, root, "cc -c m.c && cc -o prog m.o && echo note >notes.txt; cmake .")
    assert {change.path for change in ran.changes} == {"notes.txt"}, ran
    assert {"m.o", "prog", "CMakeCache.txt", "CMakeFiles", "Makefile"} <= set(ran.built), ran
    assert (await sh(sandbox, root, "./prog; echo $?; ls notes.txt")).output.startswith("4\n")


async def test_sources_in_new_folders_are_proposed(sandbox: Sandbox, root: Path) -> None:
    """Also where a build has been at work beside them."""
    script = (
        "mkdir -p new/src new/target/debug; echo 'fn main() {}' >new/src/main.rs;"
        " echo '[package]' >new/Cargo.toml; echo Signature: >new/target/CACHEDIR.TAG;"
        " echo x >new/target/debug/x; mkdir lib; echo 'int f;' >lib/f.c;"
        " touch lib/CMakeLists.txt lib/CMakeCache.txt; printf '\\177ELF' >lib/f.o;"
        " echo 'f.o: f.c' >lib/f.d; mkdir node_modules; echo x >node_modules/x"
    )
    ran = await sh(sandbox, root, script)
    assert {change.path for change in ran.changes} == {
        "new/src/main.rs",
        "new/Cargo.toml",
        "lib/f.c",
        "lib/CMakeLists.txt",
    }
    assert set(ran.built) == {
        "new/target",
        "lib/CMakeCache.txt",
        "lib/f.o",
        "lib/f.d",
        "node_modules",
    }
    ran = await sh(sandbox, root, "find . -type f | LC_ALL=C sort")
    assert "main.rs" not in ran.output and "./lib/f.o\n" in ran.output


async def test_folders_of_any_depth_switch_nothing_off(
    sandbox: Sandbox, root: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (root / "a").write_text("a\n")
    request.addfinalizer(lambda: subprocess.run(["rm", "-rf", str(tmp_path / "home")], check=True))
    deep = (
        "import os\nfor n in range(3000):\n    os.mkdir('d'); os.chdir('d')\n"
        "open('f', 'w').close()\n"
    )
    ran = await sandbox.run(Script("python3", deep, HANGS, session="s"), [root])
    assert ran.exit == 0
    assert any("too deep" in said for said in ran.left_out)
    ran = await sh(sandbox, root, "ls; cat a")
    assert ran.output == "a\na\n"
    tops = copies_of(sandbox, root)
    sandbox.kept.forget("s")
    shutil.rmtree(root)
    other = root.with_name("other")
    other.mkdir()
    assert (await sh(sandbox, other, "echo next")).output == "next\n"
    assert tops and not any(
        path.exists() for path in tops
    )  # nobody will want the copy of what is gone


async def test_a_workspace_of_any_depth_is_no_hindrance(
    sandbox: Sandbox, root: Path, tmp_path: Path
) -> None:
    before = Path.cwd()
    os.chdir(root)
    try:
        for _ in range(3000):
            os.mkdir("d")  # noqa: PTH102
            os.chdir("d")
    finally:
        os.chdir(before)
    (root / "a").write_text("a\n")
    try:
        assert (await sh(sandbox, root, "cat a")).output == "a\n"
    finally:  # pytest itself could not remove so deep a folder
        subprocess.run(["rm", "-rf", str(root), *map(str, tmp_path.iterdir())], check=True)


@pytest.mark.usefixtures("engine")
async def test_bytes_written_in_all_are_bounded(tmp_path: Path, root: Path) -> None:
    settings = SandboxSettings(written_bytes=50_000_000)
    for name, found in sandboxes(tmp_path / "home", settings).items():
        if isinstance(found, str):
            continue
        script = (
            "for n in $(seq 400); do head -c 1000000 /dev/zero >f$n; sleep 0.02; done; echo all"
        )
        ran = await sh(found, root, script)
        assert "50 MB" in ran.ended and "all" not in ran.output, (name, ran)
        assert (await sh(found, root, "ls")).output == ""


async def test_an_engine_writes_no_output_to_the_disk(
    tmp_path: Path, root: Path, engine: str
) -> None:
    found = sandboxes(tmp_path / "home")["engine"]
    if not isinstance(found, Engine):
        pytest.skip(engine or str(found))
    begun = asyncio.Event()
    script = Script("bash", "echo begun; sleep 1000", HANGS, stop=asyncio.Event())
    running = asyncio.ensure_future(found.run(script, [root], lambda _: begun.set()))
    await begun.wait()
    client = found.connect()
    (made,) = client.containers.list(filters={"label": LABEL})
    client.close()
    assert script.stop is not None
    script.stop.set()
    assert (await running).output == "begun\n"
    assert made.attrs["HostConfig"]["LogConfig"]["Type"] == "none"


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("bounded", [True, False], ids=["new", "old"])
async def test_memory_as_a_disk_is_bounded(
    tmp_path: Path, root: Path, bounded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by bubblewrap before 0.7, which cannot bound its file systems in memory."""
    known = bwrap._options(bwrap.find_program()) if bwrap.find_program() else frozenset()
    monkeypatch.setattr(bwrap, "_options", lambda _: known - (set() if bounded else {"--size"}))
    settings = SandboxSettings(memory=240_000_000, written_bytes=60_000_000)
    for name, found in sandboxes(tmp_path / "home", settings).items():
        if isinstance(found, str) or (name != "bwrap" and not bounded):
            continue
        for place in ("/tmp", "$HOME", "/dev/shm", "/dev", "/run", "/var/tmp"):
            script = (
                f"for n in $(seq 40); do head -c 5000000 /dev/zero >{place}/$n || exit 1; "
                "sleep 0.05; done 2>/dev/null; echo all"
            )
            ran = await sh(found, root, script)
            assert "all" not in ran.output and (ran.exit == 1 or ran.ended), (name, place, ran)

"""Checkpoints bring back exactly what was there, lose nothing, and never touch git."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.runtime.edits.checkpoints import Checkpoints
from jarvis_ls.runtime.edits.snapshots.look import Limits
from jarvis_ls.runtime.edits.snapshots.store import FILE
from tests.support.full_disk import small_disk
from tests.support.properties import examples

pytestmark = pytest.mark.watches()

posix = pytest.mark.skipif(os.name != "posix", reason="mode bits and odd names are POSIX's")
git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def picture(root: Path) -> dict[str, Any]:
    """Everything below a folder but `.git`: kind, mode, contents."""
    found: dict[str, Any] = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [one for one in folders if one != ".git"]
        for name in folders + files:
            path = f"{folder}/{name}"
            status = os.lstat(path)
            mode = stat.S_IMODE(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                found[path] = ("link", str(Path(path).readlink()))
            elif stat.S_ISDIR(status.st_mode):
                found[path] = ("folder", mode)
            else:
                found[path] = ("file", mode, Path(path).read_bytes())
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path / "home", "s1")


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def test_files_come_back_and_the_way_there_can_be_undone(
    root: Path, checkpoints: Checkpoints
) -> None:
    (root / "a.c").write_text("one\n")
    (root / "src").mkdir()
    (root / "src" / "b.c").write_text("two\n")
    (root / "empty").mkdir()
    before = picture(root)
    first = await checkpoints.take([root], "turn 1")
    (root / "a.c").write_text("changed\n")
    shutil.rmtree(root / "src")
    (root / "empty").rmdir()
    (root / "new").mkdir()
    (root / "new" / "c.c").write_text("three\n")
    after = picture(root)
    restored = await checkpoints.restore(first, [root])
    assert picture(root) == before
    assert set(restored.written) == {root / "a.c", root / "src" / "b.c"}
    assert restored.removed == (root / "new" / "c.c",)
    assert restored.kept == {}
    await checkpoints.restore(restored.undo, [root])
    assert picture(root) == after


async def test_only_what_differs_is_written(root: Path, checkpoints: Checkpoints) -> None:
    (root / "same").write_text("same")
    (root / "other").write_text("old")
    first = await checkpoints.take([root])
    inode = (root / "same").stat().st_ino
    (root / "other").write_text("new")
    restored = await checkpoints.restore(first, [root])
    assert restored.written == (root / "other",)
    assert (root / "same").stat().st_ino == inode
    again = await checkpoints.restore(first, [root])
    assert again.written == again.removed == ()


async def test_single_files_and_folders_can_be_brought_back(
    root: Path, checkpoints: Checkpoints
) -> None:
    for name in ("a/x", "a/y", "b/x", "c"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("old")
    first = await checkpoints.take([root])
    for name in ("a/x", "a/y", "a/z", "b/x", "c"):
        (root / name).write_text("new!")
    await checkpoints.restore(first, [root], ["a", root / "c"])
    assert (root / "a/x").read_text() == (root / "a/y").read_text() == "old"
    assert not (root / "a/z").exists()
    assert (root / "c").read_text() == "old"
    assert (root / "b/x").read_text() == "new!"


async def test_changes_are_shown_as_edits(root: Path, checkpoints: Checkpoints) -> None:
    (root / "a").write_text("1\n2\n3\n")
    (root / "gone").write_text("x\n")
    (root / "data").write_bytes(b"\0\1")
    first = await checkpoints.take([root])
    assert await checkpoints.changes(first, [root]) == []
    (root / "a").write_text("1\ntwo\n3\n")
    (root / "gone").unlink()
    (root / "new").write_text("n\n")
    (root / "data").write_bytes(b"\0\2")
    edits = {edit.path: edit for edit in await checkpoints.changes(first, [root])}
    assert {path: edit.change for path, edit in edits.items()} == {
        "a": "modify",
        "gone": "delete",
        "new": "create",
        "data": "modify",
    }
    (hunk,) = edits["a"].hunks
    assert (hunk.old_start, hunk.old_lines, hunk.new_lines) == (2, ("2",), ("two",))
    assert (hunk.before, hunk.after) == (("1",), ("3", ""))
    assert edits["data"].hunks == ()


async def test_several_roots_are_one_checkpoint(tmp_path: Path, checkpoints: Checkpoints) -> None:
    roots = [tmp_path / "one", tmp_path / "two"]
    for folder in roots:
        folder.mkdir()
        (folder / "f").write_text(folder.name)
    first = await checkpoints.take(roots)
    for folder in roots:
        (folder / "f").write_text("changed")
    assert [(e.root, e.path) for e in await checkpoints.changes(first, roots)] == [
        (0, "f"),
        (1, "f"),
    ]
    await checkpoints.restore(first, [roots[1]])
    assert (roots[0] / "f").read_text() == "changed"
    await checkpoints.restore(first, roots)
    assert [(folder / "f").read_text() for folder in roots] == ["one", "two"]


async def test_ignored_files_stay_as_they_are(root: Path, checkpoints: Checkpoints) -> None:
    write(root, _dot_gitignore="build/\n*.log\n", a="old", build__out="built", x_dot_log="log")
    first = await checkpoints.take([root])
    write(root, a="new", build__out="built again", x_dot_log="more")
    await checkpoints.restore(first, [root])
    assert (root / "a").read_text() == "old"
    assert (root / "build/out").read_text() == "built again"
    assert (root / "x.log").read_text() == "more"


async def test_an_ignored_file_the_agent_writes_counts(
    root: Path, checkpoints: Checkpoints
) -> None:
    write(root, _dot_gitignore="*.env\nout/\n", a_dot_env="SECRET=1")
    first = await checkpoints.take([root])
    await checkpoints.include([root / "a.env", root / "out/made"])
    write(root, a_dot_env="SECRET=2", out__made="new", out__other="not of the agent")
    second = await checkpoints.take([root])
    write(root, a_dot_env="SECRET=3")
    assert {e.path for e in await checkpoints.changes(first, [root])} == {"a.env", "out/made"}
    await checkpoints.restore(second, [root])
    assert (root / "a.env").read_text() == "SECRET=2"
    await checkpoints.restore(first, [root])
    assert (root / "a.env").read_text() == "SECRET=1"
    assert not (root / "out/made").exists()
    assert (root / "out/other").read_text() == "not of the agent"


async def test_what_the_checkpoint_did_not_look_at_is_not_removed(
    root: Path, checkpoints: Checkpoints
) -> None:
    write(root, _dot_gitignore="build/\n", build__out="was there before", a="old")
    first = await checkpoints.take([root])
    write(root, _dot_gitignore="", a="new", made="later")
    await checkpoints.restore(first, [root])
    assert (root / "build/out").read_text() == "was there before"
    assert not (root / "made").exists()


async def test_what_is_ignored_now_is_kept_before_it_is_overwritten(
    root: Path, checkpoints: Checkpoints
) -> None:
    write(root, notes="first")
    first = await checkpoints.take([root])
    write(root, _dot_gitignore="notes\n", notes="hours of work")
    restored = await checkpoints.restore(first, [root])
    assert (root / "notes").read_text() == "first"
    await checkpoints.restore(restored.undo, [root])
    assert (root / "notes").read_text() == "hours of work"


async def test_a_large_file_is_named_and_left_alone(root: Path, tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "home", "s1", Limits(file_bytes=100))
    write(root, large="x" * 101, small="x", grows="old")
    first = await checkpoints.take([root])
    (info,) = await checkpoints.list()
    assert list(info.skipped) == [f"{root}/large"] and info.files == 2
    write(root, large="y" * 102, small="y", grows="z" * 103)
    restored = await checkpoints.restore(first, [root])
    assert (root / "small").read_text() == "x"
    assert (root / "large").read_text() == "y" * 102
    assert (root / "grows").read_text() == "z" * 103  # it could not be kept first
    assert list(restored.kept) == [root / "grows"]


async def test_beyond_the_limit_of_files_nothing_is_removed(root: Path, tmp_path: Path) -> None:
    for number in range(10):
        (root / f"f{number}").write_text("old")
    checkpoints = Checkpoints(tmp_path / "home", "s1", Limits(files=5))
    first = await checkpoints.take([root])
    for number in range(10):
        (root / f"f{number}").write_text("new")
    await checkpoints.restore(first, [root])
    assert [(root / f"f{n}").read_text() for n in range(10)] == ["old"] * 5 + ["new"] * 5


@posix
async def test_links_modes_and_odd_names(root: Path, checkpoints: Checkpoints) -> None:
    odd = os.fsdecode(b"caf\xe9 \n\t'\"\\\xff")
    (root / odd).write_bytes(b"\xff\0\xfe")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o751)
    (root / "there").symlink_to("run.sh")
    (root / "nowhere").symlink_to("/nonexistent/\udcff")
    (root / "dir").mkdir(mode=0o710)
    (root / "to_dir").symlink_to("dir", target_is_directory=True)
    (root / "dir" / ("n" * 255)).write_text("long name")
    (root / "dir" / ("\U0001f600" * 63)).write_text("long name in four bytes a letter")
    os.mkfifo(root / "pipe")
    before = picture_without(root, "pipe")
    first = await checkpoints.take([root])
    (root / odd).unlink()
    (root / "run.sh").chmod(0o644)
    for name in ("there", "nowhere", "to_dir"):
        (root / name).unlink()
    (root / "there").write_text("now a file")
    (root / "to_dir").mkdir()
    (root / "to_dir" / "f").write_text("now a folder")
    shutil.rmtree(root / "dir")
    (root / "dir").symlink_to("/etc", target_is_directory=True)
    await checkpoints.restore(first, [root])
    assert picture_without(root, "pipe") == before
    assert stat.S_ISFIFO((root / "pipe").lstat().st_mode)


def picture_without(root: Path, name: str) -> dict[str, Any]:
    (root / name).rename(root.parent / "aside")
    try:
        return picture(root)
    finally:
        (root.parent / "aside").rename(root / name)


async def test_no_file_is_written_through_a_link(
    root: Path, tmp_path: Path, checkpoints: Checkpoints
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("mine")
    write(root, sub__f="old")
    first = await checkpoints.take([root])
    shutil.rmtree(root / "sub")
    (root / "sub").symlink_to(outside, target_is_directory=True)
    await checkpoints.restore(first, [root])
    assert (outside / "f").read_text() == "mine"
    assert (root / "sub/f").read_text() == "old" and not (root / "sub").is_symlink()


async def test_a_file_changed_twice_in_one_tick_is_seen(
    root: Path, checkpoints: Checkpoints
) -> None:
    for number in range(30):
        (root / "f").write_text(f"{number:04}")
        ids = await checkpoints.take([root])
        (root / "f").write_text("....")
        await checkpoints.restore(ids, [root])
        assert (root / "f").read_text() == f"{number:04}"


def run_git(root: Path, *arguments: str, check: bool = True) -> None:
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    subprocess.run(["git", *arguments], cwd=root, check=check, capture_output=True, env=environment)


@git
async def test_git_is_never_touched_not_even_in_the_middle_of_a_rebase(
    root: Path, checkpoints: Checkpoints
) -> None:
    run_git(root, "init", "-b", "main")
    write(root, f="1\n", g="1\n")
    run_git(root, "add", ".")
    run_git(root, "commit", "-m", "1")
    run_git(root, "checkout", "-b", "other")
    write(root, f="2\n")
    run_git(root, "commit", "-am", "2")
    run_git(root, "checkout", "main")
    write(root, f="3\n")
    run_git(root, "commit", "-am", "3")
    write(root, g="stashed\n")
    run_git(root, "stash")
    run_git(root, "rebase", "other", check=False)  # stops in a conflict
    assert (root / ".git" / "rebase-merge").is_dir()
    write(root, staged="s\n", untracked="u\n")
    run_git(root, "add", "staged")
    nested = root / "vendor" / "nested"
    nested.mkdir(parents=True)
    run_git(nested, "init")
    (nested / "inner").write_text("inner")
    before, repository, inner = picture(root), raw(root / ".git"), raw(nested / ".git")
    first = await checkpoints.take([root])
    write(root, f="resolved\n", g="x\n", untracked="changed\n", more="m\n")
    (root / "staged").unlink()
    (nested / "inner").write_text("changed")
    await checkpoints.restore(first, [root])
    assert picture(root) == before
    assert raw(root / ".git") == repository and raw(nested / ".git") == inner


def raw(folder: Path) -> dict[str, Any]:
    """Bytes and stamps of everything below."""
    return {
        str(path): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


NAMES = st.sampled_from(["a", "b", "c", "d/a", "d/b", "d/e/a", "e", "A", "é", "x y", ".hidden"])
OPERATIONS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.binary(max_size=12)),
    st.tuples(st.just("delete"), NAMES, st.just(b"")),
    st.tuples(st.just("link"), NAMES, st.sampled_from([b"a", b"d", b"..", b"/etc/passwd", b"no"])),
    st.tuples(st.just("mkdir"), NAMES, st.just(b"")),
    st.tuples(st.just("mode"), NAMES, st.sampled_from([b"755", b"600", b"444"])),
    st.tuples(st.just("rename"), NAMES, NAMES.map(os.fsencode)),
)


def perform(root: Path, operations: list[tuple[str, str, bytes]]) -> None:
    """Do what can be done; names of files and folders clash on purpose."""
    for what, name, data in operations:
        path = root / name
        try:
            if any(p.is_symlink() for p in path.parents if root in p.parents):
                continue
            if what in ("write", "link", "mkdir"):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                path.unlink(missing_ok=True)
                path.parent.mkdir(parents=True, exist_ok=True)
            if what == "write":
                path.write_bytes(data)
            elif what == "link":
                path.symlink_to(os.fsdecode(data))
            elif what == "mkdir":
                path.mkdir()
            elif what == "mode" and not path.is_symlink() and path.is_file():
                path.chmod(int(data, 8))
            elif what == "delete":
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            elif what == "rename":
                path.rename(root / os.fsdecode(data))
        except OSError:
            continue


@posix
@given(st.lists(OPERATIONS, max_size=12), st.lists(st.lists(OPERATIONS, max_size=8), max_size=3))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_turn_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory,
    start: list[tuple[str, str, bytes]],
    turns: list[list[tuple[str, str, bytes]]],
) -> None:
    top = tmp_path_factory.mktemp("any")
    root = top / "work"
    root.mkdir()
    perform(root, start)

    async def story() -> None:
        checkpoints = Checkpoints(top / "home", "s")
        kept = []
        for turn in turns:
            kept.append((await checkpoints.take([root]), picture(root)))
            perform(root, turn)
        last = picture(root)
        undo = ""
        for checkpoint, state in [*reversed(kept), *kept]:
            restored = await checkpoints.restore(checkpoint, [root])
            undo = undo or restored.undo
            assert restored.kept == {}
            assert picture(root) == state
        if undo:
            await Checkpoints(top / "home", "s").restore(undo, [root])
            assert picture(root) == last

    asyncio.run(story())
    shutil.rmtree(top)


IGNORES = st.tuples(
    st.just("write"),
    st.sampled_from([".gitignore", "d/.gitignore"]),
    st.lists(st.sampled_from([b"a", b"d/", b"!a", b"*", b"e", b"/b"]), max_size=3).map(b"\n".join),
)


@posix
@given(
    st.lists(st.lists(st.one_of(OPERATIONS, IGNORES), max_size=8), min_size=1, max_size=3),
    st.lists(st.lists(st.one_of(OPERATIONS, IGNORES), max_size=8), min_size=1, max_size=3),
)
@example([[]], [[("write", "a", b"")], [("delete", "a", b""), ("write", ".gitignore", b"a")]])
@example([[]], [[("write", "a", b"")], [("delete", "a", b""), ("write", ".gitignore", b"*")]])
@settings(
    max_examples=examples(3000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_is_ignored_going_back_can_be_undone(
    tmp_path_factory: pytest.TempPathFactory,
    one: list[list[tuple[str, str, bytes]]],
    two: list[list[tuple[str, str, bytes]]],
) -> None:
    top = tmp_path_factory.mktemp("any")
    roots = [top / "one", top / "two"]
    for root in roots:
        root.mkdir()

    async def story() -> None:
        checkpoints = Checkpoints(top / "home", "s")
        kept = []
        for turn in range(max(len(one), len(two))):
            kept.append(await checkpoints.take(roots))
            for root, turns in zip(roots, (one, two), strict=True):
                perform(root, turns[turn] if turn < len(turns) else [])
        for checkpoint in kept:
            last = picture(top)
            restored = await checkpoints.restore(checkpoint, roots)
            again = await checkpoints.restore(restored.undo, roots)
            assert again.kept == {}
            assert files_of(picture(top), top) == files_of(last, top)

    asyncio.run(story())
    shutil.rmtree(top)


def files_of(seen: dict[str, Any], top: Path) -> dict[str, Any]:
    return {p: s for p, s in seen.items() if "/home" not in p[len(str(top)) :] and s[0] != "folder"}


async def test_sessions_share_contents_and_outlive_their_process(
    root: Path, tmp_path: Path
) -> None:
    (root / "f").write_bytes(os.urandom(1_000_000))
    first = await Checkpoints(tmp_path / "home", "s1").take([root])
    await Checkpoints(tmp_path / "home", "s2").take([root])
    assert (tmp_path / "home" / FILE).stat().st_size < 1_500_000
    (root / "f").write_text("")
    with pytest.raises(UsageError):
        await Checkpoints(tmp_path / "home", "s2").restore(first, [root])
    await Checkpoints(tmp_path / "home", "s1").restore(first, [root])
    assert (root / "f").stat().st_size == 1_000_000


async def test_pruned_checkpoints_give_their_space_back(root: Path, tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "home", "s1")
    other = Checkpoints(tmp_path / "home", "s2")
    ids = []
    for _ in range(5):
        (root / "f").write_bytes(os.urandom(500_000))
        ids.append(await checkpoints.take([root]))
    others = await other.take([root])
    assert await checkpoints.prune(keep=1) == 4
    assert [info.id for info in await checkpoints.list()] == ids[-1:]
    with sqlite3.connect(tmp_path / "home" / FILE) as database:
        assert database.execute("PRAGMA auto_vacuum").fetchone() == (2,)
        assert database.execute("SELECT sum(length(data)) FROM objects").fetchone()[0] < 600_000
    database.close()
    (root / "f").write_text("lost")
    await other.restore(others, [root])
    assert (root / "f").stat().st_size == 500_000
    with pytest.raises(UsageError):
        await checkpoints.restore(ids[0], [root])
    assert await checkpoints.prune(keep=0) == 1


async def test_a_collected_store_is_no_trap_for_those_who_know_it(
    root: Path, tmp_path: Path
) -> None:
    """What one process remembers to have stored, another may have removed."""
    one, two = (Checkpoints(tmp_path / "home", name) for name in ("s1", "s2"))
    (root / "f").write_text("A" * 1000)
    await one.take([root])
    os.utime(root / "f", (1, 1))
    await one.take([root])
    await one.prune(keep=0)
    (root / "f").rename(root / "g")
    await two.take([root])
    await two.prune(keep=0)
    (root / "g").rename(root / "f")
    checkpoint = await one.take([root])
    (root / "f").unlink()
    await one.restore(checkpoint, [root])
    assert (root / "f").read_text() == "A" * 1000


async def test_a_damaged_store_says_so_and_begins_anew(
    root: Path, tmp_path: Path, checkpoints: Checkpoints
) -> None:
    (root / "f").write_text("f")
    await checkpoints.take([root])
    (tmp_path / "home" / FILE).write_bytes(b"this is no database at all" * 100)
    for suffix in ("-wal", "-shm"):
        (tmp_path / "home" / (FILE + suffix)).unlink(missing_ok=True)
    with pytest.raises(JarvisError, match="damaged"):
        await checkpoints.take([root])
    again = await checkpoints.take([root])
    (root / "f").unlink()
    await checkpoints.restore(again, [root])
    assert (root / "f").read_text() == "f"


async def test_a_full_disk_is_said_and_loses_nothing(root: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "small") as home:
        checkpoints = Checkpoints(home, "s1")
        (root / "f").write_text("keep")
        first = await checkpoints.take([root])
        (root / "large").write_bytes(os.urandom(5_000_000))
        with pytest.raises(JarvisError, match="full"):
            await checkpoints.take([root])
        with pytest.raises(JarvisError, match="full"):
            await checkpoints.restore(first, [root])  # what is there now could not be kept
        assert (root / "large").stat().st_size == 5_000_000
        (root / "large").unlink()
        (root / "f").write_text("lost")
        await checkpoints.restore(first, [root])
        assert (root / "f").read_text() == "keep"


async def test_a_missing_root_and_an_unknown_id_are_errors(
    tmp_path: Path, root: Path, checkpoints: Checkpoints
) -> None:
    with pytest.raises(JarvisError, match="cannot be read"):
        await checkpoints.take([tmp_path / "nowhere"])
    with pytest.raises(UsageError):
        await checkpoints.restore("0", [root])


async def test_a_home_inside_the_workspace_is_not_part_of_it(root: Path) -> None:
    checkpoints = Checkpoints(root / "state", "s1")
    (root / "f").write_text("old")
    first = await checkpoints.take([root])
    (root / "f").write_text("new")
    await checkpoints.restore(first, [root])
    assert (root / "f").read_text() == "old"
    assert len(await checkpoints.list()) == 2


async def test_old_checkpoints_go_by_themselves(
    root: Path, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_ls.runtime.edits.checkpoints.KEPT", 4)
    for _ in range(9):
        await checkpoints.take([root])
    assert len(await checkpoints.list()) <= 5


async def test_forgotten_sessions_go_after_a_month(root: Path, tmp_path: Path) -> None:
    old, new = (Checkpoints(tmp_path / "home", name) for name in ("old", "new"))
    (root / "f").write_bytes(os.urandom(400_000))
    await old.take([root])
    (root / "f").write_text("small")
    with sqlite3.connect(tmp_path / "home" / FILE) as database:
        database.execute("UPDATE checkpoints SET created = created - 31 * 86400")
        database.execute("UPDATE state SET value = 1 WHERE name = 'collected'")
    await new.take([root])
    assert await old.list() == () and len(await new.list()) == 1
    with sqlite3.connect(tmp_path / "home" / FILE) as database:
        assert database.execute("SELECT sum(length(data)) FROM objects").fetchone()[0] < 10_000
    database.close()


KILLED = textwrap.dedent(
    """
    import asyncio, os, sys
    from pathlib import Path
    from jarvis_ls.runtime.edits.checkpoints import Checkpoints
    home, root = map(Path, sys.argv[1:])
    async def main():
        checkpoints = Checkpoints(home, "s1")
        while True:
            for number in range(40):
                (root / f"g{number}").write_bytes(os.urandom(20000))
            checkpoint = await checkpoints.take([root])
            print(checkpoint, flush=True)
    asyncio.run(main())
    """
)


async def test_a_process_killed_while_it_takes_loses_nothing(root: Path, tmp_path: Path) -> None:
    (root / "f").write_text("keep")
    checkpoints = Checkpoints(tmp_path / "home", "s1")
    first = await checkpoints.take([root])
    said: list[str] = []
    for number in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path / "home"), str(root)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert process.stdout is not None
        said.append(process.stdout.readline().strip())
        time.sleep(0.013 * number)
        process.kill()
        said.extend(process.stdout.read().split())
        process.wait()
        process.stdout.close()
        ids = [info.id for info in await checkpoints.list()]
        assert set(said) <= set(ids)
    with sqlite3.connect(tmp_path / "home" / FILE) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    await checkpoints.restore(first, [root])
    assert sorted(path.name for path in root.iterdir()) == ["f"]
    for checkpoint in said[:3]:
        await checkpoints.restore(checkpoint, [root])
        assert len(list(root.iterdir())) == 41

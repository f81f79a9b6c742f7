"""Nothing is read or written outside the root, even while somebody moves links about."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from pathlib import Path

import pytest

from jarvis_ls.core import beneath
from jarvis_ls.core.beneath import read_beneath, remove_beneath, remove_folders, replace_beneath
from jarvis_ls.core.errors import JarvisError, SkippedFile


@pytest.fixture(params=["descriptors", "paths"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """On systems that open files from folders, the other way is played too."""
    monkeypatch.setattr(
        beneath, "BY_DESCRIPTOR", request.param == "descriptors" and beneath.BY_DESCRIPTOR
    )
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_bytes(b"secret")
    return root.resolve()


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_file_is_written_read_and_removed(root: Path) -> None:
    assert replace_beneath(root, "a/b/c.txt", b"one") == 2
    assert replace_beneath(root, "a/b/c.txt", b"two", mode=0o750) == 0
    data, mode = read_beneath(root, "a/b/c.txt", limit=10)
    assert data == b"two" and stat.S_IMODE(mode) == 0o750
    replace_beneath(root, "a/b/c.txt", b"three")
    assert stat.S_IMODE((root / "a/b/c.txt").stat().st_mode) == 0o750
    assert names(root / "a/b") == ["c.txt"]
    remove_beneath(root, "a/b/c.txt")
    remove_folders(root, "a/b/c.txt", 2)
    assert names(root) == []


@pytest.mark.parametrize(
    "path", ["", ".", "..", "../outside/secret", "/etc/passwd", "a/../../x", "a//b", "a\0b", "a/."]
)
def test_odd_paths_are_refused(root: Path, path: str) -> None:
    for act in (
        lambda: read_beneath(root, path, limit=10),
        lambda: replace_beneath(root, path, b"x"),
        lambda: remove_beneath(root, path),
    ):
        with pytest.raises(JarvisError, match="not a path inside"):
            act()


@pytest.mark.parametrize("path", ["/".join("d" * 200), "x" * 4_000])
def test_paths_have_an_end(root: Path, path: str) -> None:
    for act in (lambda: replace_beneath(root, path, b"x"), lambda: remove_beneath(root, path)):
        with pytest.raises(JarvisError, match="too long"):
            act()
    assert names(root) == []


@pytest.mark.parametrize("path", ["link/secret", "link/new", "link/deep/new", "file", "dangling"])
def test_links_are_not_followed(root: Path, path: str) -> None:
    outside = root.parent / "outside"
    (root / "link").symlink_to(outside)
    (root / "file").symlink_to(outside / "secret")
    (root / "dangling").symlink_to(outside / "made")
    with pytest.raises((SkippedFile, FileNotFoundError)):
        read_beneath(root, path, limit=10)
    with pytest.raises(JarvisError):
        replace_beneath(root, path, b"x")
    with pytest.raises(JarvisError):
        remove_beneath(root, path)
    assert names(outside) == ["secret"] and (outside / "secret").read_bytes() == b"secret"


def test_what_is_no_file_is_not_replaced(root: Path) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(SkippedFile):
            read_beneath(root, name, limit=10)
        with pytest.raises(JarvisError, match=r"folder|pipe"):
            replace_beneath(root, name, b"x")
        with pytest.raises(JarvisError, match=r"folder|pipe"):
            remove_beneath(root, name)
    with pytest.raises(JarvisError):
        replace_beneath(root, "pipe/x", b"x")


def test_a_hard_link_to_the_outside_is_cut(root: Path) -> None:
    secret = root.parent / "outside" / "secret"
    os.link(secret, root / "a.txt")
    replace_beneath(root, "a.txt", b"mine")
    assert secret.read_bytes() == b"secret" and (root / "a.txt").read_bytes() == b"mine"


def test_limits_and_what_is_missing(root: Path) -> None:
    (root / "a").write_bytes(b"12345")
    with pytest.raises(SkippedFile, match="larger"):
        read_beneath(root, "a", limit=4)
    for path in ("b", "b/c"):
        with pytest.raises(FileNotFoundError):
            read_beneath(root, path, limit=4)
        with pytest.raises(JarvisError):
            remove_beneath(root, path)


def test_a_long_name_in_letters_of_four_bytes_can_be_written(root: Path) -> None:
    name = "\U0001f600" * 60
    replace_beneath(root, name, b"x")
    assert (root / name).read_bytes() == b"x"


@pytest.mark.skipif(not beneath.BY_DESCRIPTOR, reason="needs files opened from folders")
def test_a_race_with_links_never_leads_out(tmp_path: Path) -> None:
    root = (tmp_path / "root").resolve()
    outside = (tmp_path / "outside").resolve()
    (root / "real").mkdir(parents=True)
    outside.mkdir()
    (outside / "a").write_bytes(b"secret")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):  # the other thread makes folders meanwhile
                (root / "swap").symlink_to(outside)
                (root / "swap").rename(root / "link")
                (root / "link").unlink()
                (root / "real").rename(root / "link")
                (root / "link").rename(root / "real")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for count in range(400):
            for way in ("link/a", "real/a"):
                try:
                    replace_beneath(root, way, b"%d" % count)
                    assert read_beneath(root, way, limit=100)[0] != b"secret"
                except (JarvisError, FileNotFoundError):
                    continue
    finally:
        stop.set()
        thread.join()
    assert names(outside) == ["a"] and (outside / "a").read_bytes() == b"secret"

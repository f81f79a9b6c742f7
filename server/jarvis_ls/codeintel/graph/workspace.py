"""Keep the graph in step with the files below a folder, or with a tree of git.

Files are told apart by their content, which is named as git names it: so a tree of git that has
what the disk has costs nothing. What git ignores, folders of others' code and of builds, links and
files that are no source are left out.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.graph.extract import LARGEST, read_symbols
from jarvis_ls.codeintel.graph.languages import graph_language
from jarvis_ls.codeintel.graph.store import SymbolStore
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import STATE, read_regular
from jarvis_ls.core.ignored import (
    Ignore,
    ignore_file,
    ignores_above,
    is_hidden,
    is_ignored,
    printable,
)

EXCLUDED = frozenset(
    f".git .hg .svn .pc build dist out target third_party vendor node_modules .venv venv "
    f"__pycache__ .tox .mypy_cache {STATE}".split()
)
"""Folders that hold no source of the project, wherever they are."""


@dataclass(frozen=True, slots=True)
class Synced:
    """What bringing the graph up to date did."""

    files: int
    """Files in the graph."""
    read: int
    """Files that were read again."""
    removed: int
    """Files that are gone."""


def digest_of(data: bytes) -> str:
    """Return the name that git gives to a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def sync_folder(store: SymbolStore, root: Path) -> Synced:
    """Bring the graph up to date with the files below a folder."""
    read = 0
    present: set[str] = set()
    base = os.path.realpath(root)
    with store.changing():
        for path, location, stamp in list_files(base):
            state = _sync_file(store, path, location, stamp, base)
            if state is not None:
                present.add(path)
                read += state
        gone = [file.path for file in store.files() if file.path not in present]
        for path in gone:
            store.remove(path)
    store.index()
    return Synced(len(present), read, len(gone))


def sync_files(store: SymbolStore, root: Path, paths: Iterable[str]) -> bool:
    """Bring the graph up to date with some files of a folder; returns whether it knew all of them.

    Others are left to `sync_folder`, which knows what is ignored.
    """
    base = os.path.realpath(root)
    knows_all = True
    with store.changing():
        for path in paths:
            if store.file(path) is None:
                knows_all = knows_all and not is_source_path(path)
                continue
            location = f"{base}{os.sep}{path}"
            stamp = _stamp_on_disk(location)
            if stamp is None or _sync_file(store, path, location, stamp, base) is None:
                store.remove(path)
    return knows_all


def _sync_file(store: SymbolStore, path: str, location: str, stamp: str, base: str) -> bool | None:
    """Bring the graph up to date with a file; return whether it was read, None where it holds
    nothing for the graph."""
    file = store.file(path)
    if file is not None and file.stamp == stamp:
        return False
    try:
        data = read_regular(location, limit=LARGEST, root=base)
    except SkippedFile:
        return None
    digest = digest_of(data)
    if file is not None and file.digest == digest:
        store.set_stamp(file, stamp)
        return False
    return True if put_file(store, path, data, digest, stamp) else None


def sync_tree(
    store: SymbolStore, tree: Mapping[str, str], read: Callable[[str], bytes | None]
) -> None:
    """Bring the graph up to date with a tree: its files with their digests, and what reads one."""
    with store.changing():
        for path, digest in tree.items():
            file = store.file(path)
            if file is not None and file.digest == digest:
                continue
            data = read(path)
            if data is None or not put_file(store, path, data, digest, ""):
                store.remove(path)
        for path in [file.path for file in store.files() if file.path not in tree]:
            store.remove(path)
    store.index()


def put_file(store: SymbolStore, path: str, data: bytes, digest: str = "", stamp: str = "") -> bool:
    """Set what a file holds to what this text says; returns whether the graph reads such files."""
    symbols = read_symbols(path, data)
    if symbols is None:
        return False
    store.put(path, digest or digest_of(data), stamp, symbols)
    return True


def is_source_path(path: str) -> bool:
    """Return whether the graph reads a file of this path: by its folders and its name."""
    return graph_language(path) is not None and not EXCLUDED.intersection(path.split("/")[:-1])


def list_files(root: str) -> Iterator[tuple[str, str, str]]:
    """Yield the sources below a folder: path below it, where it is, and its size and time."""
    above = ignores_above(root, root)
    if is_hidden(root, above):  # somebody asked for this folder all the same
        above = []
    stack: list[tuple[str, list[Ignore]]] = [(root, above)]
    while stack:
        folder, ignores = stack.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue  # what cannot be listed has no symbols that could be told
        if any(entry.name == ".gitignore" for entry in found):
            ignores = [*ignores, *ignore_file(folder)]
        for entry in found:
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in EXCLUDED and not is_ignored(entry.path + os.sep, ignores):
                        stack.append((entry.path, ignores))
                elif _is_source(entry) and not is_ignored(entry.path, ignores):
                    status = entry.stat(follow_symlinks=False)
                    path = printable(os.path.relpath(entry.path, root))
                    yield path, entry.path, _stamp_of(status)
            except OSError:
                continue  # gone in the meantime


def _is_source(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False) and graph_language(entry.name) is not None


def _stamp_on_disk(location: str) -> str | None:
    try:
        status = Path(location).lstat()
    except OSError:
        return None
    return _stamp_of(status) if stat.S_ISREG(status.st_mode) else None


def _stamp_of(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}"

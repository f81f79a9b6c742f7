"""What git ignores below a folder, read from `.gitignore` files without running git."""

from __future__ import annotations

import os
from dataclasses import dataclass

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.globs import Globs

_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Ignore:
    """One `.gitignore`: its folder with a separator behind it, and its patterns."""

    folder: str
    globs: Globs


def ignore_file(folder: str, name: str = ".gitignore") -> list[Ignore]:
    """Return the patterns of a folder's own file; none when there is none that git would read."""
    try:
        data = read_regular(os.path.join(folder, name), limit=_MAX_BYTES)  # noqa: PTH118
    except SkippedFile:  # git does not follow such a file either
        return []
    lines = data.decode("utf-8", "replace").split("\n")
    return [Ignore(folder.rstrip(os.sep) + os.sep, Globs(lines, lenient=True))]


def ignores_above(start: str, root: str) -> list[Ignore]:
    """Rules that hold for the folder `start`, from the outside in: those of the work tree it
    is in, or of `root` when there is no work tree."""
    folders = [start]
    while not _is_work_tree(folders[-1]):
        parent = os.path.dirname(folders[-1])  # noqa: PTH120
        if parent == folders[-1]:
            folders = [
                folder for folder in folders if folder == root or folder.startswith(root + os.sep)
            ]
            break
        folders.append(parent)
    else:
        root = folders[-1]
    exclude = ignore_file(root, os.path.join(".git", "info", "exclude"))  # noqa: PTH118
    above = reversed(folders[1:])
    return exclude + [ignore for folder in above for ignore in ignore_file(folder)]


def is_ignored(path: str, ignores: list[Ignore]) -> bool:
    """Return whether `path` is ignored; folders end in a separator."""
    for ignore in reversed(ignores):  # the nearest file that says anything decides
        said = ignore.globs.decide(printable(path[len(ignore.folder) :]))
        if said is not None:
            return said
    return False


def is_hidden(folder: str, ignores: list[Ignore]) -> bool:
    """Return whether `folder` or one around it is ignored."""
    while any(folder.startswith(ignore.folder) for ignore in ignores):
        if is_ignored(folder + os.sep, [i for i in ignores if folder.startswith(i.folder)]):
            return True
        folder = os.path.dirname(folder)  # noqa: PTH120
    return False


def printable(path: str) -> str:
    """Return a path as text that can be printed and encoded: what is no UTF-8 becomes `\\xNN`."""
    path = path.replace(os.sep, "/") if os.sep != "/" else path
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_work_tree(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, ".git"))  # noqa: PTH118

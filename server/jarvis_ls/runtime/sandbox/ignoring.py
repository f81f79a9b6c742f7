"""What git ignores in a folder of the user's, by the rules that are there now."""

from __future__ import annotations

import os
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.runtime.edits.snapshots.look import Ignores

_MAX_BYTES = 1_000_000


class IgnoredIn:
    """Answers for paths from a root; what a script writes into a `.gitignore` changes nothing."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[str, tuple[bool, Ignores]] = {}

    def file(self, path: str) -> bool:
        """Return whether a file is ignored, or a folder above it."""
        ignored, ignores = self._rules(path.rpartition("/")[0])
        return ignored or ignores.match(_show_text(path))

    def folder(self, path: str) -> bool:
        """Return whether a folder is ignored, or one above it."""
        ignored, ignores = self._rules(path.rpartition("/")[0])
        return ignored or ignores.match(_show_text(path) + "/")

    def _rules(self, folder: str) -> tuple[bool, Ignores]:
        """Return whether a folder is ignored, and the rules that hold in it."""
        if folder not in self._known:
            if not folder:
                ignored, ignores = False, Ignores()
                files = [".git/info/exclude", ".gitignore"]
            else:
                above, ignores = self._rules(folder.rpartition("/")[0])
                ignored = above or ignores.match(_show_text(folder) + "/")
                files = [f"{folder}/.gitignore"]
            texts = [_read(f"{self._root}/{name}") for name in files]
            self._known[folder] = (ignored, ignores.below(f"{folder}/" if folder else "", *texts))
        return self._known[folder]


def _read(path: str) -> bytes | None:
    try:
        return read_regular(Path(path), limit=_MAX_BYTES)
    except SkippedFile:  # git does not follow such a file either
        return None


def _show_text(path: str) -> str:
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")

"""What a script changed in its copy of a root, read from the overlay or by comparison.

Not carried over, and said so: what lies below `.git` and `.jarvis`, what git ignores (what a
build makes), special files, and files over a size limit. A file the user has changed while the
script ran is left as the user has it.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.edits.file_change import FileChange, FileState, read_state
from jarvis_ls.runtime.edits.snapshots.look import NEVER
from jarvis_ls.runtime.sandbox.copies import RunFolder, Workplace, stamp_of
from jarvis_ls.runtime.sandbox.ignoring import IgnoredIn
from jarvis_ls.runtime.sandbox.kept import put_aside

LARGEST = 20_000_000
"""Bytes of a file that is still carried over."""
MOST = 2_000
"""Files that are carried over."""
MOST_BYTES = 100_000_000
"""Of all files that are carried over, before and after."""

_GIT, _IGNORED = "in .git or .jarvis", "that git ignores"
_MEANWHILE = "that changed in the workspace while the script ran"
_SPECIAL, _LARGE, _MANY = (
    "that are pipes, sockets or devices",
    "that are too large",
    "more than can be checked",
)


def changed(place: Workplace, number: int) -> tuple[list[FileChange], list[str]]:
    """Return the changes of a root, and sentences on those that are left out."""
    return _Reading(place, number).run()


def all_changes(
    folder: RunFolder, places: Sequence[Workplace]
) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
    """Return the changes of all roots, and sentences on those that are left out."""
    changes: list[FileChange] = []
    said = put_aside(folder, places)
    for number, place in enumerate(places):
        found, words = changed(place, number)
        changes += found
        said += words
    return tuple(changes), tuple(said)


class _Reading:
    def __init__(self, place: Workplace, number: int) -> None:
        self._place = place
        self._number = number
        self._left_out: Counter[str] = Counter()
        self._ignored = IgnoredIn(place.root)

    def run(self) -> tuple[list[FileChange], list[str]]:
        touched = self._of_copy() if self._place.is_copy else self._of_overlay("")
        found: list[FileChange] = []
        room = MOST_BYTES
        for path in sorted(set(touched)):
            if len(found) >= MOST or room <= 0:
                self._left_out[_MANY] += 1
                continue
            change = self._change(path)
            if change is not None:
                found.append(change)
                room -= sum(len(s.data) for s in (change.before, change.after) if s is not None)
        said: list[str] = [
            Words("{count} changed files {why}", count=f"{count:,}", why=Words(why))
            for why, count in self._left_out.items()
        ]
        return found, said

    def _change(self, path: str) -> FileChange | None:
        if why := self._outside(path):
            if any(_is_file(f"{top}/{path}") for top in (self._place.folder, self._place.root)):
                self._left_out[why] += 1
            return None
        after = self._state(self._place.folder, path, self._in_upper(path))
        before = self._state(self._place.root, path, True)
        if isinstance(after, str) or isinstance(before, str):
            self._left_out[after if isinstance(after, str) else str(before)] += 1
            return None
        if before == after:
            return None
        if self._is_newer(path):
            self._left_out[_MEANWHILE] += 1
        else:
            return FileChange(path, before, after, self._number)
        return None

    def _outside(self, path: str) -> str:
        """Return why a file must not be carried; empty for others."""
        if any(part.lower() in NEVER for part in path.split("/")):
            return _GIT
        return _IGNORED if self._ignored.file(path) else ""

    def _state(self, top: str, path: str, is_there: bool) -> FileState | str | None:
        """Return the state of a path, or the reason why it cannot be carried."""
        if not is_there:
            return None
        place = f"{top}/{path}"
        try:
            if _is_folder(place) or not _straight(top, path):
                return None
            return read_state(place, LARGEST)
        except ValueError:
            return _LARGE if os.path.isfile(place) else _SPECIAL  # noqa: PTH113
        except OSError:
            try:
                os.chmod(place, 0o600, follow_symlinks=False)  # noqa: PTH101 - it is the copy
                return read_state(place, LARGEST)
            except (OSError, ValueError, NotImplementedError):
                return _SPECIAL

    def _in_upper(self, path: str) -> bool:
        return self._place.is_copy or not _is_whiteout(f"{self._place.folder}/{path}")

    # Where something may differ

    def _of_copy(self) -> Iterator[str]:
        seen = set()
        for path, status in _walk(self._place.folder, ours=True):
            seen.add(path)
            if self._place.stamps.get(path) != stamp_of(status):
                yield path
        yield from (path for path in self._place.stamps if path not in seen)

    def _of_overlay(self, path: str, covered: bool = False) -> Iterator[str]:
        """Paths the upper folder speaks of; with `covered` nothing below shines through."""
        folder = f"{self._place.folder}/{path}" if path else self._place.folder
        _open_up(folder)
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            below = f"{path}/{entry.name}" if path else entry.name
            lower = f"{self._place.root}/{below}"
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                hides = covered or _is_opaque(entry.path) or not _is_folder(lower)
                if not covered:
                    yield below  # a file may have stood here
                    if hides:
                        yield from self._below(below)
                yield from self._of_overlay(below, hides)
            else:
                yield below
                if not covered:
                    yield from self._below(below)

    def _below(self, path: str) -> Iterator[str]:
        """Files the user has below a folder that is gone."""
        if _is_folder(f"{self._place.root}/{path}"):
            for inner, _ in _walk(f"{self._place.root}/{path}"):
                yield f"{path}/{inner}"

    # What is left out

    def _is_newer(self, path: str) -> bool:
        try:
            status = os.lstat(f"{self._place.root}/{path}")
        except OSError:
            return False
        return max(status.st_mtime_ns, status.st_ctime_ns) >= self._place.started


def _walk(top: str, *, ours: bool = False) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder that is no folder itself, with its status; modes of `ours` may
    be changed to look."""
    waiting = [""]
    while waiting:
        path = waiting.pop()
        folder = f"{top}/{path}" if path else top
        if ours:
            _open_up(folder)
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            below = f"{path}/{entry.name}" if path else entry.name
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                waiting.append(below)
            else:
                yield below, status


def _open_up(folder: str) -> None:
    """Make a folder of the copy readable again."""
    if not os.access(folder, os.R_OK | os.X_OK):
        os.chmod(folder, 0o700)  # noqa: PTH101


def _straight(top: str, path: str) -> bool:
    """Return whether only folders lead to a path: through a link something else would be seen."""
    parts = path.split("/")[:-1]
    return all(_is_folder("/".join([top, *parts[: n + 1]])) for n in range(len(parts)))


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_file(path: str) -> bool:
    return os.path.lexists(path) and not _is_folder(path)


def _is_whiteout(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return True  # inside something that is gone
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def _is_opaque(path: str) -> bool:
    for name in ("user.overlay.opaque", "trusted.overlay.opaque"):
        try:
            if os.getxattr(path, name, follow_symlinks=False) == b"y":
                return True
        except OSError:
            continue
    return False

"""What a script changed in its copy of a root, read from the overlay or by comparison.

Not carried over: what builds have made, recognised or because git ignores it, which is named;
and, said so where it matters, what is below `.git` and `.jarvis`, special files, and files over
a size limit. A file the user has changed while the script ran is left as the user has it.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.edits.file_change import FileChange, FileState, read_state
from jarvis_ls.runtime.edits.snapshots.look import NEVER
from jarvis_ls.runtime.sandbox.base import Ran
from jarvis_ls.runtime.sandbox.copies import Workplace
from jarvis_ls.runtime.sandbox.ignoring import IgnoredIn
from jarvis_ls.runtime.sandbox.kept import note_touched, put_aside
from jarvis_ls.runtime.sandbox.mirror import DEEPEST, is_folder, is_straight, open_up
from jarvis_ls.runtime.sandbox.process import Ended

LARGEST = 20_000_000
"""Bytes of a file that is still carried over."""
MOST = 2_000
"""Files that are carried over."""
MOST_BYTES = 100_000_000
"""Of all files that are carried over, before and after."""

_GIT, _IGNORED = "in .git or .jarvis", "that git ignores"
_MEANWHILE = "that changed in the workspace while the script ran"
_DEEP = "in folders too deep to look into"
_SPECIAL, _LARGE, _MANY = (
    "that are pipes, sockets or devices",
    "that are too large",
    "more than can be checked",
)


@dataclass(frozen=True, slots=True)
class Changes:
    """What came of a script, of all roots."""

    files: tuple[FileChange, ...]
    """What may be carried over."""
    built: tuple[str, ...]
    """What a build has made for the first time."""
    left_out: tuple[str, ...]
    """Sentences on what cannot be carried over."""


def all_changes(places: Sequence[Workplace]) -> Changes:
    """Return what a script has changed in all roots."""
    files: list[FileChange] = []
    built: list[str] = []
    said: list[str] = []
    for number, place in enumerate(places):
        if place.mirror is not None:
            found = place.mirror.look()
            touched, made, too_deep = found.touched, found.built, found.too_deep
        else:
            made = tuple(put_aside(place))
            overlaid = _Overlaid(place)
            touched, too_deep = frozenset(overlaid.paths()), overlaid.too_deep
        changes, words = _Reading(place, number, touched, too_deep).run()
        if place.mirror is None:
            note_touched(place, changes)
        prefix = f"{os.path.basename(place.root)}/" if number else ""  # noqa: PTH119
        built += [prefix + path for path in made]
        files += changes
        said += words
    return Changes(tuple(files), tuple(built), tuple(said))


def came_of(ended: Ended, isolation: str, found: Changes) -> Ran:
    """Return what came of a script that has ended."""
    return Ran(
        ended.exit,
        ended.output,
        ended.why,
        ended.seconds,
        isolation,
        found.files,
        found.built,
        found.left_out,
    )


class _Reading:
    def __init__(
        self, place: Workplace, number: int, touched: Collection[str], too_deep: int
    ) -> None:
        self._place = place
        self._number = number
        self._touched = touched
        self._left_out: Counter[str] = Counter({_DEEP: too_deep} if too_deep else {})
        self._ignored = IgnoredIn(place.root)

    def run(self) -> tuple[list[FileChange], list[str]]:
        found: list[FileChange] = []
        room = MOST_BYTES
        for path in sorted(self._touched):
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
            if why == _GIT and _matters(path) and self._is_some_file(path):
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

    def _is_some_file(self, path: str) -> bool:
        return any(_is_file(f"{top}/{path}") for top in (self._place.folder, self._place.root))

    def _state(self, top: str, path: str, is_there: bool) -> FileState | str | None:
        """Return the state of a path, or the reason why it cannot be carried."""
        if not is_there:
            return None
        place = f"{top}/{path}"
        try:
            if is_folder(place) or not is_straight(top, path):
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

    def _is_newer(self, path: str) -> bool:
        try:
            status = os.lstat(f"{self._place.root}/{path}")
        except OSError:
            return False
        return max(status.st_mtime_ns, status.st_ctime_ns) >= self._place.started


class _Overlaid:
    """What the upper folder of an overlay speaks of."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        self.too_deep = 0

    def paths(self) -> Iterator[str]:
        """Yield paths that may differ."""
        waiting = [("", False)]  # what is covered does not shine through
        while waiting:
            path, covered = waiting.pop()
            folder = f"{self._place.folder}/{path}" if path else self._place.folder
            if path.count("/") >= DEEPEST:
                self.too_deep += 1
                continue
            open_up(folder)
            try:
                with os.scandir(folder) as entries:
                    found = list(entries)
            except OSError:
                continue
            for entry in found:
                below = f"{path}/{entry.name}" if path else entry.name
                if not stat.S_ISDIR(entry.stat(follow_symlinks=False).st_mode):
                    yield below
                    if not covered:
                        yield from self._below(below)
                    continue
                lower = f"{self._place.root}/{below}"
                hides = covered or _is_opaque(entry.path) or not is_folder(lower)
                if not covered:
                    yield below  # a file may have stood here
                    if hides:
                        yield from self._below(below)
                waiting.append((below, hides))

    def _below(self, path: str) -> Iterator[str]:
        """Files the user has below a folder that is gone."""
        if is_folder(f"{self._place.root}/{path}"):
            for inner in _files(f"{self._place.root}/{path}"):
                yield f"{path}/{inner}"


def _files(top: str) -> Iterator[str]:
    """Yield everything below a folder that is no folder itself."""
    waiting = [""]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(f"{top}/{path}" if path else top) as entries:
                found = list(entries)
        except OSError:
            continue
        for entry in found:
            below = f"{path}/{entry.name}" if path else entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append(below)
            else:
                yield below


def _matters(path: str) -> bool:
    """Return whether a change below `.git` is more than what every look at it brings about."""
    inside = path.partition(".git/")[2]
    return not (inside == "index" or inside.startswith("objects/") or inside.endswith(".lock"))


def _is_file(path: str) -> bool:
    return os.path.lexists(path) and not is_folder(path)


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

"""A patch: what some files of a workspace should become, read from a unified diff or from edits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from jarvis_ls.codeintel.diff import blocks
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.core.errors import JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.scan.apply_fixes import FixedFile, apply_fixes
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.tools.loose_diff import place_diff

LARGEST_FILE = 8_000_000
"""Bytes of a file that is changed."""
LARGEST_DIFF = 4_000_000
_MOST_FILES = 50
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_HUGE = re.compile(r"\d{10}")
"""A number of a line that is none, and that may be too long to be read as a number."""
_NOWHERE = "/dev/null"
_NOT_CHANGES = ("rename from ", "copy from ", "GIT binary patch", "Binary files ", "old mode ")


class PatchUnfit(JarvisError):
    """A patch that is no change of the files as they are; the text says why."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What one file should become."""

    path: str
    """Relative to the workspace, with forward slashes."""
    before: Source
    """The text it speaks of."""
    after: bytes
    """The text afterwards, as UTF-8."""

    @property
    def raw_before(self) -> bytes:
        """Return the bytes on disk that the change is for."""
        return self.before.encode(self.before.data)

    @property
    def raw_after(self) -> bytes:
        """Return the bytes on disk afterwards. Raises `PatchUnfit` when the encoding of the file
        has no such text."""
        try:
            return self.before.encode(self.after)
        except UnicodeError:
            raise PatchUnfit(
                "{file} is in {encoding}, which has no such characters.",
                file=self.path,
                encoding=self.before.encoding,
            ) from None

    @property
    def changed_lines(self) -> list[tuple[int, int, int, int]]:
        """Return blocks of lines, from 0: `a:b` of the old text became `c:d` of the new one."""
        return blocks(_lines(self.before.data), _lines(self.after))

    def diff(self) -> str:
        """Return the change as a unified diff."""
        return FixedFile(self.path, self.before, self.after).diff()


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes of files that belong together."""

    changes: tuple[FileChange, ...]

    @property
    def size(self) -> int:
        """Return how many lines go and come."""
        return sum(
            (b - a) + (d - c) for change in self.changes for a, b, c, d in change.changed_lines
        )

    def diff(self) -> str:
        """Return all of it as a unified diff."""
        return "".join(change.diff() for change in self.changes)

    def source(self, path: str) -> Source | None:
        """Return the text of a file afterwards; None when it is not changed."""
        for change in self.changes:
            if change.path == path:
                return Source(path, change.after, change.before.encoding, change.before.bom)
        return None


def read_patch(root: Path, text: str) -> Patch:
    """Return what a unified diff makes of the files below `root`. Line numbers may have moved.

    Raises `PatchUnfit` when it fits no place, or does more than change files.
    """
    changes = [_read_change(root, name, part) for name, part in _files(text)]
    if not changes:
        raise PatchUnfit("It is not a unified diff: there is no '--- FILE' followed by '+++ FILE'.")
    if len({change.path for change in changes}) < len(changes):
        raise PatchUnfit("The diff names a file twice.")
    return Patch(tuple(change for change in changes if change.after != change.before.data))


def patch_of_fix(root: Path, finding: Finding) -> Patch | None:
    """Return what the rule's own rewrite of a finding makes of its file; None when it has none or
    it cannot be applied."""
    source = read_source(root, finding.file)
    language = language_of(finding.file, source.data)
    if finding.fix is None or language is None:
        return None
    fixed = apply_fixes(source, language, [finding], unsafe=True)
    if fixed.after == source.data:
        return None
    return Patch((FileChange(finding.file, source, fixed.after),))


def read_source(root: Path, path: str) -> Source:
    """Return the text of a file below `root` that a patch may change. Raises `PatchUnfit`."""
    try:
        raw = read_regular(root / path, limit=LARGEST_FILE, root=root)
    except SkippedFile as skipped:
        raise PatchUnfit("{file} cannot be changed: {why}", file=path, why=skipped) from None
    source = decode(path, raw)
    try:
        if source.encode(source.data) != raw:
            raise PatchUnfit("The encoding of {file} cannot be written back.", file=path)
    except UnicodeError:
        raise PatchUnfit("The encoding of {file} cannot be written back.", file=path) from None
    return source


def write_patch(root: Path, patch: Patch) -> None:
    """Put new texts in the place of the old: of every file, or of none when one is not what it was
    when the patch was made.

    Raises `UsageError` when one is another now, `JarvisError` when the disk refuses; what was
    written by then is taken back.
    """
    ready = [(change, change.raw_before, change.raw_after) for change in patch.changes]
    for change, before, _ in ready:
        try:
            now = read_regular(root / change.path, limit=LARGEST_FILE, root=root)
        except SkippedFile:
            now = None
        if now != before:
            raise UsageError(
                "{file} has changed since the repair was made; nothing was written. Repair again.",
                file=change.path,
            )
    written: list[tuple[Path, bytes, int]] = []
    try:
        for change, before, after in ready:
            place = root / change.path
            mode = place.lstat().st_mode
            replace_file(place, after, mode=mode)
            written.append((place, before, mode))
    except (JarvisError, OSError):
        for place, before, mode in written:
            replace_file(place, before, mode=mode)
        raise


def _files(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each file of a diff and the lines about it."""
    lines = text.replace("\r\n", "\n").split("\n")
    at, name, start = 0, "", 0
    count = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("@@") and _HUGE.search(line):
            raise PatchUnfit("A part of the diff begins at a line that no file has.")
        if line.startswith(_NOT_CHANGES):
            raise PatchUnfit("A repair changes the text of files only: '{line}'", line=line[:80])
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if line.startswith("--- ") and following.startswith("+++ "):
            if name:
                yield name, "\n".join(lines[start:at])
            count += 1
            if count > _MOST_FILES:
                raise PatchUnfit("The diff changes more than {count} files.", count=_MOST_FILES)
            name, start = _name(line, following), at
            at += 2
        else:
            at += _hunk_size(lines, at) if line.startswith("@@") else 1
    if name:
        yield name, "\n".join(lines[start:])


def _hunk_size(lines: Sequence[str], at: int) -> int:
    """Return how many lines a hunk has, by its head: a line that goes may look like a file."""
    head = _HUNK.match(lines[at])
    if head is None:
        return 1
    old, new = (int(number) if number is not None else 1 for number in head.groups())
    end = at + 1
    while end < len(lines) and (old > 0 or new > 0):
        sign = lines[end][:1]
        if sign not in ("", " ", "-", "+", "\\"):
            break
        old -= sign in ("", " ", "-")
        new -= sign in ("", " ", "+")
        end += 1
    return end - at


def _name(old: str, new: str) -> str:
    names = [line[4:].split("\t")[0].strip().strip('"') for line in (old, new)]
    if _NOWHERE in names:
        raise PatchUnfit(
            "It makes or deletes a file ('{line}'); a repair changes files that are there.",
            line=(new if names[0] == _NOWHERE else old)[:80],
        )
    name = names[1]
    if name.startswith("b/") and names[0].startswith("a/"):
        name = name[2:]
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name or "\\" in name:
        raise PatchUnfit("'{name}' is not a file of the project.", name=name[:80])
    return path.as_posix()


def _read_change(root: Path, name: str, part: str) -> FileChange:
    source = read_source(root, name)
    text = source.data.decode("utf-8", "surrogateescape")
    ending = "\r\n" if "\r\n" in text else "\n"
    if ending == "\r\n" and text.count("\n") != text.count("\r\n"):
        raise PatchUnfit("{file} has line ends of two kinds.", file=name)
    try:
        after, _ = place_diff(text.replace("\r\n", "\n"), part)
    except ToolRetry as error:
        raise PatchUnfit(
            "The diff does not fit {file}: {why}", file=name, why=Words(str(error))
        ) from None
    after = after.replace("\r\n", "\n").replace("\n", ending)
    return FileChange(name, source, after.encode("utf-8", "surrogateescape"))


def _lines(data: bytes) -> list[str]:
    return data.replace(b"\r\n", b"\n").decode("utf-8", "replace").split("\n")

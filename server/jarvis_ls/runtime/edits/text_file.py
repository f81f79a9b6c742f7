"""A user's text file, read and written without harm.

A file keeps its encoding, byte order mark, line ends (mixed ones too), last newline, mode and
owner; what is not text, or could not be written back exactly, is not touched. Texts have `\\n`
between lines everywhere above this module.
"""

from __future__ import annotations

import asyncio
import codecs
import difflib
import hashlib
import os
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.codeintel.diff import blocks
from jarvis_ls.core.beneath import read_beneath
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.folders import named, prefix_of
from jarvis_ls.runtime.edits.binary_kinds import kind_of_data
from jarvis_ls.runtime.tools.permissions import is_path, placed, real_path, shown

if TYPE_CHECKING:
    from jarvis_ls.runtime.tools.tool import ToolContext

MAX_BYTES = 20_000_000
"""Larger files are data; no one reads or edits them by hand."""

Buffers = Callable[[Path], "str | None"]
"""Text of a file that is open and unsaved in the user's editor (`services["buffers"]`)."""

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LINE_END = re.compile(r"\r\n|\n|\r")
_SUGGESTIONS = 3
_OTHER_FORM = re.compile(r"~(?:/|$)|\$\w|[A-Za-z][\w+.-]*:/|[A-Za-z]:\\|.*\\", re.DOTALL)
"""What no one means as the name of a new file: `~/x`, `$HOME/x`, `file:///x`, `C:\\x`."""


@dataclass(frozen=True, slots=True)
class WorkspacePath:
    """Path of a file in the workspace, with links resolved."""

    root: Path
    """Folder of the workspace, resolved."""
    number: int
    """Which of the workspace's folders; -1 for a file outside that the user let us read."""
    path: str
    """From the root, links resolved, with forward slashes."""
    prefix: str = field(default="", compare=False)
    """Prefix of this folder's paths in what a model reads; see `prefix_of`."""

    @property
    def real(self) -> Path:
        """Absolute path."""
        return self.root / self.path

    @property
    def name(self) -> str:
        """As models read and write it."""
        return self.named(self.path)

    def named(self, path: str) -> str:
        """Return the name of another file of the same folder, given from the root."""
        return named(path, self.prefix)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file as it was when it was read."""

    place: WorkspacePath
    text: str
    """With `\\n` between lines."""
    ends: str | tuple[str, ...] = "\n"
    """The line end of all lines, or that of each when they differ."""
    encoding: str = "utf-8"
    bom: bytes = field(default=b"", repr=False)
    """Byte order mark of the file on disk."""
    raw: bytes = field(default=b"", repr=False)
    """What was on disk."""
    mode: int = 0o100644
    unsaved: bool = False
    """The text is that of the user's editor, which has not been saved."""

    @property
    def lines(self) -> list[str]:
        """The lines without ends; a last newline is not followed by an empty line."""
        return lines_of(self.text)

    @property
    def digest(self) -> str:
        """Names what was read."""
        return digest_of(self.text.encode("utf-8", "surrogatepass") if self.unsaved else self.raw)

    @property
    def described(self) -> str:
        """The unusual properties of the file, in words; empty for UTF-8 with `\\n`."""
        said: list[str] = []
        if self.unsaved:
            said.append(Words("unsaved text of the editor"))
        if self.encoding == "latin-1":
            said.append(Words("not UTF-8, read as ISO 8859-1"))
        elif self.encoding != "utf-8":
            said.append(self.encoding.upper())
        elif self.bom:
            said.append(Words("UTF-8 with a byte order mark"))
        if not isinstance(self.ends, str):
            said.append(Words("mixed line ends"))
        elif self.ends != "\n":
            said.append(Words("CRLF line ends" if self.ends == "\r\n" else "CR line ends"))
        return together(said, ", ")

    def encode(self, text: str) -> bytes:
        """Return the bytes of the file with new text.

        Lines that stay keep their line end, new ones get that of the line above. Raises
        `ToolRetry` when a character does not exist in the file's encoding.
        """
        text = with_newlines(text)
        if text == self.text and not self.unsaved:
            return self.raw
        return self.bom + _encode(_with_ends(self.text, self.ends, text), self)


def digest_of(data: bytes) -> str:
    """Names contents."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def lines_of(text: str) -> list[str]:
    """Lines without ends; a last newline is not followed by an empty line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def with_newlines(text: str) -> str:
    """`text` with `\\n` for every line end."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def resolve_path(path: str, context: ToolContext, *, reading: bool = True) -> WorkspacePath:
    """Return `path` below its workspace folder. Raise `ToolRetry` when it is outside, or no path.

    Only a file outside that the user has just let us read (`services["granted"]`), or that we have
    written for the model (`services["outputs"]`), is allowed too, and only for reading.
    """
    if not path.strip():
        raise ToolRetry("The path is empty. Give the path of a file, relative to the workspace.")
    if not is_path(path):
        raise ToolRetry("{path} is not a valid path; nothing was done.", path=shown(path))
    found = placed(path, context.roots)
    if found is not None:
        number, rest = found
        root = context.roots[number]
        if not reading and _is_of_another_place(path) and not (root / rest).exists():
            raise ToolRetry(
                (
                    "{path} is not a path of this system. Give a path relative to the "
                    "workspace, with forward slashes."
                ),
                path=shown(path),
            )
        return WorkspacePath(root, number, rest, prefix_of(rest, number, context.roots))
    outside = real_path(path, context.roots) if reading else None
    if outside is not None and any(
        outside in context.services.get(name, ()) for name in ("granted", "outputs")
    ):
        anchor = Path(outside.anchor)
        return WorkspacePath(anchor, -1, outside.relative_to(anchor).as_posix(), anchor.as_posix())
    raise ToolRetry("{path} is outside the workspace; nothing was done.", path=shown(path))


async def read_text(path: str, context: ToolContext, *, reading: bool = True) -> TextFile:
    """Return the text file at `path`; the unsaved text of the user's editor wins.

    Raises `ToolRetry` saying what to do when there is none, or when it is no text.
    """
    place = resolve_path(path, context, reading=reading)
    file = await asyncio.to_thread(load, place)
    buffers: Buffers | None = context.services.get("buffers")
    buffered = buffers(place.real) if buffers is not None else None
    if buffered is None:
        return file
    text, ends = _taken_apart(buffered)
    if text == file.text:
        return file
    return replace(file, text=text, ends=ends, unsaved=True)


def load(place: WorkspacePath) -> TextFile:
    """Return the file on disk; see `read_text`."""
    if place.path in ("", "."):
        raise ToolRetry("{name} is a folder, not a file.", name=shown(place.name))
    try:
        raw, mode = read_beneath(place.root, place.path, limit=MAX_BYTES)
    except FileNotFoundError:
        raise ToolRetry(_missing(place)) from None
    except SkippedFile as error:
        raise ToolRetry(
            "{name} cannot be read: it is {why}.", name=shown(place.name), why=error.reason
        ) from None
    return decode(place, raw, mode)


def decode(place: WorkspacePath, raw: bytes, mode: int = 0o100644) -> TextFile:
    """Return a text file from its bytes. Raises `ToolRetry` when they are no text."""
    bom, encoding = next(((b, e) for b, e in _BOMS if raw.startswith(b)), (b"", "utf-8"))
    body = raw[len(bom) :]
    try:
        written = body.decode(encoding)
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise ToolRetry(
                "{name} starts like {encoding} but is malformed; it was not changed.",
                name=shown(place.name),
                encoding=encoding.upper(),
            ) from None
        bom, encoding, written = b"", "latin-1", raw.decode("latin-1")
    if encoding in ("utf-8", "latin-1") and "\0" in written:
        raise ToolRetry(
            "{name} is not a text: {kind}, {n} bytes.",
            name=shown(place.name),
            kind=kind_of_data(raw) or Words("a binary file"),
            n=f"{len(raw):,}",
        )
    text, ends = _taken_apart(written)
    return TextFile(place, text, ends, encoding, bom, raw, mode)


def new_file(place: WorkspacePath, text: str) -> bytes:
    """Bytes of a file that does not exist yet: UTF-8. Raises `ToolRetry` for half characters."""
    return _encode(with_newlines(text), TextFile(place, ""))


class Seen:
    """Which version of a file each agent has seen, so that none overwrites what it never saw."""

    def __init__(self) -> None:
        self._digests: dict[tuple[str, Path], str] = {}

    def note(self, node: str, file: TextFile) -> None:
        """Record that an agent has read this."""
        self._digests[node, file.place.real] = file.digest

    def note_written(self, node: str, place: WorkspacePath, data: bytes) -> None:
        """Record that an agent has written this."""
        self._digests[node, place.real] = digest_of(data)

    def has(self, node: str, file: TextFile) -> bool | None:
        """Return whether an agent has seen exactly this; None when it has seen none of the file."""
        known = self._digests.get((node, file.place.real))
        return None if known is None else known == file.digest


def note_seen(context: ToolContext, file: TextFile) -> None:
    """Record that the calling agent has read this file."""
    seen: Seen | None = context.services.get("seen")
    if seen is not None:
        seen.note(context.node, file)


def _is_of_another_place(path: str) -> bool:
    return os.name != "nt" and not path.startswith("/") and bool(_OTHER_FORM.match(path))


def _taken_apart(written: str) -> tuple[str, str | tuple[str, ...]]:
    """Text with `\\n`, and its line ends."""
    if "\r" not in written:
        return written, "\n"
    ends = _LINE_END.findall(written)
    text = _LINE_END.sub("\n", written)
    return text, ends[0] if len(set(ends)) == 1 else tuple(ends)


def _with_ends(old: str, ends: str | tuple[str, ...], new: str) -> str:
    if isinstance(ends, str):
        return new if ends == "\n" else new.replace("\n", ends)
    before, after = old.split("\n"), new.split("\n")
    usual = max(dict.fromkeys(ends), key=ends.count)
    kept: list[str | None] = [None] * len(after)
    i = j = 0
    for a, b, c, d in [*blocks(before, after), (len(before), 0, len(after), 0)]:
        for offset in range(c - j):
            if i + offset < len(ends):
                kept[j + offset] = ends[i + offset]
        if b or d:  # lines that changed one to one keep their ends too
            for offset in range(min(b - a, d - c)):
                if a + offset < len(ends):
                    kept[c + offset] = ends[a + offset]
        i, j = b, d
    parts: list[str] = []
    last = ""
    for line, end in zip(after[:-1], kept, strict=False):
        last = end or last or usual
        parts += line, last
    return "".join([*parts, after[-1]])


def _encode(text: str, file: TextFile) -> bytes:
    try:
        return text.encode(file.encoding)
    except UnicodeEncodeError as error:
        wrong = text[error.start]
        name = "ISO 8859-1" if file.encoding == "latin-1" else file.encoding.upper()
        raise ToolRetry(
            "{name} is {encoding}, which has no character {wrong} (U+{code}); nothing was written.",
            name=shown(file.place.name),
            encoding=name,
            wrong=repr(wrong),
            code=f"{ord(wrong):04X}",
        ) from None


def _missing(place: WorkspacePath) -> str:
    """There is no such file; what the folder has that looks like it."""
    folder = place.real.parent
    wanted = place.real.name
    try:
        names = sorted(entry.name for entry in folder.iterdir())[:2000]
    except OSError:
        return Words(
            "There is no file {name}; its folder does not exist either.", name=shown(place.name)
        )
    same = [n for n in names if _fold(n) == _fold(wanted)]
    near = same or difflib.get_close_matches(wanted, names, _SUGGESTIONS, 0.6)
    if not near:
        return Words("There is no file {name}.", name=shown(place.name))
    return Words(
        "There is no file {name}. Similar: {names}.",
        name=shown(place.name),
        names=", ".join(shown(n) for n in near),
    )


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()

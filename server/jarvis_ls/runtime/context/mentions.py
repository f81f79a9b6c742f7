"""Files, folders and pictures that are named with `@` in what the user says."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import read_regular
from jarvis_ls.runtime.base.messages import Image
from jarvis_ls.runtime.edits.text_file import note_seen, read_text
from jarvis_ls.runtime.tools.permissions import inside
from jarvis_ls.runtime.tools.tool import ToolContext, cap

FILE_CHARACTERS = 60_000
"""Of one file that are handed over; a longer one keeps its first and last lines."""
IMAGE_BYTES = 5_000_000
MAX_ENTRIES = 200
"""Entries of a folder that are listed."""
_IMAGES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp"))
_PICTURE = re.compile(
    rb"(?P<png>\x89PNG\r\n\x1a\n)|(?P<jpeg>\xff\xd8\xff)|(?P<gif>GIF8[79]a)|(?P<webp>RIFF....WEBP)",
    re.DOTALL,
)
"""How pictures begin: providers refuse what is not of the kind it is said to be."""
_KNOWN = frozenset(
    (
        "c",
        "cc",
        "cfg",
        "conf",
        "cpp",
        "css",
        "csv",
        "cxx",
        "go",
        "h",
        "hh",
        "hpp",
        "html",
        "ini",
        "java",
        "js",
        "json",
        "jsx",
        "kt",
        "lock",
        "log",
        "lua",
        "md",
        "mjs",
        "mk",
        "php",
        "pl",
        "py",
        "rb",
        "rs",
        "rst",
        "scala",
        "sh",
        "sql",
        "svg",
        "swift",
        "tex",
        "toml",
        "ts",
        "tsx",
        "txt",
        "xml",
        "yaml",
        "yml",
        *(suffix[1:] for suffix in _IMAGES),
    )
)
"""Suffixes of names that can only be meant as files."""
_BEFORE_CODE = ("'", "`", "<")
"""What is before an `@` in code rather than in words."""
_MENTION = re.compile(r'(?<![\w@/.])@(?:"([^"\n]+)"((?::\d+(?:-\d+)?)?)|([^\s"@<>|]+))')
_LINES = re.compile(r":(\d+)(?:-(\d+))?\Z")
_AFTER = ",;.!?)]}'\"`:，。；：！？）」"
"""What may be behind a path without being part of it."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A file, folder or picture of the workspace that was named with `@`."""

    path: str
    """As it was written."""
    real: Path
    first: int = 0
    """First line, from 1; 0 means all."""
    last: int = 0
    """Last line."""


def mentions(text: str, roots: Iterable[Path]) -> list[Mention]:
    """Return the existing files and folders that a text mentions with `@`."""
    folders = tuple(roots)
    found = []
    for match in _MENTION.finditer(text):
        quoted, lines, bare = match.groups()
        mention = mention_of(quoted, lines, folders) if quoted else _bare(bare, folders)
        if mention is not None:
            found.append(mention)
    return found


def not_found(text: str, roots: Iterable[Path]) -> list[str]:
    """Return the files a text mentions with `@` that do not exist, to warn the user.

    These are names in double quotes and names with a known suffix. Decorators, packages and
    people's names are no files.
    """
    folders = tuple(roots)
    found: dict[str, None] = {}
    for match in _MENTION.finditer(text):
        quoted, lines, bare = match.groups()
        if quoted:
            if mention_of(quoted, lines, folders) is None:
                found[quoted] = None
        elif _bare(bare, folders) is None and not text[: match.start()].endswith(_BEFORE_CODE):
            name = _LINES.sub("", bare.rstrip(_AFTER))
            stem, _, suffix = name.rpartition(".")
            if stem and suffix.lower() in _KNOWN:
                found[name] = None
    return list(found)


def _bare(written: str, roots: tuple[Path, ...]) -> Mention | None:
    """Return a path without quotes: what is behind it may not belong to it."""
    while written:
        lines = _LINES.search(written)
        for path, part in ((written, ""), (_LINES.sub("", written), lines[0] if lines else "")):
            if (mention := mention_of(path, part, roots)) is not None:
                return mention
        if written[-1] not in _AFTER:
            return None
        written = written[:-1]
    return None


def mention_of(path: str, lines: str, roots: Iterable[Path]) -> Mention | None:
    """Return the mention of `path` with its lines (`:3`, `:3-7`).

    None when it does not exist or is outside the workspace.
    """
    real = inside(path, roots)
    if not path or real is None or not real.exists():
        return None
    part = _LINES.fullmatch(lines)
    if part is None:
        return Mention(path, real)
    ends = [max(1, int(number)) for number in part.groups() if number]
    return Mention(path, real, min(ends), max(ends))


async def read_mention(mention: Mention, context: ToolContext) -> str | Image:
    """Return the content that is handed over for a file, folder or picture.

    Raises `JarvisError`, to be told the user and the model, when nothing of it can be.
    """
    path, real, first = mention.path, mention.real, mention.first
    try:
        if real.is_dir():
            return await asyncio.to_thread(_listing, path, real)
        if real.suffix.lower() in _IMAGES:
            return _picture(await asyncio.to_thread(read_regular, real, limit=IMAGE_BYTES))
        file = await read_text(path, context)
    except (JarvisError, OSError) as error:
        raise JarvisError("{path} was not attached: {why}", path=path, why=error) from None
    note_seen(context, file)
    lines = file.lines
    start = max(1, first)
    end = min(len(lines), mention.last) if first else len(lines)
    if first and end < start:
        raise JarvisError(
            "{path} has {n} lines; there is nothing at line {first}.",
            path=path,
            n=len(lines),
            first=first,
        )
    numbered = "\n".join(f"{n}\t{line}" for n, line in enumerate(lines[start - 1 : end], start))
    where = f' lines="{start}-{end}"' if first else ""
    return f'<file path="{path}"{where}>\n{cap(numbered, FILE_CHARACTERS)}\n</file>'


def _picture(data: bytes) -> Image:
    """Return a picture by what it is, whatever its name says."""
    found = _PICTURE.match(data)
    if found is None:
        raise JarvisError("it is not an image")
    return Image(f"image/{found.lastgroup}", base64.b64encode(data).decode())


def _listing(path: str, real: Path) -> str:
    entries = sorted(f"{e.name}/" if e.is_dir() else e.name for e in real.iterdir())
    left_out = len(entries) - MAX_ENTRIES
    more = f"\n… {left_out} more" if left_out > 0 else ""
    return f'<folder path="{path}">\n' + "\n".join(entries[:MAX_ENTRIES]) + f"{more}\n</folder>"

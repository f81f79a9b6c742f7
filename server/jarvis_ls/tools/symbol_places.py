"""Where names are defined and used in the files of a workspace; for several tools."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.source import decode
from jarvis_ls.codeintel.symbols import Occurrence, Outline, Symbol
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.text_file import Buffers, WorkspacePath, resolve_path
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import ToolContext
from jarvis_ls.tools.project import (
    Clock,
    Hidden,
    Listed,
    check_searchable,
    contents,
    cut_short,
    hidden_from,
    look,
    one_line,
    walk,
)

MAX_FILE = 2_000_000
SECONDS = 40.0
MAX_DETAILED = 2_000
"""Occurrences of a name that are examined closely; those after them are only counted."""
_NAME = re.compile(r"~?[^\W\d]\w*(?:::~?[^\W\d]\w*)*")


@dataclass(slots=True)
class Found:
    """What is known of a name."""

    definitions: list[tuple[str, Symbol]] = field(default_factory=list)
    """Each with its file."""
    sources: list[str] = field(default_factory=list)
    """The text of each definition."""
    uses: list[tuple[str, Occurrence]] = field(default_factory=list)
    """Each with its file, its definitions left out."""
    more: int = 0
    """Occurrences after the first `MAX_DETAILED`, whatever they are."""
    other: list[tuple[str, int]] = field(default_factory=list)
    """Files in languages whose code is not understood, and how often the word is there."""


async def find_names(
    tool: str, names: list[str], path: str, what: str, context: ToolContext
) -> tuple[dict[str, Found], str]:
    """Return what is known of names below a path, for a tool; and a note when the time did not
    suffice. Raises `ToolRetry` for what is no name.
    """
    check_names(names)
    place = resolve_path(path, context)
    check_searchable(place)
    wanted = list(dict.fromkeys(names))
    hidden = hidden_from(tool, place, context)
    buffers: Buffers | None = context.services.get("buffers")
    return await look(lambda clock: find(place, wanted, what, hidden, clock, buffers), SECONDS)


def check_names(names: list[str]) -> None:
    """Raise `ToolRetry` for what are no names of symbols."""
    wrong = [name for name in names if not _NAME.fullmatch(name)]
    if wrong:
        raise ToolRetry("Give 1 to 20 names of symbols; {name} is none.", name=repr(wrong[0]))
    if not names or len(names) > 20:
        raise ToolRetry("Give 1 to 20 names of symbols.")


def find(
    place: WorkspacePath,
    names: list[str],
    what: str,
    hidden: Hidden | None,
    clock: Clock,
    buffers: Buffers | None = None,
) -> tuple[dict[str, Found], str]:
    """Look for names in the files of a place; the unsaved text of an editor wins. The second result
    says when the time did not suffice.
    """
    found = {name: Found() for name in names}
    words = {name: name.rpartition("::")[2].lstrip("~").encode() for name in names}
    for listed in walk(place, hidden=hidden):
        if clock.is_over:
            return found, cut_short(clock.seconds)
        raw = _present(listed, place, buffers)
        if raw is None or not any(word in raw for word in words.values()):
            continue
        data = decode(listed.path, raw).data
        here = [name for name in names if words[name] in data]
        language = language_of(listed.path, data)
        if language is None:
            _count(listed.name, data, {name: words[name] for name in here}, found)
        else:
            _read(listed.name, data, language, here, what, found)
    return found, ""


def _present(listed: Listed, place: WorkspacePath, buffers: Buffers | None) -> bytes | None:
    text = buffers(Path(listed.location)) if buffers is not None else None
    return contents(listed, place, MAX_FILE) if text is None else text.encode("utf-8", "replace")


def _read(
    file: str,
    data: bytes,
    language: LanguageName,
    names: list[str],
    what: str,
    found: dict[str, Found],
) -> None:
    outline = Outline(data, language)
    for name in names:
        last = name.rpartition("::")[2]
        if what != "references":
            symbols = outline.named(last) if "::" in name else outline.named(name)
            meant = [symbol for symbol in symbols if _is_meant(symbol, name)]
            found[name].definitions += [(file, symbol) for symbol in meant]
            found[name].sources += [
                data[symbol.start : symbol.end].decode("utf-8", "replace") for symbol in meant
            ]
        if what == "definitions":
            continue
        if len(found[name].uses) >= MAX_DETAILED:
            found[name].more += _words(data, last.lstrip("~").encode())
        else:
            uses = outline.occurrences(last.lstrip("~"))
            found[name].uses += [(file, use) for use in uses if use.use != "definition"]


def _is_meant(symbol: Symbol, name: str) -> bool:
    """`A::get` is `A::get` as written, or `get` inside `A`."""
    around, _, _ = name.rpartition("::")
    return (
        not around
        or symbol.name.endswith(name)
        or (symbol.container.rpartition("::")[2] == around.rpartition("::")[2])
    )


def _count(file: str, data: bytes, words: dict[str, bytes], found: dict[str, Found]) -> None:
    if b"\0" in data[:8192]:
        return
    for name, word in words.items():
        if count := _words(data, word):
            found[name].other.append((file, count))


def _words(data: bytes, word: bytes) -> int:
    return sum(1 for _ in re.finditer(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)", data))


def report_names(name: str, found: Found, what: str, most: int) -> str:
    """Return what a model reads of a name."""
    parts = [f"{name}:"]
    order = {"declaration": 1}
    for file, symbol in sorted(found.definitions, key=lambda d: order.get(d[1].kind, 0)):
        inside = f" in {symbol.container}" if symbol.container else ""
        parts.append(
            f"  {symbol.kind}{inside} {one_line(file)}:{symbol.line}-{symbol.end_line}  "
            f"{shown(symbol.signature)}"
        )
    if not found.definitions and what != "references":
        parts.append(Words("  no definition in C, C++ or Rust here"))
    code = [use for use in found.uses if use[1].use in ("call", "use", "macro")]
    for file, use in code[:most]:
        parts.append(
            Words(
                "  {use} in {inside} {file}:{line}" if use.inside else "  {use} {file}:{line}",
                use=Words(use.use),
                inside=use.inside,
                file=one_line(file),
                line=use.line,
            )
        )
    if len(code) > most:
        parts.append(Words("  … {count} more references", count=len(code) - most))
    if found.more:
        parts.append(
            Words(
                "  and {count} more places, not resolved; search in a folder",
                count=found.more,
            )
        )
    if what != "definitions" and not code:
        parts.append(Words("  not used in C, C++ or Rust code here"))
    if mentioned := len(found.uses) - len(code):
        parts.append(Words("  {count} times in comments and texts", count=mentioned))
    if found.other:
        files = ", ".join(f"{one_line(file)} ({count})" for file, count in found.other[:10])
        if len(found.other) > 10:
            files = Words(
                "{files} and {count} more files", files=files, count=len(found.other) - 10
            )
        parts.append(Words("  as a word in files not read as code: {files}", files=files))
    return together(parts, "\n")

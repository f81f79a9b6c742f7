"""Find where names are defined and used."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.source import decode
from jarvis_ls.codeintel.symbols import Occurrence, Outline, Symbol
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.text_file import Place, place_of
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.project import (
    Clock,
    Hidden,
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
"""Occurrences of a name that are looked at closely; those after them are only counted."""
_NAME = re.compile(r"~?[^\W\d]\w*(?:::~?[^\W\d]\w*)*")


@dataclass(slots=True)
class _Found:
    definitions: list[tuple[str, Symbol]] = field(default_factory=list)
    uses: list[tuple[str, Occurrence]] = field(default_factory=list)
    more: int = 0
    """Occurrences after the first `MAX_DETAILED`, whatever they are."""
    other: list[tuple[str, int]] = field(default_factory=list)
    """Files in languages whose code is not understood, and how often the word stands there."""


@tool(
    actions=lambda a: [Action("read", a["path"])],
    independent=True,
    timeout=SECONDS + 30,
    offered=False,
)
async def read_symbols(
    context: ToolContext,
    names: list[str],
    path: str = ".",
    what: Literal["definitions", "references", "both"] = "both",
    max_references: int = 60,
) -> str:
    """Find definitions of functions, types, macros, constants and modules by name, and where the
    names are used.

    C, C++ and Rust are read as code: comments and texts are told from uses, calls from other
    uses. It goes by name: different things of one name are not told apart. In other languages
    the words are only counted.

    Args:
        names: Names, also qualified ones such as `Parser::next`.
        path: A folder or a file to look in, relative to the workspace.
        what: Definitions, references, or both.
        max_references: How many references of each name at most.
    """
    wrong = [name for name in names if not _NAME.fullmatch(name)]
    if wrong:
        raise ToolRetry("Give 1 to 20 names of symbols; {name} is none.", name=repr(wrong[0]))
    if not names or len(names) > 20:
        raise ToolRetry("Give 1 to 20 names of symbols.")
    place = place_of(path, context)
    check_searchable(place)
    wanted = list(dict.fromkeys(names))
    hidden = hidden_from("read_symbols", place, context)
    found, note = await look(lambda clock: _find(place, wanted, what, hidden, clock), SECONDS)
    parts = [_report(name, found[name], what, max(1, min(max_references, 500))) for name in wanted]
    return together([*parts, *([note] if note else [])], "\n\n")


def _find(
    place: Place, names: list[str], what: str, hidden: Hidden | None, clock: Clock
) -> tuple[dict[str, _Found], str]:
    found = {name: _Found() for name in names}
    words = {name: name.rpartition("::")[2].lstrip("~").encode() for name in names}
    for listed in walk(place, hidden=hidden):
        if clock.is_over:
            return found, cut_short(SECONDS)
        raw = contents(listed, place, MAX_FILE)
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


def _read(
    file: str,
    data: bytes,
    language: LanguageName,
    names: list[str],
    what: str,
    found: dict[str, _Found],
) -> None:
    outline = Outline(data, language)
    for name in names:
        last = name.rpartition("::")[2]
        if what != "references":
            symbols = outline.named(last) if "::" in name else outline.named(name)
            found[name].definitions += [(file, s) for s in symbols if _is_meant(s, name)]
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


def _count(file: str, data: bytes, words: dict[str, bytes], found: dict[str, _Found]) -> None:
    if b"\0" in data[:8192]:
        return
    for name, word in words.items():
        if count := _words(data, word):
            found[name].other.append((file, count))


def _words(data: bytes, word: bytes) -> int:
    return sum(1 for _ in re.finditer(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)", data))


def _report(name: str, found: _Found, what: str, most: int) -> str:
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

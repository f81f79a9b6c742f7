"""Read source code with line numbers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.symbols import Outline
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.text_file import TextFile, note_seen, read_text, resolve_path
from jarvis_ls.runtime.llm.token_estimate import estimate
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.code_analysis import SERVICE, CodeAnalysis

MAX_CHARACTERS = 56_000
"""Of one result; more would be cut by the toolset, and not where it makes sense."""
DEFAULT_TOKENS = 20_000
"""When no one says how large the model's window is."""
MAX_LINE = 2_000
"""Characters of a line that are shown."""
_MAX_PARSED = 2_000_000


@dataclass(frozen=True, slots=True)
class CodeRange:
    """Lines of a file."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    path: str
    """Path relative to the workspace."""
    start_line: int = 1
    """First line, from 1; negative counts from the end."""
    end_line: int = -1
    """Last line; -1 is the last of the file."""


@tool(actions=lambda a: [Action("read", path["path"]) for path in a["files"]], independent=True)
async def read_code(context: ToolContext, files: list[CodeRange]) -> str:
    """Read files, or ranges of their lines, with line numbers. Read before you change anything.

    Give all the files you need in one call; ranges of one file are merged. Prefer ranges for
    large files. What does not fit is named with the line to continue at.

    Args:
        files: What to read.
    """
    if not files:
        raise ToolRetry("Give at least one file.")
    room = _Room(context)
    parts: list[str] = []
    problems = 0
    for name, ranges in _by_file(files, context).items():
        try:
            file = await read_text(name, context)
            _prepare(file, context)
            parts.append(await asyncio.to_thread(_show_text, file, ranges, room))
            note_seen(context, file)
        except ToolRetry as error:
            parts.append(str(error))
            problems += 1
    if problems == len(parts):
        raise ToolRetry("\n".join(parts))
    return together(parts, "\n\n")


def _prepare(file: TextFile, context: ToolContext) -> None:
    """Let the analysis get ready: who reads code may change it, and wants to know what broke."""
    analysis: CodeAnalysis | None = context.services.get(SERVICE)
    if analysis is not None and language_of(file.place.path, b"") is not None:
        analysis.prepare()


class _Room:
    """How much may still be shown."""

    def __init__(self, context: ToolContext) -> None:
        budget = context.services.get("budget_tokens", DEFAULT_TOKENS)
        self.tokens = int(budget() if callable(budget) else budget)
        self.characters = MAX_CHARACTERS

    def take(self, line: str) -> bool:
        """Return whether the line still fits."""
        tokens = estimate(line) + 1
        if tokens > self.tokens or len(line) + 1 > self.characters:
            return False
        self.tokens -= tokens
        self.characters -= len(line) + 1
        return True


def _by_file(files: list[CodeRange], context: ToolContext) -> dict[str, list[CodeRange]]:
    """Return the ranges by file, whatever the paths are spelled like."""
    by_place: dict[str, str] = {}
    found: dict[str, list[CodeRange]] = {}
    for file in files:
        try:
            real = str(resolve_path(file.path, context).real)
        except ToolRetry:
            real = file.path  # reading it will say what is wrong
        found.setdefault(by_place.setdefault(real, file.path), []).append(file)
    return found


def _show_text(file: TextFile, ranges: list[CodeRange], room: _Room) -> str:
    lines = file.lines
    name = shown(file.place.name)
    if file.described:
        name = Words("{name} ({how})", name=name, how=file.described)
    if not lines:
        return Words("{name}: empty", name=name)
    merged, wrong = _merge(ranges, len(lines))
    outline = _outline(file) if (merged and merged[0][0] > 1) or len(merged) > 1 else None
    parts: list[str] = [
        Words("{name}, {count} lines (material)", name=name, count=len(lines)),
        *wrong,
    ]
    width = len(str(max((last for _, last in merged), default=0)))
    for first, last in merged:
        if len(merged) > 1 or (first, last) != (1, len(lines)):
            parts.append(_heading(outline, first, last))
        taken: list[str] = []
        for number in range(first, last + 1):
            line = lines[number - 1]
            if len(line) > MAX_LINE:
                line = f"{line[:MAX_LINE]}… ({len(line) - MAX_LINE} more characters)"
            if not room.take(text := f"{number:>{width}}: {line}"):
                rest = Words(
                    "… no room for more than this: lines {left} of {name} not shown. "
                    "Read them in another call, or narrower ranges.",
                    left=_left(merged, number),
                    name=shown(file.place.name),
                )
                return together([*parts, *_block(taken), rest], "\n")
            taken.append(text)
        parts += _block(taken)
    return together(parts, "\n")


def _block(lines: list[str]) -> list[str]:
    """Lines of a file as one text: each of its own would only be slower to translate."""
    return ["\n".join(lines)] if lines else []


def _left(merged: list[tuple[int, int]], number: int) -> str:
    left = [(max(first, number), last) for first, last in merged if last >= number]
    return ", ".join(f"{first}-{last}" for first, last in left)


def _merge(ranges: list[CodeRange], count: int) -> tuple[list[tuple[int, int]], list[str]]:
    """Ranges in order, touching ones made one; and what is wrong with the others."""
    wanted: list[tuple[int, int]] = []
    wrong: list[str] = []
    for span in ranges:
        first = span.start_line + count + 1 if span.start_line < 0 else max(1, span.start_line)
        last = span.end_line + count + 1 if span.end_line < 0 else span.end_line
        first = max(1, first)
        if first > count or last < first:
            wrong.append(
                Words(
                    "There are no lines {first} to {last}.",
                    first=span.start_line,
                    last=span.end_line,
                )
            )
        else:
            wanted.append((first, min(last, count)))
    merged: list[tuple[int, int]] = []
    for first, last in sorted(wanted):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged, wrong


def _outline(file: TextFile) -> Outline | None:
    data = file.text.encode("utf-8", "replace")
    language = language_of(file.place.path, data)
    return Outline(data, language) if language and len(data) <= _MAX_PARSED else None


def _heading(outline: Outline | None, first: int, last: int) -> str:
    around = outline.around(first) if outline is not None else None
    if around is None or first in (around.line, around.end_line):
        return Words("lines {first}-{last}:", first=first, last=last)
    return Words(
        "lines {first}-{last}, inside {kind} `{signature}` (lines {line}-{end}):",
        first=first,
        last=last,
        kind=around.kind,
        signature=around.signature,
        line=around.line,
        end=around.end_line,
    )

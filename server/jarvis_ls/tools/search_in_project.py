"""Search the text of the project."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel.source import decode
from jarvis_ls.core.deadline import in_time
from jarvis_ls.core.globs import Globs
from jarvis_ls.core.ignored import printable
from jarvis_ls.core.regex import compile_regex
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.folders import below
from jarvis_ls.runtime.edits.text_file import WorkspacePath, resolve_path
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.project import (
    Clock,
    Hidden,
    check_searchable,
    contents,
    cut_short,
    hidden_from,
    is_state,
    look,
    one_line,
    pattern_of,
    walk,
)

MAX_MATCHES = 1_000
MAX_COUNTED = 20_000
"""Matches that are counted when only files are asked for."""
MAX_FILE = 5_000_000
"""Bytes; larger files are data."""
MAX_LINE = 300
"""Characters of a line that are shown."""
SECONDS = 30.0
_WRONG = 2
"""What ripgrep ends with when it cannot do what it was asked."""
_SIMPLE = re.compile(r"[\w.*?+-]+")
"""Patterns of names, which ripgrep reads as we do."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that matches, or is beside one."""

    name: str
    """The file."""
    number: int
    text: str
    is_match: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched, and where."""

    place: WorkspacePath
    pattern: str
    """A regular expression in the syntax of RE2, and of ripgrep."""
    glob: Globs | None
    hidden: Hidden | None
    around: int
    most: int
    skip: int = 0
    """Matches that are left out before the first that is reported."""


@tool(actions=lambda a: [Action("read", a["path"])], independent=True, timeout=SECONDS + 30)
async def search_in_project(
    context: ToolContext,
    query: str,
    path: str = ".",
    regex: bool = False,
    ignore_case: bool = False,
    whole_word: bool = False,
    pattern: str = "",
    around: int = 0,
    max_matches: int = 100,
    skip: int = 0,
    files_only: bool = False,
) -> str:
    """Search the text of the files on disk and give the lines that match.

    Left out: .git, links, binary files, files over 5 MB; what git ignores and .jarvis unless
    `path` is there.

    Args:
        query: What to look for, within one line.
        path: A folder or a file.
        regex: `query` is a regular expression (RE2: no look-around).
        pattern: Only in files that match, as in .gitignore: `*.c, *.h`.
        around: Lines shown before and after each match.
        skip: Leave out this many matches first.
        files_only: Give only the files, with how many lines match in each.
    """
    if not query or "\n" in query or "\0" in query:
        raise ToolRetry("Give a search text within one line.")
    place = resolve_path(path, context)
    check_searchable(place)
    written = query if regex else re.escape(query)
    written = rf"\b(?:{written})\b" if whole_word else written
    written = f"(?i){written}" if ignore_case else written
    try:
        compile_regex(written)
    except ValueError as error:
        raise ToolRetry("The query {why}.", why=error) from None
    around, most = max(0, min(around, 10)), max(1, min(max_matches, MAX_MATCHES))
    if files_only:
        around, most, skip = 0, MAX_COUNTED, 0
    hidden = hidden_from("search_in_project", place, context)
    wanted = Wanted(place, written, pattern_of(pattern), hidden, around, most, max(0, skip))
    program = _ripgrep(context) if hidden is None and not is_state(place) else None
    names = [glob.strip() for glob in pattern.split(",") if glob.strip()]
    answer = None
    if program is not None and all(_SIMPLE.fullmatch(name) for name in names):
        answer = await _by_ripgrep(program, wanted, names)
    if answer is None:
        answer = await look(lambda clock: _by_ourselves(wanted, clock), SECONDS)
    return (_report_files if files_only else _report)(*answer, wanted)


def _ripgrep(context: ToolContext) -> str | None:
    """Return the user's ripgrep; never one that is in the workspace."""
    found = shutil.which("rg")
    if found is None:
        return None
    real = Path(os.path.realpath(found))
    return str(real) if below(real, context.roots) is None else None


async def _by_ripgrep(
    program: str, wanted: Wanted, names: list[str]
) -> tuple[list[Line], str] | None:
    """Search with ripgrep; None when it does not understand the pattern as RE2 does."""
    types = [f"--type-add=wanted:{name}" for name in names]  # globs would bring in ignored files
    process = await asyncio.create_subprocess_exec(
        program,
        "--no-config",
        "--json",
        "--hidden",
        "--no-follow",
        "--no-messages",
        "--no-ignore-dot",
        "--no-ignore-global",
        "--no-require-git",
        "--sort=path",
        *types,
        *(["--type=wanted"] if types else []),
        "--glob=!.git",
        "--glob=!.jarvis",
        f"--max-filesize={MAX_FILE}",
        f"--context={wanted.around}",
        f"--regexp={wanted.pattern}",
        "--",
        str(wanted.place.real),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=16 * MAX_FILE,
        cwd="/" if os.name == "posix" else None,
    )
    assert process.stdout is not None
    found: list[Line] = []
    note = ""
    try:
        note = await in_time(_read(process.stdout, wanted, found), SECONDS)
    except asyncio.TimeoutError:
        note = cut_short(SECONDS)
    else:
        if not note:
            await process.wait()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return None if process.returncode == _WRONG and not found else (found, note)


async def _read(stream: asyncio.StreamReader, wanted: Wanted, found: list[Line]) -> str:
    """Fill `found`; why it is not all, if so."""
    matches = 0
    async for raw in stream:
        event = json.loads(raw)
        if event["type"] not in ("match", "context"):
            continue
        line = _line(event["data"], event["type"] == "match", wanted)
        if line.is_match and matches == wanted.skip + wanted.most:
            return _more(wanted, line.name)
        matches += line.is_match
        if matches > wanted.skip or (matches == wanted.skip and not line.is_match):
            found.append(line)
    return ""


def _more(wanted: Wanted, name: str) -> str:
    """Return the notice that there are more matches, and how they are come by."""
    return Words(
        "There are more, the next in {name}: search with skip {skip}.",
        name=one_line(name),
        skip=wanted.skip + wanted.most,
    )


def _line(data: dict[str, Any], is_match: bool, wanted: Wanted) -> Line:
    path = os.fsdecode(_bytes(data["path"]))
    text = _bytes(data["lines"]).decode("utf-8", "replace").rstrip("\r\n")
    return Line(_name(path, wanted.place), data["line_number"], text, is_match)


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _name(path: str, place: WorkspacePath) -> str:
    path = path[len(str(place.root).rstrip(os.sep)) + 1 :].replace(os.sep, "/")
    return printable(place.named(path))


def _by_ourselves(wanted: Wanted, clock: Clock) -> tuple[list[Line], str]:
    compiled = compile_regex(wanted.pattern)
    found: list[Line] = []
    matches = 0
    for listed in walk(wanted.place, wanted.glob, hidden=wanted.hidden):
        if clock.is_over:
            return found, cut_short(SECONDS)
        raw = contents(listed, wanted.place, MAX_FILE)
        if raw is None:
            continue
        data = decode(listed.path, raw).data
        if b"\0" in data[:8192]:
            continue
        for line in _lines(data, compiled, wanted.around):
            if line[2] and matches == wanted.skip + wanted.most:
                return found, _more(wanted, listed.name)
            matches += line[2]
            if matches > wanted.skip or (matches == wanted.skip and not line[2]):
                found.append(Line(listed.name, line[0], line[1], line[2]))
    return found, ""


def _lines(data: bytes, compiled: Any, around: int) -> Iterator[tuple[int, str, bool]]:
    """Yield number, text and whether it matches, for matching lines and their context."""
    hits: list[int] = []
    number, at = 1, 0
    for match in compiled.finditer(data):
        number += data.count(b"\n", at, match.start())
        at = match.start()
        if not hits or hits[-1] != number:
            hits.append(number)
    if not hits:
        return
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    matching = set(hits)
    last = 0
    for hit in hits:
        for number in range(max(last + 1, hit - around), min(len(lines), hit + around) + 1):
            text = lines[number - 1].decode("utf-8", "replace").rstrip("\r")
            yield number, text, number in matching
            last = number


def _nothing(note: str, wanted: Wanted) -> str:
    nothing = Words("Nothing matches in {name}.", name=shown(wanted.place.name))
    if wanted.place.name in (".", ""):
        nothing = Words("Nothing matches in the workspace.")
    return together([nothing, note], " ") if note else nothing


def _report_files(found: list[Line], note: str, wanted: Wanted) -> str:
    if not found:
        return _nothing(note, wanted)
    counts = Counter(line.name for line in found)
    parts = [f"{one_line(name)}: {count}" for name, count in counts.items()]
    counted = Words("{lines} lines in {files} files.", lines=len(found), files=len(counts))
    return together(["\n".join(parts), together([counted, note], " ") if note else counted], "\n")


def _report(found: list[Line], note: str, wanted: Wanted) -> str:
    if not found:
        return _nothing(note, wanted)
    parts: list[str] = []
    name, last = "", 0
    for line in found:
        if line.name != name:
            parts.append(f"{one_line(line.name)}:")
        elif wanted.around and line.number > last + 1:
            parts.append("   --")
        name, last = line.name, line.number
        text = line.text if len(line.text) <= MAX_LINE else f"{line.text[:MAX_LINE]}…"
        parts.append(f"{line.number:>6}{':' if line.is_match else '-'} {shown(text)}")
    count = sum(line.is_match for line in found)
    files = len({line.name for line in found if line.is_match})
    counted = Words("{lines} lines in {files} files.", lines=count, files=files)
    return together(["\n".join(parts), together([counted, note], " ") if note else counted], "\n")

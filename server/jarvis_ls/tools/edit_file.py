"""Change files by search and replace: exactly, or but for white space, and never nearly."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.proposals import propose
from jarvis_ls.runtime.edits.text_change import Change
from jarvis_ls.runtime.edits.text_file import (
    TextFile,
    WorkspacePath,
    read_text,
    resolve_path,
    with_newlines,
)
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.near_match import place_near
from jarvis_ls.tools.placing import occurrences, preview, why_missing


@dataclass(frozen=True, slots=True)
class Diff:
    """One replacement."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    search: str
    """Text as it is in the file, with white space, without line numbers, and with enough
    lines around the place that it is only there."""
    replace: str
    """What is there afterwards."""
    all: bool = False
    """Replace every place where `search` is. Only after you have seen all of them."""


@dataclass(frozen=True, slots=True)
class FileDiffs:
    """Replacements in one file."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    file_path: str
    """Path relative to the workspace."""
    diffs: list[Diff]
    """Replacements, each made in the text that those before it left."""


@tool(
    actions=lambda a: [
        Action(kind, item["file_path"])
        for item in a["files"]
        for kind in ("read", "write")  # the text around a failed match is shown
    ],
    proposes=True,
)
async def edit_file(
    context: ToolContext, files: list[FileDiffs], each_by_itself: bool = False
) -> str:
    """Change files by replacing exact pieces of their text. Read the place first.

    Either all replacements in all files are made or none. When `search` is in several
    places, they are shown and nothing is changed: give more lines around the right one, or set
    `all`. An empty `search` creates a file that does not exist. The answer names errors and
    findings that are new, and callers of what was changed.

    Args:
        files: The files and what to replace in them.
        each_by_itself: A file whose replacements all fit is changed, though others fail.
    """
    if not files or not all(item.diffs for item in files):
        raise ToolRetry("Give at least one file with at least one replacement.")
    texts: dict[Path, tuple[WorkspacePath, TextFile | None, str]] = {}
    problems: list[str] = []
    notes: list[str] = []
    failed: set[Path] = set()
    for item in files:
        place = resolve_path(item.file_path, context, reading=False)
        known = texts.get(place.real)
        if known is None:
            known = await _open_file(item, place, context)
        place, file, text = known
        for number, diff in enumerate(item.diffs, 1):
            where = shown(place.name) + (f", replacement {number}" if len(item.diffs) > 1 else "")
            try:
                text, note = await asyncio.to_thread(place_text, text, diff)
                if note:
                    notes.append(Words("{where}: {why}", where=where, why=note))
            except ToolRetry as error:
                problems.append(Words("{where}: {why}", where=where, why=error))
                failed.add(place.real)
        texts[place.real] = place, file, text
    if problems and not (each_by_itself and len(failed) < len(texts)):
        raise ToolRetry("Nothing was changed.\n\n" + "\n\n".join(problems))
    changes = [Change(*found) for real, found in texts.items() if real not in failed]
    if all(change.before and change.before.text == change.after for change in changes):
        raise ToolRetry("The replacements leave the files as they are.")
    left = [Words("Not changed:"), *problems] if problems else []
    return await propose(context, changes, together([*notes, *left], "\n\n"))


async def _open_file(
    item: FileDiffs, place: WorkspacePath, context: ToolContext
) -> tuple[WorkspacePath, TextFile | None, str]:
    if not item.diffs[0].search and not place.real.exists():
        return place, None, ""
    file = await read_text(item.file_path, context, reading=False)
    return place, file, file.text


def replace_text(text: str, diff: Diff) -> str:
    """Return the text after one replacement; see `place_text`."""
    return place_text(text, diff)[0]


def place_text(text: str, diff: Diff) -> tuple[str, str]:
    """Return the text after one replacement, and a note where white space was not as in the file.

    An empty search is for a file without text. Raises `ToolRetry` saying to a model why it fits no
    place, or several.
    """
    search, new = with_newlines(diff.search), with_newlines(diff.replace)
    if not search:
        if text:
            raise ToolRetry(
                "`search` is empty, but the file has text. Give the text to replace, or use "
                "rewrite_file for the whole file."
            )
        return new, ""
    if search == new:
        raise ToolRetry("`search` and `replace` are the same.")
    found = occurrences(text, search)
    if not found:
        near = None if diff.all else place_near(text, search, new)
        if near is not None:
            return near
        raise ToolRetry(
            "The text to replace is not in the file. {why}", why=why_missing(text, search)
        )
    if len(found) > 1 and not diff.all:
        places = preview(text, found, len(search))
        raise ToolRetry(
            (
                "The text to replace occurs {n} times. Give more lines around the right "
                "one, or set `all` to replace every occurrence:\n{places}"
            ),
            n=len(found),
            places=places,
        )
    return text.replace(search, new), ""

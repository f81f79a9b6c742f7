"""Change files by a patch in the form that some models were trained on.

Form: the instructions for `apply_patch` in openai/codex, codex-rs/apply-patch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.proposals import propose
from jarvis_ls.runtime.edits.text_change import Change, rename
from jarvis_ls.runtime.edits.text_file import read_text, resolve_path, with_newlines
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.near_match import place_near
from jarvis_ls.tools.placing import preview, runs, squeezed, why_missing

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _DELETE, _UPDATE = "*** Add File: ", "*** Delete File: ", "*** Update File: "
_MOVE, _END_OF_FILE = "*** Move to: ", "*** End of File"


@dataclass(slots=True)
class _Part:
    """What a patch does to one file."""

    kind: str
    path: str
    moved: str = ""
    hunks: list[_Hunk] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    """Lines of a new file."""


@dataclass(slots=True)
class _Hunk:
    around: list[str] = field(default_factory=list)
    """Lines that stand above the place, from the outermost."""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


def _actions(arguments: dict[str, str]) -> list[Action]:
    found: list[Action] = []
    try:
        parts = read_patch(arguments["input"])
    except ToolRetry:  # it is refused as a whole, and told why
        return found
    for part in parts:
        found += [Action("read", part.path), Action("write", part.path)]
        if part.moved:
            found.append(Action("write", part.moved))
    return found


@tool(actions=_actions, proposes=True, offered=False)
async def apply_patch(context: ToolContext, input: str) -> str:
    """Change, create, move or delete files by a patch; all of it is applied, or nothing.

    Args:
        input: From `*** Begin Patch` to `*** End Patch`.
    """
    changes: list[Change] = []
    notes: list[str] = []
    problems: list[str] = []
    for part in read_patch(input):
        try:
            found, said = await _change(part, context)
        except ToolRetry as error:
            problems.append(Words("{where}: {why}", where=shown(part.path), why=error))
            continue
        changes += found
        notes += [Words("{where}: {why}", where=shown(part.path), why=note) for note in said]
    if problems:
        raise ToolRetry("Nothing was changed.\n\n" + "\n\n".join(problems))
    places = [change.place.real for change in changes]
    if len(set(places)) < len(places):
        raise ToolRetry("The patch names a file twice; put its hunks into one part.")
    return await propose(context, changes, together(notes, "\n\n"))


async def _change(part: _Part, context: ToolContext) -> tuple[list[Change], list[str]]:
    place = resolve_path(part.path, context, reading=False)
    if part.kind == _ADD:
        if place.real.exists():
            raise ToolRetry("The file exists already; use `*** Update File`.")
        return [Change(place, None, "".join(f"{line}\n" for line in part.text))], []
    file = await read_text(part.path, context, reading=False)
    if part.kind == _DELETE:
        return [Change(place, file, None)], []
    text, notes = await asyncio.to_thread(_patched, file.text, part.hunks)
    if part.moved:
        return rename(file, resolve_path(part.moved, context, reading=False), text), notes
    if text == file.text:
        raise ToolRetry("The hunks leave the file as it is.")
    return [Change(place, file, text)], notes


def read_patch(text: str) -> list[_Part]:
    """Return the parts of a patch. Raises `ToolRetry` when it has not the form."""
    lines = with_newlines(text).strip().split("\n")
    if lines[0].strip() != _BEGIN or lines[-1].strip() != _END:
        raise ToolRetry("A patch begins with `*** Begin Patch` and ends with `*** End Patch`.")
    parts: list[_Part] = []
    for line in lines[1:-1]:
        kind = next((k for k in (_ADD, _DELETE, _UPDATE) if line.startswith(k)), "")
        if kind:
            parts.append(_Part(kind, line.removeprefix(kind).strip()))
        elif not parts:
            raise ToolRetry("{line} is of no file.", line=repr(line))
        else:
            _read_line(parts[-1], line)
    if not parts:
        raise ToolRetry("The patch has no parts.")
    for part in parts:
        part.hunks = [hunk for hunk in part.hunks if hunk.old != hunk.new]
    return parts


def _read_line(part: _Part, line: str) -> None:
    if part.kind == _UPDATE and line.startswith(_MOVE):
        part.moved = line.removeprefix(_MOVE).strip()
    elif part.kind == _ADD and line.startswith("+"):
        part.text.append(line[1:])
    elif part.kind != _UPDATE:
        if line.strip():
            raise ToolRetry(
                "{line} does not belong in a `{kind}` part.", line=repr(line), kind=part.kind
            )
    elif line.startswith("@@"):
        last = part.hunks[-1] if part.hunks else None
        if last is None or last.old or last.new:
            part.hunks.append(last := _Hunk())
        if around := line.removeprefix("@@").removesuffix("@@").strip():
            last.around.append(around)
    elif line != _END_OF_FILE:
        if not part.hunks:
            part.hunks.append(_Hunk())
        sign, rest = (line[0], line[1:]) if line[:1] in ("+", "-", " ") else (" ", line)
        if sign in "- ":
            part.hunks[-1].old.append(rest)
        if sign in "+ ":
            part.hunks[-1].new.append(rest)


def _patched(text: str, hunks: list[_Hunk]) -> tuple[str, list[str]]:
    """Return the text after all hunks, each looked for below the one before, and notes."""
    done = ""
    notes: list[str] = []
    for hunk in hunks:
        above = _skip(text, hunk.around)
        done, text = done + text[:above], text[above:]
        if not hunk.old:
            new = "".join(f"{line}\n" for line in hunk.new)
            if not hunk.around and text and not text.endswith("\n"):
                new = f"\n{new}"
            text = new + text if hunk.around else text + new
            continue
        text, note = _place(text, hunk)
        notes += [note] if note else []
    return done + text, notes


def _place(text: str, hunk: _Hunk) -> tuple[str, str]:
    """Return the text with a hunk applied, and a note where white space was not as in the file."""
    lines = text.split("\n")
    found = runs(lines, hunk.old)
    if len(found) == 1:
        at = found[0]
        return "\n".join([*lines[:at], *hunk.new, *lines[at + len(hunk.old) :]]), ""
    old = "\n".join(hunk.old)
    if found:
        offsets = [sum(len(line) + 1 for line in lines[:at]) for at in found]
        raise ToolRetry(
            "A hunk fits {n} places. Give more lines around the right one, or a line above it "
            "after `@@`:\n{places}",
            n=len(found),
            places=preview(text, offsets, len(old)),
        )
    near = place_near(text, old, "\n".join(hunk.new)) if hunk.new else None
    if near is None:
        raise ToolRetry("The lines of a hunk are not there. {why}", why=why_missing(text, old))
    return near


def _skip(text: str, around: list[str]) -> int:
    """Return where the text below these lines begins. Raises `ToolRetry` when one is missing."""
    at = 0
    for wanted in around:
        for start, line in _starts(text, at):
            if squeezed(line) == squeezed(wanted):
                at = min(len(text), start + len(line) + 1)
                break
        else:
            raise ToolRetry("The line {line} after `@@` is not there.", line=repr(wanted))
    return at


def _starts(text: str, at: int) -> Iterator[tuple[int, str]]:
    for line in text[at:].split("\n"):
        yield at, line
        at += len(line) + 1

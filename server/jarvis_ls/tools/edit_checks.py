"""What an edit broke: told with its result, within half a second.

Syntax errors that are new, findings that are new or gone, and places that still call a function
as it was before: everything compared with the text before, so that an edit is never blamed for
what was there already.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.symbols import Outline, Symbol
from jarvis_ls.codeintel.syntax_errors import SyntaxFault, syntax_errors
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.events import Hunk
from jarvis_ls.runtime.edits.text_change import Change, hunks_of
from jarvis_ls.runtime.edits.text_file import WorkspacePath, resolve_path
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import ToolContext
from jarvis_ls.tools.code_analysis import CodeAnalysis, finding_line
from jarvis_ls.tools.project import Clock, hidden_from, one_line
from jarvis_ls.tools.symbol_places import Found, find

SECONDS = 0.5
"""An edit waits for them."""
_SEARCHED = 0.8
"""Part of it in which callers are looked for: those that were found are reported in time."""
MOST = 6
"""Things told of one kind."""
_NAMES = 12
"""Changed functions whose callers are looked for."""

logger = logging.getLogger(__name__)


class EditChecks:
    """Checks the edits of one conversation (`services["after_edit"]`)."""

    def __init__(self, analysis: CodeAnalysis | None, seconds: float | None = None) -> None:
        self._analysis = analysis
        self._seconds = SECONDS if seconds is None else seconds
        self._first: dict[WorkspacePath, str] = {}
        self._tasks: set[asyncio.Task[str]] = set()

    def first_text(self, place: WorkspacePath) -> str | None:
        """Return the text a file had before the first edit; None when there was no edit."""
        return self._first.get(place)

    async def __call__(self, changes: Sequence[Change], context: ToolContext) -> str:
        """Return what the changes broke, in words for a model; empty when nothing is known."""
        for change in changes:
            self._first.setdefault(change.place, change.old_text)
        clock = Clock(self._seconds * _SEARCHED)
        checks = {
            "syntax": asyncio.to_thread(_syntax, changes),
            "callers": asyncio.to_thread(_callers, changes, context, clock),
            "findings": self._findings(changes),
        }
        tasks = {asyncio.ensure_future(check): name for name, check in checks.items()}
        self._tasks |= tasks.keys()
        for task in tasks:
            task.add_done_callback(self._tasks.discard)
        await asyncio.wait(tasks, timeout=self._seconds)
        parts: list[str] = []
        late: list[str] = []
        for task, name in tasks.items():
            if not task.done():  # it ends by itself, and what it learnt serves the next question
                late.append(name)
            elif (error := task.exception()) is not None:
                logger.warning("%s after an edit: %s", name, error)
            elif task.result():
                parts.append(task.result())
        if late:
            parts.append(
                Words(
                    "Not checked within {seconds} s: {what}.",
                    seconds=self._seconds,
                    what=", ".join(late),
                )
            )
        return together(parts, "\n") if parts else ""

    async def close(self) -> None:
        """Drop what is still under way."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _findings(self, changes: Sequence[Change]) -> str:
        if self._analysis is None:
            return ""
        new: list[str] = []
        gone: Counter[str] = Counter()
        for change in changes:
            if change.after is None:
                continue
            try:
                known = await self._analysis.of_texts(change.place, [change.old_text, change.after])
            except JarvisError as error:
                logger.warning("findings after an edit: %s", error)
                return ""
            if known is None:
                continue
            came, went = new_findings(change.old_text, change.after, *known)
            name = shown(change.place.name)
            new += [shown(finding_line(item, name)) for item in came]
            gone.update(item.rule for item in went)
        return _told_findings(new, gone)


def _told_findings(new: Sequence[str], gone: Counter[str]) -> str:
    parts: list[str] = []
    if new:
        parts += [Words("New findings:"), *(f"  {line}" for line in new[:MOST])]
        if len(new) > MOST:
            parts.append(Words("  … {count} more", count=len(new) - MOST))
    if gone:
        listed = ", ".join(f"{rule} ({count})" for rule, count in gone.items())
        parts.append(Words("Findings gone: {listed}.", listed=listed))
    return together(parts, "\n") if parts else ""


def new_findings(
    before: str, after: str, old: Sequence[Finding], new: Sequence[Finding]
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings that an edit brought, and those it removed.

    A finding whose line was edited has another fingerprint: it is the same when the same rule
    had one in the lines that were replaced.
    """
    old_prints = Counter(item.fingerprint for item in old)
    came = []
    for item in new:
        if old_prints[item.fingerprint]:
            old_prints[item.fingerprint] -= 1
        else:
            came.append(item)
    new_prints = Counter(item.fingerprint for item in new)
    went = []
    for item in old:
        if new_prints[item.fingerprint]:
            new_prints[item.fingerprint] -= 1
        else:
            went.append(item)
    if not came or not went:
        return came, went
    return _without_moved(came, went, hunks_of(before, after))


def _without_moved(
    came: list[Finding], went: list[Finding], hunks: Sequence[Hunk]
) -> tuple[list[Finding], list[Finding]]:
    left = list(went)
    really_new = []
    for item in came:
        hunk = next((h for h in hunks if _holds(h.new_start, h.new_lines, item.span.line)), None)
        same = next(
            (
                other
                for other in left
                if other.rule == item.rule
                and hunk is not None
                and _holds(hunk.old_start, hunk.old_lines, other.span.line)
            ),
            None,
        )
        if same is None:
            really_new.append(item)
        else:
            left.remove(same)
    return really_new, left


def _holds(first: int, lines: Sequence[str], line: int) -> bool:
    return first <= line < first + len(lines)


def new_syntax_errors(path: str, before: str, after: str) -> list[SyntaxFault]:
    """Return the errors of the new text that the old one did not have, by what is there."""
    now = syntax_errors(path, after)
    if not now:
        return []
    known = Counter(fault.what for fault in syntax_errors(path, before) or ())
    found = []
    for fault in now:
        if known[fault.what]:
            known[fault.what] -= 1
        else:
            found.append(fault)
    return found


def _syntax(changes: Sequence[Change]) -> str:
    lines: list[str] = []
    for change in changes:
        if change.after is None:
            continue
        for fault in new_syntax_errors(change.place.path, change.old_text, change.after):
            lines.append(f"  {shown(change.place.name)}:{fault.line} {shown(fault.what)}")
    if not lines:
        return ""
    left = [Words("  … {count} more", count=len(lines) - MOST)] if len(lines) > MOST else []
    return together([Words("New syntax errors:"), *lines[:MOST], *left], "\n")


def _callers(changes: Sequence[Change], context: ToolContext, clock: Clock) -> str:
    """Return the places outside of the changed lines that use functions which are not what they
    were.
    """
    changed = _changed_functions(changes)
    if not changed:
        return ""
    names = list(changed)[:_NAMES]
    edited = {
        shown(change.place.name): hunks_of(change.old_text, change.after or "")
        for change in changes
    }
    uses: dict[str, list[str]] = {name: [] for name in names}
    is_cut = False
    for root in context.roots:
        place = resolve_path(str(root), context)
        hidden = hidden_from("references", place, context)
        buffers = context.services.get("buffers")
        found, note = find(place, names, "references", hidden, clock, buffers)
        is_cut = is_cut or bool(note)
        for name, known in found.items():
            uses[name] += _find_untouched(known, edited)
    parts: list[str] = []
    for name in names:
        if not uses[name]:
            continue
        files = len({use.rpartition(":")[0] for use in uses[name]})
        told = Words(
            "{name} {how}; still used as before (places: {places}, files: {files}): {listed}",
            name=name,
            how=changed[name],
            places=len(uses[name]),
            files=files,
            listed=", ".join(uses[name][:MOST]) + (", …" if len(uses[name]) > MOST else ""),
        )
        parts.append(told)
    if is_cut:
        parts.append(Words("Callers were not looked for in all files: the time was short."))
    return together(parts, "\n") if parts else ""


def _find_untouched(found: Found, edited: Mapping[str, Sequence[Hunk]]) -> list[str]:
    return [
        f"{one_line(file)}:{use.line}"
        for file, use in found.uses
        if use.use in ("call", "use", "macro")
        and not any(_holds(h.new_start, h.new_lines, use.line) for h in edited.get(file, ()))
    ]


def _changed_functions(changes: Sequence[Change]) -> dict[str, str]:
    """Return the functions and macros whose signature changed, or that are gone, with which."""
    before: dict[str, set[str]] = {}
    after: dict[str, set[str]] = {}
    for change in changes:
        _collect(change.place.path, change.old_text, before)
        _collect(change.place.path, change.after or "", after)
    found: dict[str, str] = {}
    for name, signatures in before.items():
        if name not in after:
            found[name] = Words("is gone")
        elif signatures != after[name]:
            found[name] = Words("changed")
    return found


def _collect(path: str, text: str, into: dict[str, set[str]]) -> None:
    data = text.encode("utf-8", "replace")
    language = language_of(path, data)
    if language is None or not text:
        return
    for symbol in Outline(data, language).symbols:
        if symbol.kind in ("function", "declaration") or _is_macro_function(symbol):
            name = symbol.name.rpartition("::")[2]
            into.setdefault(name, set()).add(_signature(symbol))


def _is_macro_function(symbol: Symbol) -> bool:
    return symbol.kind == "macro" and f"{symbol.name}(" in symbol.signature


def _signature(symbol: Symbol) -> str:
    """Return what callers depend on: for a macro its parameters, not its text."""
    if symbol.kind == "macro":
        return symbol.signature.partition(")")[0]
    return symbol.signature.rstrip(" ;").removeprefix("extern ")

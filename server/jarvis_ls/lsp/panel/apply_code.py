"""A block of code of an answer, applied to the file it is meant for: once the user has accepted the
diff, and never where its place is a guess."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jarvis_ls.agents.records import ROOT
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.errors import UsageError
from jarvis_ls.lsp.panel.desk import Desk
from jarvis_ls.lsp.protocol.apply_code import CodeFile, PlaceCodeAsk, PlacedCode
from jarvis_ls.lsp.protocol.panel import Done, FileText, ReviewAsk, SideAsk
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.events import ToolEntry
from jarvis_ls.runtime.edits.text_change import Change, apply_hunks
from jarvis_ls.runtime.edits.text_file import WorkspacePath, read_text, resolve_path, with_newlines
from jarvis_ls.runtime.edits.writer import write
from jarvis_ls.runtime.tools.permissions import protected_name
from jarvis_ls.runtime.tools.tool import Action, ToolContext
from jarvis_ls.tools.answer_code import Names, Placed, names_of, place_code, whole_file

TOOL = "apply_code"
"""What the rules of permissions call it."""
_KEPT = 30
"""Diffs that may wait for the user."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A change that the user has been shown."""

    change: Change
    context: ToolContext


class ApplyCode:
    """What the button of a block asks, and the diff that it opens."""

    def __init__(self, desk: Desk, files: Callable[[Path], Awaitable[list[str]]]) -> None:
        """`files` lists the files of a folder of the workspace; folders end in `/`."""
        self._desk = desk
        self._files = files
        self._waiting: dict[str, _Waiting] = {}
        self._number = 0

    def has(self, entry: str) -> bool:
        """Return whether a diff of ours waits under this name."""
        return entry in self._waiting

    async def place(self, ask: PlaceCodeAsk) -> PlacedCode:
        """Return the change that puts the code in its place, or what the user has to say first."""
        if not self._desk.trusted:
            raise UsageError(
                self._desk.say("In a workspace that is not trusted nothing is written.")
            )
        context = await self._context(self._desk.named(ask.session))
        names = names_of(with_newlines(ask.code), ask.info, ask.before)
        targets = await self._targets(ask, names, context)
        if len(targets) > 1:
            return PlacedCode(choices=tuple(CodeFile(t.path, t.number) for t in targets))
        if not targets:
            return PlacedCode(said=self._desk.say("The answer names no file, and none is open."))
        place = targets[0]
        self._check_allowed(place, context)
        file = await read_text(place.name, context) if place.real.exists() else None
        try:
            placed = await asyncio.to_thread(_place, file.text if file else "", names, place, ask)
        except ToolRetry:
            why = "Where this code belongs in {file} is not certain: nothing was placed."
            said = self._desk.say(why, file=place.name)
            return PlacedCode(said, path=place.path, root=place.number)
        if file is not None and placed.text == file.text:
            raise UsageError(self._desk.say("{file} has this code already.", file=place.name))
        entry = self._wait(Change(place, file, placed.text), context)
        session = context.session
        return PlacedCode(self._desk.say(placed.how), session, place.path, place.number, entry)

    def _wait(self, change: Change, context: ToolContext) -> ToolEntry:
        self._number += 1
        name = f"code-{self._number}"
        while len(self._waiting) >= _KEPT:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[name] = _Waiting(change, context)
        return ToolEntry(name, TOOL, "", "asked", edits=(change.edit(),))

    async def side(self, ask: SideAsk) -> FileText:
        """Return one side of a diff that waits."""
        change = self._of(ask.entry).change
        if ask.side == "before":
            return FileText(change.old_text, exists=change.before is not None)
        return FileText(change.after or "")

    async def review(self, ask: ReviewAsk) -> Done:
        """Write what the user accepted."""
        waiting = self._of(ask.entry)
        change, edit = waiting.change, waiting.change.edit()
        chosen = {index for index in ask.accepted.get(edit.path, ()) if index < len(edit.hunks)}
        if chosen:
            if edit.change == "modify" and len(chosen) < len(edit.hunks):
                change = replace(change, after=apply_hunks(change.old_text, edit.hunks, chosen))
            await write([change], waiting.context)
        self._waiting.pop(ask.entry, None)
        return Done()

    def _of(self, entry: str) -> _Waiting:
        try:
            return self._waiting[entry]
        except KeyError:
            raise UsageError(self._desk.say("This question is not open any more.")) from None

    async def _context(self, session: str) -> ToolContext:
        """Return what files of the workspace are read and written with, whatever copy the agents of
        the session work in."""
        conversation = await self._desk.conversation(session or None)
        roots = tuple([Path(os.path.realpath(root)) for root in self._desk.roots()])
        editor = self._desk.editor
        services: dict[str, Any] = {"buffers": editor.buffer, "applied": editor.apply}
        services["permissions"] = conversation.permissions
        if tuple(conversation.place.roots) == roots:  # not in a copy
            services["checkpoints"] = conversation.checkpoints
        return ToolContext(roots, conversation.id, ROOT, self._desk.trusted, services)

    def _check_allowed(self, place: WorkspacePath, context: ToolContext) -> None:
        """Raise `UsageError` for what no code of an answer is written to."""
        if protected_name(place.path) is not None:
            why = "{file} makes other programs act: code of an answer is not written there."
            raise UsageError(self._desk.say(why, file=place.name))
        actions = [Action("write", str(place.real))]
        decision = context.services["permissions"].decide(TOOL, actions, context)
        if decision.effect == "deny":
            raise UsageError(self._desk.say(decision.reason))

    # -- which file ----------------------------------------------------------------------------

    async def _targets(
        self, ask: PlaceCodeAsk, names: Names, context: ToolContext
    ) -> list[WorkspacePath]:
        """Return the file, or those of which the user has to choose one."""
        if ask.path:
            return [self._resolve(ask.path, ask.root, context)]
        for name in names.sure:
            found = await self._find_named(name, context)
            if found:
                return found
        near = [place for name in names.near for place in await self._find_named(name, context)]
        if near and not names.sure:
            return list(dict.fromkeys(near))
        new = list(names.sure) or [name for name in names.near if language_of(name) is not None]
        if len(new) == 1 or names.sure:
            return [resolve_path(new[0], context, reading=False)]
        return [self._resolve(ask.active, ask.active_root, context)] if ask.active else []

    def _resolve(self, path: str, root: int, context: ToolContext) -> WorkspacePath:
        if not 0 <= root < len(context.roots):
            raise UsageError(self._desk.say("The file is outside the workspace."))
        return resolve_path(str(context.roots[root] / path), context, reading=False)

    async def _find_named(self, name: str, context: ToolContext) -> list[WorkspacePath]:
        """Return the files of the workspace that are called so, by their path or its end."""
        try:
            place = resolve_path(name, context, reading=False)
        except ToolRetry:
            return []
        if place.real.is_file():
            return [place]
        wanted = name.replace("\\", "/").removeprefix("./")
        if "." not in wanted and "/" not in wanted:
            return []
        found: list[WorkspacePath] = []
        for root in context.roots:
            paths = await self._files(root)
            ends = [path for path in paths if f"/{path}".endswith(f"/{wanted}")]
            found += [
                resolve_path(str(root / path), context, reading=False) for path in sorted(ends)
            ]
        return found


def _place(text: str, names: Names, place: WorkspacePath, ask: PlaceCodeAsk) -> Placed:
    if ask.whole:
        return whole_file(names.code)
    return place_code(text, names.code, language_of(place.path, text.encode()))

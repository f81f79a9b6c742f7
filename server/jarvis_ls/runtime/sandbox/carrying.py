"""Carrying what a script changed in its copy into the workspace: only what the user accepts.

The rules of the gate hold for each file as if a tool wrote it; what they allow is written, what
they forbid is not, everything else is shown as a diff and written whole or by hunk. Files that
other programs act on, and links that lead out of the workspace, are asked for in words first.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jarvis_ls.core.words import Words, mapped, together
from jarvis_ls.runtime.base.events import ProposedEdit
from jarvis_ls.runtime.base.folders import named, prefix_of
from jarvis_ls.runtime.edits.file_change import FileChange, apply_changes, partly
from jarvis_ls.runtime.tools.current_call import current_call
from jarvis_ls.runtime.tools.interaction import Interaction, Review
from jarvis_ls.runtime.tools.permissions import Asked, Permissions, protected_name, shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext

_TOOL = "execute_script"
_NAMED = 100
"""Files that are named to the model, one a line."""


@dataclass(slots=True)
class _Sorted:
    """Changes by what the rules say of them."""

    allowed: list[FileChange] = field(default_factory=list)
    asked: list[FileChange] = field(default_factory=list)
    special: list[FileChange] = field(default_factory=list)
    """To be asked in words before they are shown."""
    refused: list[tuple[FileChange, str]] = field(default_factory=list)


async def carry(changes: Sequence[FileChange], context: ToolContext) -> str:
    """Write what may be written; what to tell the model.

    Services: `permissions` (without, everything is shown), `interaction` (without, only what a
    rule allows is written), `buffers` (files with unsaved changes in the editor are left alone).
    """
    return await _Carrying(context).carry(changes)


class _Carrying:
    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._interaction: Interaction | None = context.services.get("interaction")
        self._permissions: Permissions | None = context.services.get("permissions")
        here = current_call()
        self._call = here.id if here is not None else ""

    async def carry(self, changes: Sequence[FileChange]) -> str:
        edits = [change.edit() for change in changes]
        here = current_call()
        if here is not None:
            here.show(edits=tuple(edits))
        found = _Sorted()
        for change in changes:
            self._sort(change, found)
        await self._ask_special(found)
        taken, note = await self._review(found)
        taken = [*found.allowed, *taken]
        problems = await asyncio.to_thread(apply_changes, taken, self._context.roots)
        return self._report(changes, taken, found, problems, note)

    def _sort(self, change: FileChange, found: _Sorted) -> None:
        path = self._place(change)
        buffers = self._context.services.get("buffers")
        if buffers is not None and buffers(path) is not None:
            found.refused.append((change, Words("it has unsaved changes in the user's editor")))
            return
        action = Action("write", str(path))
        effect, reason = "ask", ""
        if self._permissions is not None:
            decision = self._permissions.decide(_TOOL, [action], self._context)
            effect, reason = decision.effect, decision.reason
        if effect == "deny":
            found.refused.append((change, reason or Words("a rule forbids it")))
        elif self._leads_out(change) or (
            effect == "ask" and protected_name(change.path) is not None
        ):
            found.special.append(change)
        elif effect == "allow":
            found.allowed.append(change)
        else:
            found.asked.append(change)

    async def _ask_special(self, found: _Sorted) -> None:
        for change in found.special:
            reason = Words("A script changed a file that other programs act on.")
            if self._leads_out(change):
                reason = Words("A script created a link that points outside the workspace.")
            asked = Asked(
                _TOOL,
                (Action("write", str(self._place(change))),),
                reason,
                {"change": self._describe(change)},
            )
            if self._interaction is None:
                found.refused.append((change, Words("no one can allow it")))
                continue
            self._show("asked", reason)
            answer = await self._interaction.permit(self._context.node, self._call, asked)
            self._show("running")
            if answer.allowed:
                found.asked.append(change)
            else:
                found.refused.append((change, answer.note or Words("the user did not allow it")))

    async def _review(self, found: _Sorted) -> tuple[list[FileChange], str]:
        """Those of the asked that the user accepts, and what the user says to them."""
        if not found.asked:
            return [], ""
        if self._interaction is None:
            nobody = Words("no one can approve it")
            found.refused += [(change, nobody) for change in found.asked]
            return [], ""
        taken: list[FileChange] = []
        notes = []
        for root in sorted({change.root for change in found.asked}):  # paths repeat over roots
            group = [change for change in found.asked if change.root == root]
            edits = [change.edit() for change in group]
            self._show("asked")
            review = await self._interaction.review(self._context.node, self._call, edits)
            self._show("running")
            notes.append(review.note)
            for change, edit in zip(group, edits, strict=True):
                accepted = accepted_part(change, edit, review)
                if accepted is None:
                    found.refused.append((change, Words("the user refused it")))
                else:
                    taken.append(accepted)
            self._grant(review, [change for change in taken if change.root == root])
        return taken, " ".join(note for note in notes if note)

    def _grant(self, review: Review, taken: Sequence[FileChange]) -> None:
        if self._permissions is not None and review.scope != "call" and taken:
            actions = [Action("write", str(self._place(change))) for change in taken]
            self._permissions.grant(_TOOL, actions, review.scope, self._context)

    def _report(
        self,
        changes: Sequence[FileChange],
        taken: Sequence[FileChange],
        found: _Sorted,
        problems: Sequence[str],
        note: str,
    ) -> str:
        whole = {(change.root, change.path): change for change in changes}
        lines: list[str] = []
        for change in taken:
            is_whole = whole[change.root, change.path] == change
            described = self._describe(change)
            lines.append(described if is_whole else Words("{file} (in part)", file=described))
        count = len(taken) - len(problems)
        head = Words("Changed files, now in the workspace: {count}.", count=count)
        text: list[str] = [head, *lines[:_NAMED]] if taken else []
        if len(lines) > _NAMED:
            text.append(Words("… and {count} more", count=len(lines) - _NAMED))
        if found.refused:
            text.append(
                Words("Changed by the script but NOT written: {count}.", count=len(found.refused))
            )
            text += [
                Words("{file}: {why}", file=self._describe(change), why=why)
                for change, why in found.refused[:_NAMED]
            ]
        text += [Words("Not written: {why}", why=problem) for problem in problems]
        if note:
            text.append(Words("The user says: {note}", note=note))
        return together([mapped(line, shown) for line in text], "\n")

    def _place(self, change: FileChange) -> Path:
        return self._context.roots[change.root] / change.path

    def _describe(self, change: FileChange) -> str:
        prefix = prefix_of(change.path, change.root, self._context.roots)
        return change.describe(named(change.path, prefix))

    def _leads_out(self, change: FileChange) -> bool:
        if change.after is None or change.after.kind != "link":
            return False
        target = os.path.join(self._place(change).parent, os.fsdecode(change.after.data))  # noqa: PTH118
        real = os.path.realpath(target)
        tops = [os.path.realpath(root) for root in self._context.roots]
        return not any(real == top or real.startswith(top + os.sep) for top in tops)

    def _show(self, state: str, reason: str = "") -> None:
        here = current_call()
        if here is not None:
            here.show(state=state, reason=reason)


def accepted_part(change: FileChange, edit: ProposedEdit, review: Review) -> FileChange | None:
    """Return the change as far as the user accepts it; None when they refuse it."""
    if edit.path not in review.accepted:
        return None
    chosen = {index for index in review.accepted[edit.path] if 0 <= index < len(edit.hunks)}
    if edit.hunks and not chosen:
        return None
    if edit.change != "modify" or len(chosen) == len(edit.hunks):
        return change
    return replace(change, after=partly(change, edit, chosen))

"""What happens after each tool that may have changed files: losses first, then who listens.

A change that loses more than somebody agrees to is taken back at once. Everything else is handed to
the listeners, whose words the model reads beside the result of its tool.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from jarvis_ls.codeagent.losses import Agreed, find_losses, judge_prompt, read_verdict
from jarvis_ls.codeagent.workspace import Workspace
from jarvis_ls.codeintel.change.deletion_guard import GuardReport, Limits, Loss, Lost
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.agent.guard import Guard, Halted
from jarvis_ls.runtime.agent.interface import AgentInterface
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult, User
from jarvis_ls.runtime.edits.file_change import FileChange
from jarvis_ls.runtime.tools.permissions import Answer, Asked
from jarvis_ls.runtime.tools.tool import Action

logger = logging.getLogger(__name__)

TOOL = "deletion guard"
"""Who asks a person."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change that was kept."""

    changes: tuple[FileChange, ...]
    """Everything since the copy was made, by path."""
    touched: tuple[FileChange, ...]
    """What this edit did, by path."""
    is_proposed: bool
    """Whether a tool for edits did it, which has shown it to the model."""


class Listener(Protocol):
    """Looks at what was changed."""

    async def after_edit(self, edit: Edit) -> str:
        """Return what the model is told; empty when there is nothing to tell."""


@dataclass(frozen=True, slots=True)
class Consent:
    """Who may agree to a loss."""

    attended: bool
    """Whether there is a person to ask; else a model judges what is no test."""
    limits: Limits = field(default_factory=Limits)
    """What may be lost without a question."""
    tests: bool = False
    """Whether tests may be lost where nobody can be asked."""


class EditGuard(Guard):
    """Watches all agents of one task."""

    def __init__(
        self, workspace: Workspace, consent: Consent, listeners: Sequence[Listener] = ()
    ) -> None:
        """`workspace` has a copy."""
        self._workspace = workspace
        self._consent = consent
        self._listeners = tuple(listeners)
        self._agreed = Agreed(consent.limits)
        self._one_at_a_time = asyncio.Lock()
        self.task = ""
        """What the user wants, in their words."""
        self.kept: tuple[FileChange, ...] = ()
        """The changes that nobody has objected to."""

    @property
    def losses(self) -> Sequence[Lost]:
        """Return the losses that somebody has agreed to."""
        return tuple(self._agreed.losses)

    async def begin(self) -> None:
        """Take what is in the copy already for agreed: it was, before the process ended."""
        self.kept = await self._workspace.changes()
        self._agreed.add(find_losses(self.kept, self._consent.limits).losses)

    def forget(self) -> None:
        """Start over: what there was is written or taken back."""
        self.task = ""
        self.kept = ()
        self._agreed = Agreed(self._consent.limits)

    async def after_tool_call(
        self, agent: AgentInterface, call: ToolCall, result: ToolResult
    ) -> str:
        """See `Guard`."""
        known = agent.toolset.tools().get(call.name)
        if known is not None and known.independent:  # it changes nothing
            return ""
        async with self._one_at_a_time:
            try:
                is_proposed = known is not None and known.proposes
                return await self._look(agent, call, is_proposed=is_proposed)
            except JarvisError as error:
                raise Halted("{why}", why=error) from error

    async def settle(self) -> tuple[FileChange, ...]:
        """Return the changes when no agent works any more. What came after the last call, and loses
        what nobody has agreed to, is taken back."""
        async with self._one_at_a_time:
            changes, touched = await self._changes()
            if touched and self._agreed.new(find_losses(changes, self._consent.limits)):
                await self._workspace.undo(touched)
            else:
                self.kept = changes
            return self.kept

    async def _look(self, agent: AgentInterface, call: ToolCall, *, is_proposed: bool) -> str:
        changes, touched = await self._changes()
        if not touched:
            return ""
        report = await asyncio.to_thread(find_losses, changes, self._consent.limits)
        losses = self._agreed.new(report)
        verdict = Answer(True)
        if losses:
            verdict = await self._ask(agent, call, report, losses, touched)
        if not verdict.allowed:
            await self._workspace.undo(touched)
            reasons = together([loss.reason for loss in losses], "; ")
            agent.showing.notice(
                "warning", "Undone by the deletion guard: {losses}", losses=reasons
            )
            return Words(
                "The deletion guard has undone this change, files are as before the call: {losses}."
                " Make the change without losing this. {note}",
                losses=reasons,
                note=verdict.note,
            )
        self._agreed.add(losses)
        self.kept = changes
        edit = Edit(changes, touched, is_proposed)
        told = [await _tell(listener, edit) for listener in self._listeners]
        return together([text for text in told if text], "\n")

    async def _changes(self) -> tuple[tuple[FileChange, ...], tuple[FileChange, ...]]:
        """Return all changes, and how they differ from those that were kept."""
        changes = await self._workspace.changes()
        old = {change.path: change for change in self.kept}
        new = {change.path: change for change in changes}
        touched = []
        for path in sorted(old.keys() | new.keys()):
            if old.get(path) == new.get(path):
                continue
            first = old.get(path) or new[path]
            before = first.after if path in old else first.before
            after = new[path].after if path in new else first.before
            touched.append(FileChange(path, before, after))
        return changes, tuple(touched)

    async def _ask(
        self,
        agent: AgentInterface,
        call: ToolCall,
        report: GuardReport,
        losses: Sequence[Lost],
        touched: Sequence[FileChange],
    ) -> Answer:
        """Return what the user says to losses, or a model in the user's place."""
        reasons = together([loss.reason for loss in losses], "; ")
        if self._consent.attended:
            paths = dict.fromkeys(loss.path for loss in losses if loss.path)
            actions = tuple(Action("write", path) for path in paths)
            why = Words("This change loses: {losses}", losses=reasons)
            return await agent.interaction.permit(
                agent.node.id, call.id, Asked(TOOL, actions, why, {})
            )
        if any(loss.loss is Loss.TEST for loss in losses) and not self._consent.tests:
            return Answer(False)
        question = judge_prompt(report, losses, self.task, touched)
        try:
            verdict = await agent.aside([User(question)])
        except Halted:
            raise
        except JarvisError as error:
            agent.showing.notice("warning", "The judge of a loss gave no answer: {why}", why=error)
            return Answer(False)
        agreed = read_verdict(verdict.text)
        template = (
            "A model has agreed to a loss: {losses}"
            if agreed
            else "A model has not agreed to a loss: {losses}"
        )
        agent.showing.notice("info", template, losses=reasons)
        return Answer(agreed)


async def _tell(listener: Listener, edit: Edit) -> str:
    """Return what a listener tells; one that fails does not end the agent."""
    try:
        return await listener.after_edit(edit)
    except JarvisError:
        raise
    except Exception:
        logger.exception("%s after an edit failed", type(listener).__name__)
        return ""

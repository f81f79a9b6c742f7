"""Agents that each do one task with an answer in a form: children of the root of one session."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.agents.node import Assignment, Node
from jarvis_ls.agents.records import ROOT
from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.assembly.tools import LOOKING
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.typed_answer import AnswerForm
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.tools.interaction import NonInteractive
from jarvis_ls.runtime.tools.permissions import PermissionRule

if TYPE_CHECKING:
    from jarvis_ls.assembly.bootstrap import Assembly
    from jarvis_ls.assembly.conversation import Conversation

_ONLY_LOOKING = tuple(PermissionRule("deny", kind=kind) for kind in ("write", "execute", "connect"))


def task_options(options: AgentOptions) -> AgentOptions:
    """Return options for agents that ask nobody and keep nothing for later."""
    return replace(
        options,
        non_interactive=True,
        use_methodology=False,
        force_save_memory=False,
        use_analysis=False,
    )


@contextlib.asynccontextmanager
async def open_readers(
    assembly: Assembly,
    root: Path,
    name: str,
    budget: Budget | None = None,
    *,
    additions: Additions | None = None,
    trusted: bool = False,
) -> AsyncIterator[TaskAgents]:
    """Open a session over a folder for agents that may only look, whatever rules say elsewhere; at
    the end all of them have ended. `budget` holds for all of them together."""
    added = additions or Additions()
    conversation = await assembly.start(
        None,
        [root],
        NonInteractive(),
        trusted=trusted,
        options=replace(task_options(assembly.options), name=name),
        additions=replace(added, rules=(*added.rules, *_ONLY_LOOKING)),
    )
    try:
        conversation.rename(name)
        if budget is not None and budget != Budget():
            conversation.tree.set_budget(ROOT, budget)
        yield TaskAgents(conversation)
    finally:
        await conversation.close()


class TaskAgents:
    """Gives each task an agent of its own."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    @property
    def spent(self) -> Usage:
        """Return what all of them have spent."""
        return self._conversation.tree.root.info.subtree

    def known(self, *names: str) -> tuple[str, ...]:
        """Return those of some tools that the session has."""
        tools = self._conversation.sources.toolset.tools()
        return tuple(name for name in names if name in tools)

    async def ask(self, assignment: Assignment, form: AnswerForm) -> AgentAnswer:
        """Return what an agent answers; when this is cancelled the agent ends."""
        tree = self._conversation.tree
        try:
            node = tree.add(ROOT, assignment, form)
            tree.start(node.id)
        except JarvisError as error:  # a limit of trees that the user has set
            return AgentAnswer(AnswerState.FAILED, error=str(error))
        try:
            await tree.result(node.id)
        except BaseException:
            with contextlib.suppress(JarvisError):
                await tree.cancel(node.id)
            raise
        return self._answer(node, form)

    def _answer(self, node: Node, form: AnswerForm) -> AgentAnswer:
        ending, spent = node.ending, node.info.subtree
        name = f"{self._conversation.id}/{node.id}"
        if ending is None or ending.state == "cancelled":
            error = (ending.error if ending is not None else "") or Words("It was stopped.")
            return AgentAnswer(AnswerState.STOPPED, error=error, node=name, spent=spent)
        if ending.state == "completed" and ending.value is not None:
            return AgentAnswer(AnswerState.ANSWERED, ending.value, node=name, spent=spent)
        state = AnswerState.UNFIT if form.refused else AnswerState.FAILED
        if node.refused or self._conversation.tree.root.refused:
            state = AnswerState.STOPPED
        error = ending.error or Words("It gave no answer.")
        return AgentAnswer(state, error=error, node=name, spent=spent)


class AgentWriter:
    """Gives each task a fresh agent that can only look; for ports that ask for what it writes."""

    def __init__(self, agents: TaskAgents, group: str) -> None:
        """`group` is a model group; empty takes that of the user's settings."""
        self._agents, self._group = agents, group
        self._tools = agents.known(*LOOKING)

    async def write(self, task: str, title: str, form: AnswerForm, budget: Budget) -> AgentAnswer:
        """Return what an agent answers."""
        assignment = Assignment(task, title, tools=self._tools, group=self._group, budget=budget)
        return await self._agents.ask(assignment, form)

"""The agents of `jc2r rewrite`: each answer comes from a fresh agent that can only look."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

from jarvis_ls.agents.node import Assignment
from jarvis_ls.agents.task_answer import AgentAnswer
from jarvis_ls.assembly.bootstrap import Assembly, build
from jarvis_ls.assembly.task_agents import LOOKING, TaskAgents, task_options
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.agent.typed_answer import AnswerForm
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.tools.interaction import NonInteractive
from jarvis_ls.runtime.tools.permissions import PermissionRule

_NAME = "jc2r rewrite"
_RULES = tuple(PermissionRule("deny", kind=kind) for kind in ("write", "execute", "connect"))


class AgentWriter:
    """Fulfils the port `Writer` of `jc2r.rewrite.stage`."""

    def __init__(self, agents: TaskAgents, group: str) -> None:
        """For `open_writer`."""
        self._agents, self._group = agents, group
        self._tools = agents.known(*LOOKING)

    async def write(self, task: str, title: str, form: AnswerForm, budget: Budget) -> AgentAnswer:
        """See `Writer`."""
        assignment = Assignment(task, title, tools=self._tools, group=self._group, budget=budget)
        return await self._agents.ask(assignment, form)


@contextlib.asynccontextmanager
async def open_writer(
    root: Path, group: str, environment: Mapping[str, str]
) -> AsyncIterator[AgentWriter]:
    """Open a session over the C project at `root` whose agents write Rust with the models of
    `group`, or those of the user's settings; at the end all of them have ended.

    Raises `UsageError` that says what to set when there is no model.
    """
    assembly = build(environment=environment)
    try:
        name = group or assembly.tree_settings("").group("child")
        if why := assembly.missing_model(name):
            raise UsageError("Rewriting needs a model: {why}", why=why)
        async with _session(assembly, root) as agents:
            yield AgentWriter(agents, group)
    finally:
        await assembly.close()


@contextlib.asynccontextmanager
async def _session(assembly: Assembly, root: Path) -> AsyncIterator[TaskAgents]:
    conversation = await assembly.start(
        None,
        [root],
        NonInteractive(),
        trusted=True,
        options=replace(task_options(assembly.options), name=_NAME),
        additions=Additions(rules=_RULES),
    )
    try:
        conversation.rename(_NAME)
        yield TaskAgents(conversation)
    finally:
        await conversation.close()

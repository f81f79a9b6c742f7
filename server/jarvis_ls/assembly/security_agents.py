"""The agents of `jsec agent`: each task is a child of one tree, with read-only tools."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.agents.node import Assignment
from jarvis_ls.agents.records import ROOT
from jarvis_ls.agents.task_answer import AgentAnswer
from jarvis_ls.assembly.shared import SharedState
from jarvis_ls.assembly.task_agents import TaskAgents
from jarvis_ls.assembly.tools import LOOKING
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.jsec.pipeline.agent_port import AgentTask, Role
from jarvis_ls.jsec.pipeline.examiner import Examiner
from jarvis_ls.jsec.pipeline.tools.service import RUNNING, SERVICE, pipeline_tools
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.tools.interaction import Interaction
from jarvis_ls.runtime.tools.permissions import PermissionRule

if TYPE_CHECKING:
    from jarvis_ls.assembly.bootstrap import Assembly
    from jarvis_ls.assembly.conversation import Conversation

_SAVE, _RECALL = "save_memory", "retrieve_memory"
_RULES = (
    *(PermissionRule("deny", kind=kind) for kind in ("write", "connect")),
    *(PermissionRule("allow", tool=name, kind="execute", target="jsec *") for name in RUNNING),
)
"""No tool writes or connects, whatever else is allowed. Running code for evidence is allowed, with
tools that only a trusted workspace has."""


@dataclass(frozen=True, slots=True)
class AgentsWanted:
    """How the agents of a run are to be."""

    root: Path
    """Real path of the workspace."""
    trusted: bool
    group: str = ""
    """Model group, or `provider/model`; empty takes that of the user's settings."""
    jobs: int = 4
    """Agents at the same time."""
    budget: Budget = field(default_factory=Budget)
    """What all of them may spend before the user is asked."""


class SecurityAgents:
    """Fulfils the port `Agents` of the pipeline."""

    def __init__(self, conversation: Conversation, group: str, *, can_run: bool) -> None:
        """For `open_agents`."""
        self._agents = TaskAgents(conversation)
        self._group = group
        own = (tool.spec.name for tool in pipeline_tools(can_run=can_run))
        self._look = self._agents.known(*LOOKING, *own, _RECALL)

    @property
    def spent(self) -> Usage:
        """Return what all of them have spent."""
        return self._agents.spent

    async def ask(self, task: AgentTask) -> AgentAnswer:
        """See `Agents`."""
        saves = (_SAVE,) if task.role in (Role.CLUSTERING, Role.ANALYSIS) else ()
        tools = (*self._look, *saves)
        assignment = Assignment(task.prompt, task.title, tools=tools, group=self._group)
        return await self._agents.ask(assignment, task.form)


def missing_model(shared: SharedState, group: str) -> str:
    """Return why the agents cannot be asked and what to set, in words; empty when they can."""
    return shared.missing_model(group or shared.tree_settings("").group("child"))


@contextlib.asynccontextmanager
async def open_agents(
    assembly: Assembly, wanted: AgentsWanted, examiner: Examiner, person: Interaction
) -> AsyncIterator[SecurityAgents]:
    """Open a session for the agents of a run; at the end all of them have ended."""
    conversation = await assembly.start(
        None,
        [wanted.root],
        person,
        trusted=wanted.trusted,
        options=replace(assembly.options, name="jsec agent", non_interactive=True),
        additions=Additions(
            services={SERVICE: examiner},
            rules=_RULES,
            tools=pipeline_tools(can_run=examiner.can_run),
            parallel=wanted.jobs,
        ),
    )
    try:
        conversation.rename("jsec agent")
        if wanted.budget != Budget():
            conversation.tree.set_budget(ROOT, wanted.budget)
        yield SecurityAgents(conversation, wanted.group, can_run=examiner.can_run)
    finally:
        await conversation.close()

"""The agents of `jsec agent`: each task is a child of one tree, with read-only tools."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.agents.node import Assignment, Node
from jarvis_ls.agents.records import ROOT
from jarvis_ls.assembly.shared import SharedState
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.pipeline.agent_port import AgentAnswer, AgentTask, AnswerState, Role
from jarvis_ls.jsec.pipeline.answers import CompleteForm
from jarvis_ls.jsec.pipeline.examiner import Examiner
from jarvis_ls.jsec.pipeline.tools.service import RUNNING, SERVICE, pipeline_tools
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.tools.interaction import Interaction
from jarvis_ls.runtime.tools.permissions import PermissionRule

if TYPE_CHECKING:
    from jarvis_ls.assembly.bootstrap import Assembly
    from jarvis_ls.assembly.conversation import Conversation

_READ = (
    "read_code",
    "read_symbols",
    "search_in_project",
    "list_project_files",
    "get_dependencies",
    "definition",
    "references",
    "callers",
    "callees",
)
"""Tools that only look; one that is not there is left out."""
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
        self._conversation = conversation
        self._group = group
        known = conversation.sources.toolset.tools()
        own = [tool.spec.name for tool in pipeline_tools(can_run=can_run)]
        self._look = tuple(name for name in (*_READ, *own, _RECALL) if name in known)

    @property
    def spent(self) -> Usage:
        """Return what all of them have spent."""
        return self._conversation.tree.root.info.subtree

    async def ask(self, task: AgentTask) -> AgentAnswer:
        """See `Agents`."""
        tree = self._conversation.tree
        saves = (_SAVE,) if task.role in (Role.CLUSTERING, Role.ANALYSIS) else ()
        assignment = Assignment(
            task.prompt, task.title, tools=(*self._look, *saves), group=self._group
        )
        try:
            node = tree.add(ROOT, assignment, task.form)
            tree.start(node.id)
        except JarvisError as error:  # a limit of trees that the user has set
            return AgentAnswer(AnswerState.FAILED, error=str(error))
        try:
            await tree.result(node.id)
        except BaseException:
            with contextlib.suppress(JarvisError):
                await tree.cancel(node.id)
            raise
        return self._answer(node, task)

    def _answer(self, node: Node, task: AgentTask) -> AgentAnswer:
        ending = node.ending
        name = f"{self._conversation.id}/{node.id}"
        if ending is None or ending.state == "cancelled":
            said = ending.error if ending is not None else ""
            return AgentAnswer(
                AnswerState.STOPPED, error=said or Words("It was stopped."), node=name
            )
        if ending.state == "completed" and ending.value is not None:
            return AgentAnswer(AnswerState.ANSWERED, ending.value, node=name)
        error = ending.error or Words("It gave no answer.")
        if self._conversation.tree.root.refused:
            return AgentAnswer(AnswerState.STOPPED, error=error, node=name)
        form = task.form
        refused = isinstance(form, CompleteForm) and form.refused > 0
        state = AnswerState.UNFIT if refused else AnswerState.FAILED
        return AgentAnswer(state, error=error, node=name)


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

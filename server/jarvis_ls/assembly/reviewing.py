"""The reviewers of `jarvis review --agents`: each is a fresh agent that can only look.

They look at the files as they are after the change. Those of the index or of a revision are written
into a folder of their own for that.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.agents.node import Assignment
from jarvis_ls.agents.task_answer import AgentAnswer
from jarvis_ls.assembly.bootstrap import Assembly
from jarvis_ls.assembly.task_agents import TaskAgents, open_readers
from jarvis_ls.assembly.tools import LOOKING
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.codeintel.change.difference import WORKING, write_state
from jarvis_ls.codeintel.change.repository import Repository
from jarvis_ls.review.answers import ReviewForm
from jarvis_ls.review.model_review import ReviewTask
from jarvis_ls.runtime.base.events import Budget

_NAME = "jarvis review"


@dataclass(frozen=True, slots=True)
class ReviewersWanted:
    """How the reviewers are to be."""

    state: str
    """What they look at: a revision, `STAGED` or `WORKING`."""
    group: str
    """Model group, or `provider/model`; empty takes that of the user's settings."""
    jobs: int
    """Agents at the same time."""
    budget: Budget = field(default_factory=Budget)
    """What all of them may spend."""


class AgentReviewers:
    """Fulfils the port `Reviewers` of `review.model_review`."""

    def __init__(self, agents: TaskAgents, group: str) -> None:
        """For `open_reviewers`."""
        self._agents, self._group = agents, group
        self._tools = agents.known(*LOOKING)

    async def ask(self, task: ReviewTask, form: ReviewForm) -> AgentAnswer:
        """See `Reviewers`."""
        assignment = Assignment(
            task.prompt,
            task.title,
            background=task.diff,
            tools=self._tools,
            group=self._group,
        )
        return await self._agents.ask(assignment, form)


@contextlib.asynccontextmanager
async def open_reviewers(
    assembly: Assembly, repository: Repository, wanted: ReviewersWanted
) -> AsyncIterator[AgentReviewers]:
    """Open a session for the reviewers of a change; at the end all of them have ended.

    `assembly` has a model (see `missing_model`). Raises `OSError` when the files cannot be written.
    """
    with contextlib.ExitStack() as stack:
        folder = repository.root
        if wanted.state != WORKING:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jarvis-review-")))
            write_state(repository, wanted.state, folder)
        additions = Additions(parallel=wanted.jobs, project=repository.root)
        async with open_readers(
            assembly, folder, _NAME, wanted.budget, additions=additions
        ) as agents:
            yield AgentReviewers(agents, wanted.group)

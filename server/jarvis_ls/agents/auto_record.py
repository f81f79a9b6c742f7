"""What a session keeps of auto mode, so that a process that is killed at any point can resume it.

Each change is one record of the session's journal: it is kept as a whole or not at all. A task's
agent is kept before it begins; that it has ended is told by its node, and by its last answer.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any, Literal

from jarvis_ls.agents.auto_plan import ExecutionPlan
from jarvis_ls.runtime.agent.agent_view import new_id
from jarvis_ls.runtime.base.event_json import record_from_json, to_json
from jarvis_ls.runtime.base.events import Correction, TaskState
from jarvis_ls.runtime.session.session import Session

_KEY = "auto"
logger = logging.getLogger(__name__)
Phase = Literal["planning", "working", "ended"]


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """How far a task is."""

    node: str = ""
    """Id of its agent."""
    attempts: int = 0
    state: TaskState = "waiting"
    result: str = ""
    error: str = ""
    corrections: tuple[Correction, ...] = ()


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of auto mode."""

    id: str
    """Of the entry that shows its tasks, and of the message of the user that began it."""
    task: str
    answer: str
    """Id of the message that ends it."""
    phase: Phase = "planning"
    planner: str = ""
    """Id of the agent that plans."""
    plan: dict[str, Any] | None = None
    """`ExecutionPlan` as JSON."""


class AutoRecords:
    """The latest run of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.run = self._read()
        """None before the first."""

    @property
    def plan(self) -> ExecutionPlan | None:
        """Return the plan of the run; None while there is none."""
        if self.run is None or self.run.plan is None:
            return None
        return ExecutionPlan.model_validate(self.run.plan)

    def begin(self, task: str) -> RunRecord:
        """Keep a new run."""
        return self._keep(RunRecord(new_id(), task, new_id()))

    def update(self, **changes: Any) -> RunRecord:
        """Keep what has changed of the run."""
        assert self.run is not None
        return self._keep(replace(self.run, **changes))

    def task(self, id: str) -> TaskRecord:
        """Return how far a task of the run is."""
        kept = self._session.data.get(self._task_key(id))
        return TaskRecord() if kept is None else record_from_json(TaskRecord, kept)

    def set_task(self, id: str, **changes: Any) -> TaskRecord:
        """Keep what has changed of a task."""
        record = replace(self.task(id), **changes)
        self._session.data[self._task_key(id)] = to_json(record)
        return record

    def _task_key(self, id: str) -> str:
        assert self.run is not None
        return f"{_KEY}:{self.run.id}:{id}"

    def _keep(self, run: RunRecord) -> RunRecord:
        self._session.data[_KEY] = to_json(run)
        self.run = run
        return run

    def _read(self) -> RunRecord | None:
        kept = self._session.data.get(_KEY)
        try:
            return None if kept is None else record_from_json(RunRecord, kept)
        except ValueError as error:  # of another version
            logger.error("the run of auto mode cannot be read and is left out: %s", error)
            return None

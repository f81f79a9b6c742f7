"""The plan of auto mode, as a model answers with it: whether a task is split, and into what.

What a model gets wrong and that can mean only one thing is repaired; of what is left (two tasks
with one id, a dependency on nothing, a circle) the model is told, and asked again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from jarvis_ls.agents.errors import ConstraintBroken
from jarvis_ls.agents.node import Assignment
from jarvis_ls.runtime.agent.typed_answer import AnswerUnfit, ModelForm

MOST = 32
"""Tasks of one plan."""
LONGEST = 20_000
"""Characters of a task, and of what all of them should know."""
WHOLE = "task"
"""Id of a task that is not split."""
PROBLEMS = 8
"""Of one plan that the model is told at once."""


class Subtask(BaseModel):
    """One part of the work, for an agent of its own."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1, max_length=60, description="short and unique, such as read-api")
    title: str = Field(default="", max_length=200, description="a few words")
    task: str = Field(
        min_length=1, max_length=LONGEST, description="all that its agent must know and report"
    )
    dependencies: tuple[str, ...] = Field(
        default=(), description="ids of the subtasks whose results it needs"
    )
    agent_type: Literal["child", "act"] = Field(
        default="child",
        description="child thinks for itself; act only carries out, on a cheaper model",
    )
    agent: str = Field(default="", description="name of a described agent that fits; or empty")
    code: bool = Field(default=False, description="whether it changes code")


class ExecutionPlan(BaseModel):
    """How a task is carried out."""

    model_config = ConfigDict(frozen=True)

    should_split: bool
    background: str = Field(
        default="", max_length=LONGEST, description="what the agents of all subtasks should know"
    )
    subtasks: tuple[Subtask, ...] = ()

    @property
    def is_split(self) -> bool:
        """Return whether there are several subtasks."""
        return self.should_split and len(self.subtasks) > 1


class PlanForm(ModelForm):
    """A plan that can be carried out."""

    def __init__(self, agents: Collection[str]) -> None:
        """`agents` are the names of the described agents."""
        super().__init__(ExecutionPlan)
        self._agents = agents

    def check(self, value: Any) -> ExecutionPlan:
        """See `AnswerForm`."""
        plan = super().check(repair_plan(value))
        assert isinstance(plan, ExecutionPlan)
        if problems := list(_problems(plan, self._agents)):
            raise AnswerUnfit("; ".join(problems[:PROBLEMS]))
        return plan


def tasks_of(plan: ExecutionPlan, task: str) -> Sequence[Subtask]:
    """Return what agents are given: the subtasks, or all of the task to one agent."""
    if plan.is_split:
        return plan.subtasks
    return (Subtask.model_construct(id=WHOLE, task=task),)


def repair_plan(value: Any) -> Any:
    """Return the JSON value of a plan with what can mean only one thing put right."""
    if isinstance(value, list):
        value = {"subtasks": value}
    if not isinstance(value, Mapping):
        return value
    plan = dict(value)
    for wrapper in ("plan", "execution_plan"):
        if "subtasks" not in plan and isinstance(plan.get(wrapper), Mapping):
            plan = dict(plan[wrapper])
    if "subtasks" not in plan and isinstance(plan.get("tasks"), list):
        plan["subtasks"] = plan.pop("tasks")
    if plan.get("subtasks") is None:
        plan["subtasks"] = []
    if plan.get("background") is None:
        plan.pop("background", None)
    if not isinstance(plan["subtasks"], list):
        return plan
    subtasks = [_repair_subtask(item, at) for at, item in enumerate(plan["subtasks"], 1)]
    plan["subtasks"] = _repair_names(subtasks)
    if not isinstance(plan.get("should_split"), bool):
        plan["should_split"] = len(subtasks) > 1
    return plan


def _repair_subtask(item: Any, number: int) -> Any:
    if isinstance(item, str):
        item = {"task": item}
    if not isinstance(item, Mapping):
        return item
    found = {key: value for key, value in item.items() if value is not None}
    id, title = found.get("id"), found.get("title")
    found["id"] = str(id).strip() if isinstance(id, (str, int)) else ""
    found["id"] = found["id"] or str(number)
    found["title"] = title.strip()[:200] if isinstance(title, str) else ""
    task = found.get("task")
    if not isinstance(task, str) or not task.strip():
        words = (found.get("description"), found["title"])
        found["task"] = next((w for w in words if isinstance(w, str) and w.strip()), "")
    kind = found.get("agent_type")
    found["agent_type"] = "act" if isinstance(kind, str) and kind.strip() == "act" else "child"
    needs = found.get("dependencies", found.pop("depends_on", []))
    needs = needs if isinstance(needs, list) else [needs]
    found["dependencies"] = [str(need).strip() if isinstance(need, int) else need for need in needs]
    return found


def _repair_names(subtasks: Sequence[Any]) -> list[Any]:
    """Let dependencies that name a title name its id; drop those on itself, and doubles."""
    known = [item for item in subtasks if isinstance(item, dict)]
    ids = {item["id"] for item in known}
    titles = {item["title"]: item["id"] for item in known if item["title"]}
    for item in known:
        if not all(isinstance(need, str) for need in item["dependencies"]):
            continue  # the form says so
        named = (need.strip() for need in item["dependencies"])
        needs = dict.fromkeys(n if n in ids else titles.get(n, n) for n in named if n)
        item["dependencies"] = [need for need in needs if need != item["id"]]
    return list(subtasks)


def _problems(plan: ExecutionPlan, agents: Collection[str]) -> Iterator[str]:
    """Yield why a plan cannot be carried out, for the model."""
    if not plan.is_split:
        return
    if len(plan.subtasks) > MOST:
        yield f"there are {len(plan.subtasks)} subtasks, at most {MOST} are allowed"
    ids = [subtask.id for subtask in plan.subtasks]
    for id in dict.fromkeys(id for id in ids if ids.count(id) > 1):
        yield f"several subtasks have the id {id!r}"
    for subtask in plan.subtasks:
        if not _is_readable(subtask):
            yield f"the subtask {subtask.id!r} does not say what to do"
        if unknown := [need for need in subtask.dependencies if need not in ids]:
            yield f"the subtask {subtask.id!r} depends on {unknown[0]!r}, which is no subtask"
        if subtask.agent and subtask.agent not in agents:
            known = ", ".join(agents) or "none"
            yield f"there is no agent {subtask.agent!r}; described agents: {known}"
    try:
        TopologicalSorter({s.id: s.dependencies for s in plan.subtasks}).prepare()
    except CycleError as error:
        yield f"the dependencies go round in a circle: {' → '.join(error.args[1])}"


def _is_readable(subtask: Subtask) -> bool:
    try:
        return bool(Assignment(subtask.task, subtask.title).shown and subtask.task.strip())
    except ConstraintBroken:
        return False

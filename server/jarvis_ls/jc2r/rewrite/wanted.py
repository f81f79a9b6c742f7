"""What a run of `jc2r rewrite` is asked for, whom it asks, and what it tells of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from jarvis_ls.agents.task_answer import AgentAnswer
from jarvis_ls.jc2r.rewrite.subject import Subject
from jarvis_ls.jc2r.rewrite.verdict import Gate
from jarvis_ls.runtime.agent.typed_answer import AnswerForm
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.messages import Usage

ATTEMPTS = 3
"""Answers for one function that are judged."""


class Writer(Protocol):
    """A model that writes Rust; `assembly` makes it of the user's models."""

    async def write(self, task: str, title: str, form: AnswerForm, budget: Budget) -> AgentAnswer:
        """Return what a fresh agent answers; when this is cancelled the agent ends."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be rewritten, and how much may be spent on it."""

    names: tuple[str, ...] = ()
    """Functions, each `NAME` or `FILE:NAME`; empty: all."""
    attempts: int = ATTEMPTS
    budget: Budget = field(default_factory=Budget)
    """For each function."""
    again: bool = False
    """Whether functions whose baseline stayed are tried again."""
    build_project: bool = False
    tests: bool = True
    """Whether a model writes tests of a function before it is rewritten."""
    review: bool = True
    """Whether a second agent reads what has passed the gates."""


@dataclass(frozen=True, slots=True)
class Step:
    """What is being done, for who watches."""

    done: int
    total: int
    name: str
    attempt: int = 0
    gate: Gate | None = None
    """The gate that is tried; None while the model writes."""


Tell = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Place:
    """One function among those that are rewritten."""

    number: int
    total: int
    subject: Subject

    def step(self, attempt: int = 0, gate: Gate | None = None) -> Step:
        """Return what is told while it is worked on."""
        return Step(self.number, self.total, self.subject.name, attempt, gate)


def rest_of(budget: Budget, spent: Usage) -> Budget:
    """Return what is left of a budget."""
    used = spent.input + spent.output
    return Budget(
        None if budget.tokens is None else max(0, budget.tokens - used),
        None if budget.cost is None else max(0.0, budget.cost - spent.cost),
    )

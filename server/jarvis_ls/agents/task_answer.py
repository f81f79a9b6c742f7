"""What became of a task that an agent of a tree was given, with an answer in a form."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from jarvis_ls.runtime.base.messages import Usage


class AnswerState(Enum):
    """How the work of an agent ended."""

    ANSWERED = "answered"
    """Its answer meets the form."""
    UNFIT = "unfit"
    """It has answered, but not in the form, however often it was asked."""
    FAILED = "failed"
    """The model could not be asked."""
    STOPPED = "stopped"
    """The budget is used up and the user wants no more spent."""


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """What became of a task."""

    state: AnswerState
    value: Any = None
    """What the form gives."""
    error: str = ""
    """Why there is no value, in words."""
    node: str = ""
    """Id of the agent in the session's tree."""
    spent: Usage = field(default_factory=Usage)
    """What its models have read and written."""

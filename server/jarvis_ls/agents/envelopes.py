"""What parents and children tell each other: reports and answers up, commands and queries down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

QueryKind = Literal["status", "progress", "result", "capabilities"]


@dataclass(frozen=True, slots=True)
class Report:
    """Up: how far a task is."""

    progress: float | None
    """0.0 to 1.0; None when it is not known."""
    message: str
    kind: Literal["report"] = "report"


@dataclass(frozen=True, slots=True)
class Completed:
    """Up: the task is done."""

    result: str
    kind: Literal["completed"] = "completed"


@dataclass(frozen=True, slots=True)
class Error:
    """Up: the task has failed or was cancelled."""

    error: str
    details: str | None = None
    """What there is of a result."""
    kind: Literal["error"] = "error"


@dataclass(frozen=True, slots=True)
class Pause:
    """Stop working until `Resume`."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """End at once."""


@dataclass(frozen=True, slots=True)
class UpdateParameters:
    """Work by other parameters from now on."""

    params: dict[str, Any]
    """`instructions` (text for the agent), `tokens` and `cost` (its budget)."""


@dataclass(frozen=True, slots=True)
class RequestReport:
    """Send a `Report` now."""


Order = Pause | Resume | Cancel | UpdateParameters | RequestReport


@dataclass(frozen=True, slots=True)
class Command:
    """Down: what the child must do."""

    command: Order
    kind: Literal["command"] = "command"


@dataclass(frozen=True, slots=True)
class Query:
    """Down: what the parent wants to know."""

    query: QueryKind
    correlation_id: str
    kind: Literal["query"] = "query"


@dataclass(frozen=True, slots=True)
class QueryResponse:
    """Up: the answer to a query."""

    query: QueryKind
    result: Any
    """JSON values."""
    correlation_id: str
    kind: Literal["query_response"] = "query_response"


Body = Report | Completed | Error | Command | Query | QueryResponse
UP, DOWN = (Report, Completed, Error, QueryResponse), (Command, Query)
"""Which of them go to a parent, and which to a child."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message on its way."""

    id: str
    session: str
    sender: str
    """Id of a node."""
    receiver: str
    """Id of its parent or child."""
    body: Body
    correlation: str | None = None
    """Id that a query and its answer share."""
    causation: str | None = None
    """Id of the message that led to this one: the last its sender had received."""
    time: float = 0.0
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message no one handled."""

    envelope: Envelope
    reason: str
    """In words."""

"""What the gates say of a patch, as records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from jarvis_ls.core.words import Words
from jarvis_ls.jsec.repair.patch import Patch


class Gate(Enum):
    """The gates, in the order in which a patch comes to them."""

    SCOPE = "scope"
    """It changes code of the project, and nothing that judges it."""
    SIZE = "size"
    """It is small."""
    SYMBOLS = "symbols"
    """No function, type, macro or variable is lost or emptied."""
    BUILDS = "builds"
    """What was built before is built with it."""
    TESTS = "tests"
    """The project's own tests pass."""
    CASE = "case"
    """The run that showed the flaw, and those near it that did, show nothing."""
    RUNS = "runs"
    """Nor do runs that were made from them at random."""
    SAME = "same"
    """Inputs that were treated rightly before give the same results."""
    CLEAN = "clean"
    """The scan has the finding no more, and no new one in the changed files."""


TITLES: dict[Gate, str] = {
    Gate.SCOPE: Words("changes code of the project only"),
    Gate.SIZE: Words("is small"),
    Gate.SYMBOLS: Words("loses no function or name"),
    Gate.BUILDS: Words("builds"),
    Gate.TESTS: Words("passes the project's tests"),
    Gate.CASE: Words("stops the case and its variants"),
    Gate.RUNS: Words("survives random runs"),
    Gate.SAME: Words("keeps good results"),
    Gate.CLEAN: Words("leaves nothing to jsec"),
}
"""What a patch does that passes a gate, as people read it."""


class State(Enum):
    """What came of a gate."""

    PASSED = "passed"
    FAILED = "failed"
    NONE = "none"
    """There is nothing to judge by, such as no tests; the message says what."""
    SKIPPED = "skipped"
    """A gate before it failed."""


STATES: dict[State, str] = {
    State.PASSED: Words("passed"),
    State.FAILED: Words("failed"),
    State.NONE: Words("none"),
    State.SKIPPED: Words("not reached"),
}
"""The same as people read them."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """What one gate says."""

    gate: Gate
    state: State
    message: str
    """Why, in `Words`."""
    details: str = ""
    """What a compiler, a test or a sanitizer has written; may be empty."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "gate": self.gate.value,
            "state": self.state.value,
            "message": str(self.message),
            "details": self.details,
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """What all gates say of a patch."""

    patch: Patch
    results: tuple[GateResult, ...]
    seconds: float = 0.0
    """CPU seconds that it took."""

    @property
    def passed(self) -> bool:
        """Return whether no gate failed and all were reached."""
        return all(item.state in (State.PASSED, State.NONE) for item in self.results)

    @property
    def failed(self) -> tuple[GateResult, ...]:
        """Return the gates that failed."""
        return tuple(item for item in self.results if item.state is State.FAILED)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "passed": self.passed,
            "files": [change.path for change in self.patch.changes],
            "lines": self.patch.size,
            "diff": self.patch.diff(),
            "gates": [item.to_json() for item in self.results],
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user sets."""

    seconds: float = 10.0
    """CPU seconds of random runs."""
    lines: int = 60
    """Lines that may go and come."""
    removal: bool = False
    """Whether functions and names may be lost."""
    proving: float = 10.0
    """CPU seconds for a case when there is none."""
    building: float = 300.0
    """CPU seconds for the project's own build and tests."""
    attempts: int = 3
    """How often an agent may try."""


def passed(gate: Gate, template: str, **values: object) -> GateResult:
    """Return that a patch has passed a gate."""
    return GateResult(gate, State.PASSED, Words(template, **values))


def failed(gate: Gate, template: str, details: str = "", **values: object) -> GateResult:
    """Return that a patch has failed at a gate."""
    return GateResult(gate, State.FAILED, Words(template, **values), details[-3000:])


def without(gate: Gate, template: str, details: str = "", **values: object) -> GateResult:
    """Return that there is nothing to judge a patch by."""
    return GateResult(gate, State.NONE, Words(template, **values), details[-3000:])

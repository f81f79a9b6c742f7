"""Where the staged path of a project is: `.jarvis/c2rust/evolve/state.json`, one atomic file.

A stage is in the file once it has ended, with what was measured after it. A round is all stages
over one state of the C sources; another state of them begins the next round, and the measurements
of earlier rounds stay.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.words import from_json, to_json

FOLDER = "evolve"
"""Below `.jarvis/c2rust`."""
FILE = "state.json"
_LIMIT = 64_000_000


class Stage(Enum):
    """The stages in their order."""

    ASSESS = "assess"
    """Scan the C for flaws: the score that others are compared with."""
    HARDEN = "harden"
    """Repair findings in the C."""
    REPLACE = "replace"
    """Translate, and count the functions of the C library that Rust's own have replaced."""
    TRANSPILE = "transpile"
    """Compare the crate with the C; rewrite functions in safe Rust."""
    OPTIMIZE = "optimize"
    """Make less of the crate unsafe, and apply what clippy is sure of."""


class Standing(Enum):
    """How a stage ended."""

    DONE = "done"
    SKIPPED = "skipped"
    """The user has left it out."""
    STOPPED = "stopped"
    """Its gate was not passed."""


class Lack(Enum):
    """What a stage that is done would need to do more."""

    MODEL = "model"
    APPLY = "apply"
    """The user's leave to write repairs into the C."""


class Fate(Enum):
    """What became of the repair of a finding."""

    WRITTEN = "written"
    PROPOSED = "proposed"
    """It passed the gates; the user did not let it be written."""
    FAILED = "failed"
    NEEDS_MODEL = "needs-model"


@dataclass(frozen=True, slots=True)
class Ended:
    """One stage of one round."""

    round: int
    stage: str
    """A value of `Stage`."""
    standing: str
    """A value of `Standing`."""
    why: str
    """What it came to, in words."""
    at: float
    """When it ended, in seconds since 1970."""
    seconds: float
    """How long its last run took."""
    lacks: list[str]
    """Values of `Lack`: it is done again once one of them is there."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured after a stage; None is not known."""

    round: int
    stage: str
    at: float
    score: float
    """Sum of the scores of all findings in C and Rust files of the project."""
    findings: int
    high: int
    """Findings of high severity."""
    families: dict[str, int]
    """Findings by family."""
    functions: int | None = None
    in_rust: int | None = None
    rewritten: int | None = None
    """Functions that a model has written and the gates have let pass."""
    equal: int | None = None
    """Functions that gave in Rust what they give in C."""
    mutants: int | None = None
    killed: int | None = None
    lines: int | None = None
    """Lines of Rust functions."""
    unsafe_lines: int | None = None
    unsafe_functions: int | None = None
    raw_pointers: int | None = None
    library: int | None = None
    """Functions of the C library that the C calls."""
    library_left: int | None = None
    """Those of them that the Rust calls."""
    c_seconds: float | None = None
    """Run time of the recorded cases in C."""
    rust_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class RepairRecord:
    """What became of the repair of one finding."""

    fingerprint: str
    title: str
    """Rule, file and line, for people."""
    fate: str
    """A value of `Fate`."""
    why: str = ""
    by: str = ""
    """`rule` or `agent`."""


@dataclass
class State:
    """All that is known of the staged path of a project."""

    round: int = 0
    sources: str = ""
    """Digest of the C sources once they are no longer changed in this round."""
    ended: list[Ended] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    repairs: list[RepairRecord] = field(default_factory=list)
    """Of this round."""
    steps: list[str] = field(default_factory=list)
    """Parts that are done of the stage that has not ended."""
    kept: str = ""
    """The translation of which `optimize` has kept the sources that it found."""
    anew: bool = False
    """Whether the next translation discards the crate."""
    pending: str = ""
    """Fingerprint of the repair that is being written into the C."""
    back: str = ""
    """A stage that is being gone back to."""

    def find(self, stage: Stage) -> Ended | None:
        """Return how a stage of this round ended; None when it did not."""
        for record in self.ended:
            if (record.round, record.stage) == (self.round, stage.value):
                return record
        return None

    def is_over(self, stage: Stage, there: Collection[Lack]) -> bool:
        """Return whether a stage of this round has nothing left to do with what is there."""
        record = self.find(stage)
        if record is None or record.standing != Standing.DONE.value:
            return False
        return not any(lack.value in record.lacks for lack in there)

    def end(
        self, stage: Stage, standing: Standing, why: str, seconds: float, lacks: Iterable[Lack]
    ) -> None:
        """Keep how a stage ended."""
        self.drop(stage)
        value = round(seconds, 3)
        missing = [lack.value for lack in lacks]
        at = time.time()
        self.ended.append(Ended(self.round, stage.value, standing.value, why, at, value, missing))
        self.steps = []

    def drop(self, *stages: Stage) -> None:
        """Forget stages of this round and what was measured after them."""
        gone = {(self.round, stage.value) for stage in stages}
        self.ended = [e for e in self.ended if (e.round, e.stage) not in gone]
        self.measured = [m for m in self.measured if (m.round, m.stage) not in gone]

    def first_score(self) -> Measured | None:
        """Return what was measured first in this round."""
        of_round = (row for row in self.measured if row.round == self.round)
        return next(of_round, None)


def read_state(folder: Path) -> State:
    """Return what is kept in `folder`; a new state when there is nothing, or it is damaged."""
    try:
        values = from_json(json.loads(read_regular(folder / FILE, limit=_LIMIT)))
        return _state_of(values)
    except (SkippedFile, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return State()


def write_state(folder: Path, state: State) -> None:
    """Keep a state in one step. Raises `JarvisError`."""
    text = json.dumps(to_json(asdict(state)), ensure_ascii=False, indent=1) + "\n"
    replace_file(folder / FILE, text.encode("utf-8", "surrogatepass"))


def _state_of(values: dict[str, Any]) -> State:
    state = State(
        round=int(values["round"]),
        sources=str(values["sources"]),
        ended=[Ended(**record) for record in values["ended"]],
        measured=[Measured(**record) for record in values["measured"]],
        repairs=[RepairRecord(**record) for record in values["repairs"]],
        steps=[str(step) for step in values["steps"]],
        kept=str(values["kept"]),
        anew=values["anew"] is True,
        pending=str(values["pending"]),
        back=str(values["back"]),
    )
    for name in (*(e.stage for e in state.ended), *(m.stage for m in state.measured)):
        Stage(name)  # one of another version is damaged
    for repair in state.repairs:
        Fate(repair.fate)
    for row in state.measured:
        _check_numbers(row)
    return state


def _check_numbers(row: Measured) -> None:
    values = asdict(row)
    families = values.pop("families")
    values.pop("stage")
    if not all(isinstance(value, int | float | None) for value in values.values()):
        raise ValueError("not a number: a measurement")
    if not all(isinstance(value, int) for value in families.values()):
        raise ValueError("not a number: a count of findings")


def stages_from(stage: Stage) -> Sequence[Stage]:
    """Return a stage and those after it."""
    stages = list(Stage)
    return stages[stages.index(stage) :]

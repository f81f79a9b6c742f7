"""What a run leaves in `.jarvis/c2rust`: stages done, and what each function is written in.

Light to import, so that anyone who only looks loads no translator.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.words import from_json

STAGES = ("scan", "baseline", "build")
VERIFY = "verify"
"""The stage that compares the crate with the C, when somebody asks for it."""
LIFT = "lift"
"""The stage that makes better Rust of the crate, when somebody asks for it; a folder, too."""
LIFTED = "lift.json"
"""What lifting came to."""
LIFT_REPORT = "lift.md"
"""The same for people."""
COUNTED = ("unsafe_functions", "unsafe_lines", "raw_pointers")
"""What lifting makes less of, as `LIFTED` names it."""
NOT_CHOSEN = "not chosen for translation yet"
"""Why a function is in C that no one has asked for."""
UNFINISHED = "request.json"
"""What a run was asked for, while it has not come to its end."""


@dataclass
class State:
    """What is done, and for which sources."""

    sources: str = ""
    """Digest of the sources, their arguments and of this program."""
    crate: str = ""
    done: dict[str, float] = field(default_factory=dict)
    """When each stage was done, in seconds since 1970."""
    chosen: list[str] = field(default_factory=list)
    """What is to be in Rust, each `FILE` or `FILE:FUNCTION`; empty means everything."""

    @property
    def translation(self) -> str:
        """Return what tells one translation from another."""
        return f"{self.done.get('baseline', 0.0)} {self.crate}"


@dataclass(frozen=True, slots=True)
class FunctionState:
    """One function and what it is written in."""

    file: str
    name: str
    state: str
    """`baseline` or `c`."""
    reason: str = ""
    """Why it is still C."""
    line: int = 0
    at: int = 0
    """Line of what is not translated; 0 when that is no line of the function."""
    variable: bool = False
    """Whether it is a variable; those are listed only when they stay in C."""


@dataclass(frozen=True, slots=True)
class SkippedUnit:
    """A unit that was not translated at all."""

    file: str
    reason: str


def read_state(folder: Path) -> State:
    """Return how far the last run in `.jarvis/c2rust` came; nothing when there was none."""
    try:
        state = State(**json.loads(read_regular(folder / "run_state.json", limit=16_000_000)))
    except (SkippedFile, ValueError, TypeError, RecursionError):
        return State()  # none, or damaged: all stages are done again
    sound = (
        isinstance(state.crate, str)
        and isinstance(state.done, dict)
        and all(isinstance(when, int | float) for when in state.done.values())
        and isinstance(state.chosen, list)
        and all(isinstance(name, str) for name in state.chosen)
    )
    return state if sound else State()


def record_stage(folder: Path, state: State, stage: str, *, done: bool = True) -> None:
    """Keep that a stage is done now, or no more. Raises `JarvisError`."""
    if done:
        state.done[stage] = time.time()
    else:
        state.done.pop(stage, None)
    text = json.dumps(asdict(state), indent=1) + "\n"
    replace_file(folder / "run_state.json", text.encode())


def unfinished_error(folder: Path) -> JarvisError:
    """Return what is wrong when no run has ended in `folder`, the `.jarvis/c2rust` of a project."""
    root = folder.parent.parent
    return JarvisError(
        "There is no complete translation of {root}; run `jc2r run --baseline` first.", root=root
    )


class Progress(NamedTuple):
    """What the last run left."""

    functions: tuple[FunctionState, ...]
    """State of every function."""
    skipped: tuple[SkippedUnit, ...]
    notes: tuple[str, ...]
    """What a user should know of the crate, in words."""
    parts: frozenset[str]
    """C files that are in the modules of those that include them."""

    @property
    def in_rust(self) -> set[tuple[str, str]]:
        """Return file and name of the functions that are in Rust."""
        return {
            (function.file, function.name) for function in self.functions if function.state != "c"
        }


def read_progress(folder: Path) -> Progress:
    """Return what the last run in `.jarvis/c2rust` left. Raises `JarvisError`."""
    try:
        data = from_json(json.loads(read_regular(folder / "progress.json", limit=256_000_000)))
        return Progress(
            tuple(FunctionState(**function) for function in data["functions"]),
            tuple(SkippedUnit(**record) for record in data["skipped"]),
            tuple(map(str, data.get("notes", ()))),
            frozenset(map(str, data.get("parts", ()))),
        )
    except (SkippedFile, ValueError, KeyError, TypeError, RecursionError):
        raise unfinished_error(folder) from None

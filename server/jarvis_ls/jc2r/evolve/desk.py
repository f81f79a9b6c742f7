"""What the stages of one run share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from jarvis_ls.jc2r.equivalence.stage import MUTANTS
from jarvis_ls.jc2r.equivalence.verify import Settings
from jarvis_ls.jc2r.evolve.gates import Limits
from jarvis_ls.jc2r.evolve.ports import Assessment, Ports
from jarvis_ls.jc2r.evolve.state import Lack, Stage, Standing, State, write_state
from jarvis_ls.jc2r.rewrite.wanted import Wanted
from jarvis_ls.runtime.sandbox.ladder import Ladder

Tell = Callable[[Stage, str], None]
"""Is told the stage, and what is being done in words."""


class Verdict(NamedTuple):
    """How a stage ends."""

    standing: Standing
    why: str
    """What it came to, in words."""
    lacks: tuple[Lack, ...] = ()
    """What it would need to do more."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the user wants."""

    skip: frozenset[Stage] = frozenset()
    until: Stage | None = None
    """The last stage that is run."""
    limits: Limits = field(default_factory=Limits)
    apply: bool = False
    """Whether repairs that pass the gates are written into the C."""
    repairs: int = 20
    """Findings that one run tries to repair."""
    crate: Path | None = None
    """Where the crate goes; None: beside the project."""
    build_project: bool = False
    rewriting: Wanted = field(default_factory=Wanted)
    settings: Settings = field(default_factory=Settings)
    mutants: int = MUTANTS
    trusted: bool = False
    """Whether a crate may be used that was made elsewhere."""
    say: Callable[[str], str] = str
    """Puts `Words` into the language of the reports that the stages write."""


@dataclass(slots=True)
class Desk:
    """One run over one project."""

    root: Path
    folder: Path
    """`.jarvis/c2rust` of the project."""
    work: Path
    """The folder of the staged path, below it."""
    state: State
    ports: Ports
    plan: Plan
    sandbox: Ladder
    tell: Tell
    notes: list[str] = field(default_factory=list)
    """What the user should know, in words."""
    _assessed: Assessment | None = None

    @property
    def assessed(self) -> Assessment:
        """Return what the last scan of the C has found. Raises `JarvisError`."""
        return self.scan() if self._assessed is None else self._assessed

    def scan(self) -> Assessment:
        """Scan the C as it is now. Raises `JarvisError`."""
        self._assessed = self.ports.security.scan()
        return self._assessed

    @property
    def there(self) -> set[Lack]:
        """Return what this run has of what stages may lack."""
        found = {Lack.APPLY} if self.plan.apply else set()
        return found if self.ports.missing_model else found | {Lack.MODEL}

    def save(self) -> None:
        """Keep the state. Raises `JarvisError`."""
        write_state(self.work, self.state)

    def do_once(self, step: str, work: Callable[[], None]) -> None:
        """Do a part of the stage unless an earlier run of it has."""
        if step not in self.state.steps:
            work()
            self.state.steps.append(step)
            self.save()

"""What the analysis proves to be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jarvis_ls.jsec.flow.ir.nodes import Span

RELEASED = "Freed here."
"""Step at which memory is freed."""

CLOSED = "Closed here."
"""Step at which a file or another handle is closed."""

TAKEN = "Lock acquired here."
"""Step at which a lock is acquired."""

CALLED: Final = "call"
"""Step of a call on the path: `name`, and the known `values` of its arguments."""
BRANCH: Final = "branch"
"""Step of a branch that could have gone either way: `value` is `true` or `false`."""
BRANCH_CASE: Final = "case"
"""Step of a `switch` that could have gone to several cases: `low` and `high` of the case,
an empty `low` for the default, neither where they are not known."""
LOOP_ENDS: Final = "loop-end"
"""Step of a branch out of a loop."""
TRUE: Final = (("value", "true"),)
FALSE: Final = (("value", "false"),)
"""How a branch came out, in its step."""


@dataclass(frozen=True, slots=True)
class Step:
    """One place on the way to a fault."""

    file: str
    """Path as the file was lowered with."""
    span: Span
    """Bytes in that file."""
    message: str
    """Template with `{name}` places."""
    args: tuple[tuple[str, str], ...] = ()
    """What the places hold."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A flaw that some way through the program reaches."""

    kind: str
    """What it is, in words with dashes, such as `buffer-write-stack`."""
    file: str
    """File of the place where it hurts."""
    function: str
    """Full name of the function around that place."""
    span: Span
    """Bytes of the place."""
    certain: bool
    """It happens on a way whose conditions are all known; else it may."""
    args: tuple[tuple[str, str], ...] = ()
    """Values for a message: sizes, names, sources."""
    steps: tuple[Step, ...] = ()
    """How it comes about, the first cause first, the place itself last."""
    tainted: bool = False
    """A value from outside takes part."""
    doubtful: bool = False
    """The way rests on something that callers, or code that is not seen, may well rule out."""
    released: Span | None = None
    """The statement of its own, in the function of the place, that freed first what is freed there
    by the same name; set only where the source says it plainly."""

    @property
    def is_flaw(self) -> bool:
        """Return whether something is wrong; else this is a way to what a rule examines by
        itself.
        """
        return not self.kind.endswith("-reached")

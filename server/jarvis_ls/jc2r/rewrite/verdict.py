"""What the gates say of a rewrite, as records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from jarvis_ls.core.words import Words


class Gate(Enum):
    """The gates, in the order in which a rewrite comes to them."""

    RULES = "rules"
    BUILDS = "builds"
    TESTS = "tests"
    RECORDED = "recorded"
    FRESH = "fresh"
    PROGRAMS = "programs"
    ADVERSARY = "adversary"
    UNSAFE = "unsafe"
    EXPORTS = "exports"
    CLIPPY = "clippy"
    REVIEW = "review"


TITLES: dict[Gate, str] = {
    Gate.RULES: Words("breaks no rule of rewriting"),
    Gate.BUILDS: Words("compiles"),
    Gate.TESTS: Words("passes the tests of the crate"),
    Gate.RECORDED: Words("gives the results of the C for known inputs"),
    Gate.FRESH: Words("gives the results of the C for new inputs"),
    Gate.PROGRAMS: Words("gives the recorded results of programs"),
    Gate.ADVERSARY: Words("withstands more inputs, and its mutants are found"),
    Gate.UNSAFE: Words("has no more unsafe code than before"),
    Gate.EXPORTS: Words("offers C the same symbols"),
    Gate.CLIPPY: Words("has no more warnings of clippy than before"),
    Gate.REVIEW: Words("withstands a second reader, whose objections are run"),
}
"""What a rewrite does that passes a gate, as people read it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The gate at which a rewrite failed."""

    gate: Gate
    details: str
    """What the checker, the compiler or the comparison said, for the model."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a rewrite."""

    failure: Failure | None = None
    """Where it failed; None when it passed all gates."""
    cases: int = 0
    """Inputs on which its callers and itself gave what the C gives."""
    mutants: int = 0
    """Mutants planted in it, without equivalent ones."""
    killed: int = 0
    """Mutants that a test saw."""

    def counts(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {"cases": self.cases, "mutants": self.mutants, "killed": self.killed}

"""The gates between the stages: what must be reached before the next one begins."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.evolve.state import Measured


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user sets."""

    drop: float = 15.0
    """Percent by which the score of the findings must fall in `harden`."""
    high: int = 0
    """Findings of high severity that may be left after it."""
    coverage: float = 0.0
    """Percent of the C library's functions that `replace` must have replaced to be called met."""
    retries: int = 30
    """Answers of the model that may have to be repeated before `transpile` pauses."""


def check_hardening(limits: Limits, before: Measured, score: float, high: int) -> Words | None:
    """Return what the findings that are left lack to be passed on; None when they pass."""
    if before.score <= 0 or (score <= 0 and high == 0):
        return None
    fallen = percent_fallen(before.score, score)
    if fallen < limits.drop:
        return Words(
            "the score fell by {fallen} %, not by {wanted} % ({before} -> {after})",
            fallen=f"{fallen:.1f}",
            wanted=f"{limits.drop:g}",
            before=f"{before.score:.2f}",
            after=f"{score:.2f}",
        )
    if high > limits.high:
        return Words(
            "{left} findings of high severity are left, {wanted} may be",
            left=high,
            wanted=limits.high,
        )
    return None


def percent_fallen(before: float, after: float) -> float:
    """Return by how many percent a score fell; it is negative when it grew."""
    return 100 * (before - after) / before if before > 0 else 0.0


def coverage(library: int, left: int) -> float:
    """Return the percentage of the C library's functions that the Rust does without."""
    return 100 * (library - left) / library if library else 100.0

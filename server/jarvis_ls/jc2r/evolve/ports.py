"""What the staged path needs of others: `assembly` makes it of jsec and the user's models."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from jarvis_ls.jc2r.rewrite.wanted import Writer


@dataclass(frozen=True, slots=True)
class Flaw:
    """A finding in the C that could be repaired."""

    fingerprint: str
    title: str
    """Rule, file and line, for people."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a scan of the C has found."""

    score: float
    """Sum of the scores of all findings."""
    findings: int
    high: int
    families: dict[str, int]
    """Findings by family."""
    flaws: tuple[Flaw, ...]
    """All of them, in the order in which they are to be repaired."""
    digest: str
    """Names the contents of the C files."""


@dataclass(frozen=True, slots=True)
class Change:
    """What one file becomes."""

    path: str
    """Relative to the project."""
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Repaired:
    """What came of repairing a finding."""

    changes: tuple[Change, ...] = ()
    """What passed all gates; empty when nothing did."""
    diff: str = ""
    by: str = ""
    """`rule` or `agent`."""
    why: str = ""
    """Why there is no repair, in words."""
    needs_model: bool = False
    """Whether only a model could go on."""


class Security(Protocol):
    """Finds and repairs flaws in C."""

    def scan(self) -> Assessment:
        """Scan the C as it is now. Raises `JarvisError`."""

    def repair(self, flaw: Flaw) -> Repaired:
        """Return a patch of a finding that has passed the gates. Raises `JarvisError` when nothing
        can be run on this machine."""


@dataclass(frozen=True, slots=True)
class Ports:
    """All of them."""

    security: Security
    missing_model: str
    """Why no model can be asked, in words; empty when one can."""
    open_writer: Callable[[], AbstractAsyncContextManager[Writer]]
    """Opens a session whose agents write Rust."""

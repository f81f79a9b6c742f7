"""The result of comparing the C of a project with its Rust."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.jc2r.equivalence.verify import Verified


@dataclass
class Outcome:
    """What a verification came to."""

    verified: Verified
    cases: list[dict[str, Any]] = field(default_factory=list)
    """Records of kind `case`."""
    explored: dict[str, Any] | None = None
    """The record of kind `explored`."""
    mutants: dict[str, Any] | None = None
    """The record of kind `mutants`."""
    report: Path = Path()
    """In words, for people."""

    @property
    def good(self) -> bool:
        """Return whether nothing differs."""
        functions = self.verified.count("differs") + self.verified.count("unstable")
        cases = sum(case["state"] == "differs" for case in self.cases)
        return not (functions or cases or (self.explored and self.explored["differences"]))

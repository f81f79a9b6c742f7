"""Invariants of findings that were checked, in `.jarvis/sec/invariants.jsonl`.

An invariant is an expression of C that is claimed to hold whenever the statement of a finding is
reached. Records are appended and signed as evidence is, and void when the code has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.files import STATE, keep_out_of_git, state_folder
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.store import Appender, line_of, read_records
from jarvis_ls.jsec.proof.evidence import Evidence, evidence_of
from jarvis_ls.jsec.proof.evidence_store import Hashes, Signer

INVARIANTS = "invariants.jsonl"


class Outcome(Enum):
    """What became of an invariant."""

    PROVEN = "proven"
    """It holds on all paths."""
    SURVIVED = "survived"
    """It held in all runs that came to the place; that is no proof."""
    BROKEN = "broken"
    """A run came to the place and it was false; the evidence has the input."""
    UNDECIDED = "undecided"
    """Neither; the message says why."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """One that was checked."""

    expression: str
    """Of C, over what is visible at the statement."""
    outcome: Outcome
    evidence: Evidence
    """Who says so, for people; assumptions, input, number of runs, hashes of the functions."""
    rules_out: bool = False
    """Whether the finding cannot be right where the invariant holds: shown symbolically."""

    @property
    def id(self) -> str:
        """Return what names it: thirteen characters that say what was checked and on what code."""
        parts = [self.evidence.fingerprint, self.expression, self.outcome.value]
        parts += [f"{place} {known}" for place, known in self.evidence.functions]
        return "i" + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

    def to_json(self) -> dict[str, Any]:
        """Return the record as it is kept."""
        return {
            "id": self.id,
            "fingerprint": self.evidence.fingerprint,
            "expression": self.expression,
            "outcome": self.outcome.value,
            "rules_out": self.rules_out,
            "evidence": self.evidence.to_json(),
        }


class InvariantStore:
    """Reads all records once; adds to them."""

    def __init__(self, root: Path) -> None:
        """`root` is the real path of the workspace. Nothing is written before `add`."""
        self._root = root
        self._signer = Signer()
        self._known: dict[str, Invariant] = {}
        for record in read_records(root / STATE / "sec" / INVARIANTS):
            if self._signer.is_ours(record) and (found := _invariant_of(record)) is not None:
                self._known[found.id] = found

    def add(self, invariant: Invariant) -> None:
        """Keep an invariant. Raises `JarvisError` when the disk refuses."""
        record = invariant.to_json()
        record["signature"] = self._signer.sign(record)
        folder = state_folder(self._root, "sec")
        keep_out_of_git(folder, INVARIANTS)
        self._known[invariant.id] = invariant
        with Appender(folder / INVARIANTS) as file:
            file.append(line_of(record))

    def find(self, name: str, source: Callable[[str], Source | None]) -> Invariant | None:
        """Return the invariant with that id, as long as the code is what it was. `source` gives the
        present text of a file."""
        known = self._known.get(name)
        if known is None or not Hashes(source, [known.evidence]).hold(known.evidence):
            return None
        return known

    def holds(self, name: str, finding: Finding, source: Callable[[str], Source | None]) -> bool:
        """Return whether the invariant with that id is one of this finding, is proven, and rules
        the finding out. That it survived runs is not enough."""
        known = self.find(name, source)
        return (
            known is not None
            and known.evidence.fingerprint == finding.fingerprint
            and known.outcome is Outcome.PROVEN
            and known.rules_out
        )


def _invariant_of(record: Any) -> Invariant | None:
    """Return the invariant of a record; None when it is damaged or of another version."""
    try:
        evidence = evidence_of(record["evidence"])
        if evidence is None:
            return None
        found = Invariant(
            str(record["expression"]),
            Outcome(record["outcome"]),
            replace(evidence, fingerprint=str(record["fingerprint"])),
            bool(record["rules_out"]),
        )
    except (KeyError, TypeError, ValueError):
        return None
    return found if found.id == record.get("id") else None

"""What the fronts ask of a project and what they are given.

The records are models of pydantic: their schemas, with what is said here of each field, are what
other programs read.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A record that does not change."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class Query(Record):
    """Which findings are wanted."""

    paths: tuple[str, ...] = ()
    """Files or folders relative to the project, with forward slashes; empty for all."""
    rule: str = ""
    """Id of a rule; empty for all."""
    min_confidence: float = 0.0
    """From 0 to 1."""
    verdict: str = ""
    """Of the evidence, such as `reproduced`; empty for all."""


class FindingRecord(Record):
    """One finding as tools outside of the editor see it."""

    id: str
    """`C` or `R` and six hex digits: names it until its line moves."""
    fingerprint: str
    """Names it also when lines move."""
    rule: str
    cwe: tuple[int, ...]
    file: str
    """Relative to the project, with forward slashes."""
    line: int
    column: int
    """In UTF-16 code units, from 1."""
    severity: str
    confidence: float
    message: str
    suggestion: str
    fixable: bool
    """Whether its rule offers a rewrite."""
    evidence: str = ""
    """What running the code has shown: a verdict, empty when it was not run."""


class Step(Record):
    """One step of the path that leads to a finding."""

    file: str
    line: int
    column: int
    message: str


class Details(Record):
    """All that is known of one finding."""

    finding: FindingRecord
    code: str
    """The line of the finding, without what looks like a secret."""
    path: tuple[Step, ...]
    """Its end is the place of the finding."""
    why: str
    """Why what its rule finds is bad."""
    proof: dict[str, Any] = {}
    """What running the code has shown; empty when it was not run."""


class Scanned(Record):
    """What a scan has looked at."""

    files: int
    findings: int
    high: int
    medium: int
    low: int
    seconds: float
    skipped: tuple[str, ...] = ()
    """What was not analysed or only in part, each with the reason."""
    warnings: tuple[str, ...] = ()


class Preview(Record):
    """What the rewrite of a rule would change. Nothing is written."""

    title: str
    keeps_behaviour: bool
    """Whether every input that was handled correctly before is handled the same after it."""
    diff: str
    """Unified diff."""


class RuleRecord(Record):
    """One rule."""

    id: str
    title: str
    languages: tuple[str, ...]
    cwe: tuple[int, ...]
    severity: str
    """The worst it can be."""
    fixable: bool


class Migration(Record):
    """How far a project has moved from C to Rust."""

    stages: dict[str, str]
    """`todo`, `done` or `failed`, by stage."""
    functions: int
    translated: int
    verified: int
    """Functions whose Rust was equal to the C in every run."""
    differ: int
    """Functions whose Rust behaved otherwise than the C in some run."""
    crate: str = ""
    """Where the Rust is; empty while there is none."""

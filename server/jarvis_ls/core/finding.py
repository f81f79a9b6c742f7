"""What jsec reports: one frozen record that crosses every border of the product.

Positions are 1-based lines and 1-based UTF-16 columns, the end exclusive, the way editors
and SARIF count by default.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Literal

from jarvis_ls.core.quick_pickle import quickly_pickled
from jarvis_ls.core.words import Words

Severity = Literal["high", "medium", "low"]

SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")
SEVERITY_WEIGHT: dict[Severity, float] = {"high": 3.0, "medium": 2.0, "low": 1.0}


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Span:
    """A range of text in one file."""

    line: int
    """1-based first line."""
    column: int
    """1-based first UTF-16 column."""
    end_line: int
    """1-based last line."""
    end_column: int
    """1-based UTF-16 column just after the end."""


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Message:
    """Text for the user that can be said in another language: a template and what goes in it."""

    template: str
    """English text with `{name}` places; also the key of its translations."""
    args: tuple[tuple[str, str], ...] = ()
    """What each place holds."""

    def __str__(self) -> str:
        return fill(self.template, self.args)


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains a finding."""

    file: str
    """Path relative to the scanned root, with forward slashes."""
    span: Span
    """Where."""
    message: Message
    """What is to be seen there."""


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement of text."""

    span: Span
    """What is replaced; empty for an insertion."""
    new_text: str
    """What is there afterwards."""


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Fix:
    """A rewrite that removes a finding."""

    title: Message
    """What the rewrite does, as the light bulb shows it."""
    edits: tuple[Edit, ...]
    """Replacements in the finding's file; they do not overlap."""
    safe: bool = True
    """True when behaviour stays the same for every input that was handled correctly before."""


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Proof:
    """What running the code has shown of a finding, as far as people are told."""

    verdict: str
    """`reproduced`, `depends_on_caller`, `refuted`, `survived` or `unproven`."""
    message: str
    """What was shown, in `Words`."""
    strength: str = ""
    """How a refutation is known: `proven`, `unsat` or `survived`."""
    rung: str = ""
    """How it was found out, such as `whole-program`."""
    case: str = ""
    """Name of the run that shows it, which can be replayed."""
    assumptions: tuple[str, ...] = ()
    """What it holds under, in `Words`."""

    def to_json(self) -> dict[str, Any]:
        """Return the record as it is in JSON reports."""
        return {
            "verdict": self.verdict,
            "message": str(self.message),
            "strength": self.strength,
            "rung": self.rung,
            "case": self.case,
            "assumptions": [str(assumption) for assumption in self.assumptions],
        }


AGENTS = "agents"
"""What `suppressed` begins with where agents have found that it is no flaw."""


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Conclusion:
    """What agents concluded of a finding, in their own words; a field is empty where they do not
    say it."""

    preconditions: str = ""
    """What must hold before the flaw can be triggered."""
    trigger_path: str = ""
    """From controllable input through all calls to the flaw, with what each call checks."""
    consequences: str = ""
    """What can happen then."""
    suggestions: str = ""
    """How to repair it."""
    notes: str = ""
    """What the verification or reviewers said."""

    def to_json(self) -> dict[str, str]:
        """Return the fields that every issue of `jsec agent` has."""
        return {
            "preconditions": self.preconditions,
            "trigger_path": self.trigger_path,
            "consequences": self.consequences,
            "suggestions": self.suggestions,
            "verification_notes": self.notes,
        }


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Finding:
    """One suspected flaw."""

    rule: str
    """Id of the rule, such as `double-free`."""
    language: str
    """`c/cpp` or `rust`."""
    category: str
    """Family of the seeds, such as `memory_mgmt`."""
    pattern: str
    """What was matched, such as the name of the called function."""
    cwe: tuple[int, ...]
    """Numbers of the Common Weakness Enumeration, the most exact first."""
    file: str
    """Path relative to the scanned root, with forward slashes."""
    span: Span
    """The exact expression."""
    evidence: str
    """The line of the finding, trimmed, at most 200 characters."""
    message: Message
    """What is wrong here."""
    suggestion: Message
    """What to do about it."""
    confidence: float
    """How sure we are that it is a flaw, in [0, 1]."""
    severity: Severity
    """How bad it is if it is one."""
    fingerprint: str
    """Stable name that survives moved lines: rule, file, text of the line, occurrence."""
    related: tuple[Related, ...] = ()
    """Other places that explain it."""
    trace: tuple[Related, ...] = ()
    """Source, steps and sink; empty where the place alone shows the flaw."""
    fix: Fix | None = None
    """A rewrite, where one is known."""
    gid: int = 0
    """Number within one scan, from 1; 0 while not numbered."""
    verdict: str = ""
    """What agents concluded: `reproduced`, `unproven`, `undecided` or `false_positive`; empty when
    none looked."""
    conclusion: Conclusion | None = None
    """Their reasons."""
    proof: Proof | None = None
    """What running the code has shown; None when it was not run."""
    suppressed: str = ""
    """Why it is hidden: `comment: …`, `baseline`, `agents: …`, or empty when it is not."""

    @property
    def score(self) -> float:
        """Confidence times the weight of the severity, rounded to 2 places."""
        return round(self.confidence * SEVERITY_WEIGHT[self.severity], 2)

    @property
    def steps(self) -> tuple[Related, ...]:
        """The way to the flaw, which always ends in its place."""
        return self.trace or (Related(self.file, self.span, self.message),)

    @property
    def id(self) -> str:
        """`C` or `R` and six hex digits of SHA-1 over file, line, category and pattern."""
        prefix = "R" if self.language == "rust" else "C"
        text = f"{self.file}:{self.span.line}:{self.category}:{self.pattern}"
        return prefix + hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:6]

    def is_named(self, name: str) -> bool:
        """Return whether a fingerprint, an id or a number means this finding."""
        is_number = self.gid > 0 and name == str(self.gid)
        return is_number or name in (self.fingerprint, self.id)

    def with_gid(self, gid: int) -> Finding:
        """Return the same finding with its number in this scan."""
        return replace(self, gid=gid)

    def to_json(self) -> dict[str, Any]:
        """Return the record as it is in `candidates.jsonl` and in every JSON report."""
        return {
            "gid": self.gid,
            "id": self.id,
            "rule": self.rule,
            "language": self.language,
            "category": self.category,
            "pattern": self.pattern,
            "cwe": list(self.cwe),
            "file": self.file,
            "line": self.span.line,
            "column": self.span.column,
            "end_line": self.span.end_line,
            "end_column": self.span.end_column,
            "evidence": self.evidence,
            "description": str(self.message),
            "suggestion": str(self.suggestion),
            "confidence": self.confidence,
            "severity": self.severity,
            "score": self.score,
            "fingerprint": self.fingerprint,
            "trace": [_related_to_json(step) for step in self.steps],
            "verdict": self.verdict,
            "suppressed": self.suppressed,
            **(self.conclusion.to_json() if self.conclusion else {}),
            **({"proof": self.proof.to_json()} if self.proof else {}),
        }


def words_of(message: Message) -> Words:
    """Return a message as `Words`. Its values that hold a blank, as no name of code does, are
    sentences, which may have a translation of their own."""
    values = {name: Words(value) if " " in value else value for name, value in message.args}
    return Words(message.template, **values)


def fill(template: str, args: tuple[tuple[str, str], ...]) -> str:
    """`template` with its `{name}` places filled; unknown places stay as they are."""
    for name, value in args:
        template = template.replace("{" + name + "}", value)
    return template


def fingerprint(rule: str, file: str, evidence: str, occurrence: int) -> str:
    """16 hex digits that name a finding as long as its line keeps its words. `occurrence` says how
    many of the file are before it that only their order tells apart: see `Alike`."""
    text_ = f"{rule}\0{file}\0{_words(evidence)}\0{occurrence}"
    return hashlib.sha256(text_.encode()).hexdigest()[:16]


class Alike:
    """Counts the findings of one file that only their order tells apart."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()

    def before(self, rule: str, evidence: str) -> int:
        """Return how many findings with this rule and evidence came before, and count it."""
        key = rule, _words(evidence)
        self._seen[key] += 1
        return self._seen[key] - 1


def _words(evidence: str) -> str:
    return " ".join(evidence.split())


def severity_from_confidence(confidence: float, base: Severity) -> Severity:
    """Return the seeds' mapping: at most `base`, `medium` below 0.8, `low` below 0.6."""
    allowed: Severity = "high" if confidence >= 0.8 else "medium" if confidence >= 0.6 else "low"
    return max(base, allowed, key=SEVERITIES.index)


def _related_to_json(step: Related) -> dict[str, Any]:
    return {
        "file": step.file,
        "line": step.span.line,
        "column": step.span.column,
        "end_line": step.span.end_line,
        "end_column": step.span.end_column,
        "message": str(step.message),
    }

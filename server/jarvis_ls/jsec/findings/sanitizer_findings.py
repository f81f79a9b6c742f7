"""What running the code has shown: undefined behaviour that sanitizers saw while `jc2r verify`
compared it with its Rust, kept in `.jarvis/c2rust/undefined.jsonl`.

A record names its line by number and text. It is reported as long as a line with this code,
whatever its comments say, is in the file: the nearest one, when the file has changed since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding, Message, Span, fingerprint
from jarvis_ls.core.store import read_records

RULE = "undefined-behaviour-seen"
PAGE = """The C did something undefined while it ran.

## What it does
Shows where a sanitizer stopped the C while `jc2r verify` called its functions with generated
inputs: overflow of signed integers, shifts that are too wide, accesses outside of arrays.

## Why is this bad?
What the compiler makes of such code is anybody's guess, and changes with its version and options;
the Rust, which defines it, may do something else. The inputs are generated: if no caller can pass
such values, a check or a comment at this line tells the next reader.
"""
FILE = Path(".jarvis/c2rust/undefined.jsonl")
MOST = 2_000
"""So many records are examined."""
_LONGEST = 120
"""Bytes of a line that are compared: fewer than a record keeps of it."""
_TEXT = ("file", "evidence", "pattern", "function")


@dataclass(frozen=True, slots=True)
class Observed:
    """Undefined behaviour at one line."""

    file: str
    """Path relative to the root, with forward slashes."""
    line: int
    """1-based line when it was seen."""
    evidence: str
    """That line, trimmed, at most 200 characters."""
    what: str
    """What the sanitizer says, with numbers left out."""
    function: str
    """What was called."""
    cwe: tuple[int, ...]
    """Weakness numbers, the most exact first."""
    confidence: float
    """How sure it is that a caller can bring it about, in [0, 1]."""


def read_observed(root: Path) -> tuple[Observed, ...]:
    """Return the sanitizer records of the project at `root`; incomplete ones are left out."""
    found = []
    for record in read_records(root / FILE):
        if isinstance(record, dict) and (item := _parse_record(record)) is not None:
            found.append(item)
        if len(found) == MOST:
            break
    return tuple(found)


def match_observed(
    source: Source, language: LanguageName, observed: Sequence[Observed]
) -> list[Finding]:
    """Return findings for the sanitizer records of this file, in the order of the records."""
    mine = [record for record in observed if record.file == source.path]
    if not mine or language == "rust":
        return []
    places: dict[bytes, list[Span]] = {}
    at = 0
    for text in blank(source.data, language, literals=False).split(b"\n"):
        if code := text.strip():
            start = at + text.find(code)
            span = source.span(start, start + len(code))
            places.setdefault(_words(code), []).append(span)
        at += len(text) + 1
    found: dict[str, Finding] = {}
    for record in mine:
        code = _words(blank(record.evidence.encode(), language, literals=False))
        if known := places.get(code):
            place = min(known, key=lambda span: (abs(span.line - record.line), span.line))
            finding = _finding(record, place, known.index(place))
            found.setdefault(finding.fingerprint, finding)
    return [*found.values()]


def _words(code: bytes) -> bytes:
    """Return a line with its white space normalised, for comparison."""
    return b" ".join(code.split())[:_LONGEST]


def _finding(observed: Observed, span: Span, same: int) -> Finding:
    """Make a finding of a record; `same` is the number of equal lines before it."""
    return Finding(
        rule=RULE,
        language="c/cpp",
        category="undefined_behaviour",
        pattern=observed.what,
        cwe=observed.cwe,
        file=observed.file,
        span=span,
        evidence=observed.evidence,
        message=Message(
            "{what} when {function} is called with generated arguments",
            (("what", observed.what), ("function", observed.function)),
        ),
        suggestion=Message(
            "Validate the arguments before this line, or document which values callers may pass."
        ),
        confidence=observed.confidence,
        severity="medium",
        fingerprint=fingerprint(RULE, observed.file, f"{observed.evidence}\0{observed.what}", same),
    )


def _parse_record(record: dict[str, Any]) -> Observed | None:
    texts = [record.get(name) for name in _TEXT]
    line, cwe, confidence = (record.get(name) for name in ("line", "cwe", "confidence"))
    if not all(isinstance(text, str) and text for text in texts) or not isinstance(line, int):
        return None
    if not isinstance(cwe, list) or not all(isinstance(number, int) for number in cwe):
        return None
    if not isinstance(confidence, float | int) or not 0 <= confidence <= 1:
        return None
    file, evidence, what, function = map(str, texts)
    return Observed(file, line, evidence, what, function, tuple(cwe), float(confidence))

"""What became of each function, kept as it comes: `.jarvis/c2rust/rewrite/journal.jsonl`.

A rewrite is in the journal before it is in the crate, and in `progress.json` after its commit. So
whenever a run is killed, the next one knows what is still to be put into the crate, and nobody is
asked twice. Records are of one translation of one crate; another one begins a new journal.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.store import Appender, line_of, read_records, replace_records
from jarvis_ls.core.words import from_json, to_json

FOLDER = "rewrite"
"""Below `.jarvis/c2rust`."""
FILE = "journal.jsonl"
PROGRESS = "progress.json"


class Outcome(Enum):
    """What became of a function."""

    REWRITTEN = "rewritten"
    KEPT = "kept"
    """The baseline stays."""
    SKIPPED = "skipped"
    """The baseline stays, because `Drop` of a type does what it does."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer that did not pass."""

    gate: str
    """Where it failed; empty when it could not be used at all."""
    details: str
    code: str
    """What the model wrote."""


@dataclass(frozen=True, slots=True)
class Record:
    """What became of one function."""

    file: str
    name: str
    outcome: str
    """A value of `Outcome`."""
    reason: str = ""
    """Why the baseline stays, for people."""
    module: str = ""
    before: str = ""
    """Its Rust before."""
    after: str = ""
    """What took its place; empty when nothing did."""
    attempts: int = 0
    """Answers that were judged."""
    tokens: int = 0
    cost: float = 0.0
    counts: dict[str, Any] = field(default_factory=dict)
    """Inputs and mutants, lines of unsafe before and after."""
    notes: str = ""
    """What the model says of it."""
    objections: list[str] = field(default_factory=list)
    """What a second reader objects to and no run has shown."""

    @property
    def is_rewritten(self) -> bool:
        """Return whether it is written anew."""
        return self.outcome == Outcome.REWRITTEN.value

    @property
    def is_skipped(self) -> bool:
        """Return whether the plan says that nothing is to be written for it."""
        return self.outcome == Outcome.SKIPPED.value


class Journal:
    """The records of one translation."""

    def __init__(self, folder: Path, made: str) -> None:
        """Read what is below `folder` for the translation `made`; what is of another goes away.
        Raises `JarvisError`."""
        self._path = folder / FILE
        self._made = made
        self.records: dict[tuple[str, str], Record] = {}
        """What became of functions, in the order it did."""
        self._attempts: dict[tuple[str, str], list[Attempt]] = {}
        self.tests: dict[tuple[str, str], str] = {}
        """Tests of functions that their translation has passed; empty where there are none."""
        kept = []
        for line in read_records(self._path):
            if isinstance(line, dict) and line.get("made") == made and self._read(line):
                kept.append(line)
        folder.mkdir(parents=True, exist_ok=True)
        replace_records(self._path, kept)
        self._file = Appender(self._path)

    def attempts(self, key: tuple[str, str]) -> Sequence[Attempt]:
        """Return the answers for a function that did not pass."""
        return tuple(self._attempts.get(key, ()))

    def add_attempt(self, key: tuple[str, str], attempt: Attempt) -> None:
        """Keep an answer that did not pass. Raises `JarvisError`."""
        self._append({"kind": "attempt", "file": key[0], "name": key[1], **asdict(attempt)})
        self._attempts.setdefault(key, []).append(attempt)

    def add_tests(self, key: tuple[str, str], code: str) -> None:
        """Keep the tests of a function, in the place of those that it has. Raises
        `JarvisError`."""
        self._append({"kind": "tests", "file": key[0], "name": key[1], "code": code})
        self.tests[key] = code

    def add(self, record: Record) -> None:
        """Keep what became of a function. Raises `JarvisError`."""
        self._append({"kind": "function", **asdict(record)})
        self.records[record.file, record.name] = record

    def forget(self, keys: Sequence[tuple[str, str]]) -> None:
        """Drop what is known of functions whose baseline stays. Raises `JarvisError`."""
        dropped = {key for key in keys if key in self.records or key in self._attempts}
        lines = [
            line
            for line in read_records(self._path)
            if line.get("kind") == "tests" or (line.get("file"), line.get("name")) not in dropped
        ]
        self._file.close()
        replace_records(self._path, lines)
        self._file = Appender(self._path)
        for key in dropped:
            self.records.pop(key, None)
            self._attempts.pop(key, None)

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    def _append(self, values: dict[str, Any]) -> None:
        self._file.append(line_of(to_json({"made": self._made, **values})))
        self._file.sync()

    def _read(self, line: dict[str, Any]) -> bool:
        values = {name: value for name, value in line.items() if name not in ("made", "kind")}
        try:
            if line.get("kind") == "function":
                record = Record(**from_json(values))
                self.records[str(record.file), str(record.name)] = record
            elif line.get("kind") == "tests":
                self.tests[str(values["file"]), str(values["name"])] = str(values["code"])
            else:
                key = (str(values.pop("file")), str(values.pop("name")))
                self._attempts.setdefault(key, []).append(Attempt(**values))
        except (TypeError, KeyError, AttributeError):
            return False
        return True


def read_rewritten(folder: Path, made: str) -> dict[tuple[str, str], Record]:
    """Return the functions that a model has written of the translation `made`, by file and name;
    `folder` is that of `Journal`. Damaged records are left out."""
    found: dict[tuple[str, str], Record] = {}
    for line in read_records(folder / FILE):
        if not isinstance(line, dict) or line.get("made") != made or line.get("kind") != "function":
            continue
        values = {name: value for name, value in line.items() if name not in ("made", "kind")}
        try:
            record = Record(**from_json(values))
        except TypeError:
            continue
        key = (str(record.file), str(record.name))
        found.pop(key, None)
        if record.is_rewritten and isinstance(record.counts, dict):
            found[key] = record
    return found


def read_converted(folder: Path) -> dict[str, str]:
    """Return the functions that are in the crate, each `FILE:NAME`, and their commits."""
    commits = _progress(folder).get("converted_commits")
    return dict(commits) if isinstance(commits, dict) else {}


def write_progress(
    folder: Path, current: dict[str, Any], converted: dict[str, str], records: Collection[Record]
) -> None:
    """Keep in `progress.json`, beside what the translation wrote, which function is worked on,
    which are done, each `FILE:NAME` with its commit, and the counts over all records. Raises
    `JarvisError`."""
    metrics = {
        "rewritten": sum(record.is_rewritten for record in records),
        "kept": sum(not record.is_rewritten for record in records),
        "tokens": sum(record.tokens for record in records),
        "cost": sum(record.cost for record in records),
    }
    values = {
        **_progress(folder),
        "current": current,
        "converted": list(converted),
        "converted_commits": converted,
        "metrics": metrics,
    }
    text = json.dumps(values, ensure_ascii=False, indent=1) + "\n"
    replace_file(folder / PROGRESS, text.encode())


def _progress(folder: Path) -> dict[str, Any]:
    try:
        values = json.loads(read_regular(folder / PROGRESS, limit=256_000_000))
    except (SkippedFile, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}

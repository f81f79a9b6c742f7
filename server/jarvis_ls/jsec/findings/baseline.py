"""Findings that are known and not told again, in `.jarvis/sec/baseline.json`.

The file is meant to be committed: sorted, one finding a line, below its file and rule.

    {"version": 1, "files": {"src/a.c": {"double-free": ["0f3a…"]}}}

A finding is known by its fingerprint, which holds the words of its line but not its number, so
entries survive moved lines. When a file of the baseline is gone, its entries also represent the
same lines of the same rule in another file: that is what a rename looks like.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import ConfigError, SkippedFile
from jarvis_ls.core.files import STATE, read_regular, replace_file, state_folder
from jarvis_ls.core.finding import Alike, Finding, fingerprint
from jarvis_ls.jsec.findings.scan_findings import is_hint

FILE = f"{STATE}/sec/baseline.json"
"""Where the baseline is kept, relative to the root of the workspace."""

BASELINE = "baseline"
"""What `Finding.suppressed` says of a known finding."""

_MAX_RENAMES = 50
"""Most vanished files that are tried for one finding."""

_VERSION = 1
_MAX_BYTES = 1 << 28

Entries = dict[str, dict[str, list[str]]]
"""Fingerprints by file and rule."""


class Baseline:
    """The known findings of one folder; read once, asked in constant time."""

    def __init__(self, entries: Entries, exists: Callable[[str], bool]) -> None:
        """`exists` says whether a file of the folder is there, by its relative path."""
        self._entries = entries
        self._exists = exists
        self._known: dict[str, tuple[str, str]] = {
            entry: (file, rule)
            for file, rules in entries.items()
            for rule, ones in rules.items()
            for entry in ones
        }
        self._gone: dict[str, list[str]] | None = None
        self._met: set[str] = set()
        self._moved: dict[str, tuple[str, str]] = {}
        """File and fingerprint of the findings that entries of renamed files represent."""

    def __len__(self) -> int:
        return len(self._known)

    def stale(self, unseen: Collection[str] = ()) -> int:
        """Return how many entries no finding matched, except those of files in `unseen`."""
        return len(self._known) - len(self._remaining_entries(unseen))

    def mark(self, path: str, findings: list[Finding]) -> list[Finding]:
        """All findings of one file, in order of position, with the known ones marked."""
        if not self._known:
            return findings
        alike = Alike()
        marked = []
        for finding in findings:
            occurrence = alike.before(finding.rule, finding.evidence)
            entry = self._entry(finding, path, occurrence)
            if entry:
                self._met.add(entry)
                if entry != finding.fingerprint:
                    self._moved[entry] = path, finding.fingerprint
                if not finding.suppressed:
                    finding = replace(finding, suppressed=BASELINE)
            marked.append(finding)
        return marked

    def with_findings(self, findings: Iterable[Finding]) -> Baseline:
        """Return this baseline with findings added."""
        entries: Entries = {
            file: {rule: list(ones) for rule, ones in rules.items()}
            for file, rules in self._entries.items()
        }
        for finding in findings:
            if not is_hint(finding) and finding.fingerprint not in self._known:
                entries.setdefault(finding.file, {}).setdefault(finding.rule, []).append(
                    finding.fingerprint
                )
        return Baseline(entries, self._exists)

    def without_stale(self, unseen: Collection[str] = ()) -> Baseline:
        """Return this baseline without the entries that no finding matched.

        Those of files in `unseen` stay, as these were not scanned. Entries of a renamed file move
        to its new name.
        """
        entries: Entries = {}
        for known, (file, rule) in self._remaining_entries(unseen).items():
            place, entry = self._moved.get(known, (file, known))
            entries.setdefault(place, {}).setdefault(rule, []).append(entry)
        return Baseline(entries, self._exists)

    def to_json(self) -> bytes:
        """Return the file's contents."""
        files = {
            file: {rule: sorted(set(ones)) for rule, ones in sorted(rules.items())}
            for file, rules in sorted(self._entries.items())
        }
        return (json.dumps({"version": _VERSION, "files": files}, indent=1) + "\n").encode()

    def _remaining_entries(self, unseen: Collection[str]) -> dict[str, tuple[str, str]]:
        return {
            known: place
            for known, place in self._known.items()
            if known in self._met or place[0] in unseen
        }

    def _entry(self, finding: Finding, path: str, occurrence: int) -> str:
        """Return the entry that represents `finding`; empty when there is none."""
        if finding.fingerprint in self._known:
            return finding.fingerprint
        for gone in self._gone_files(finding.rule):
            entry = fingerprint(finding.rule, gone, finding.evidence, occurrence)
            if entry in self._known and gone != path:
                return entry
        return ""

    def _gone_files(self, rule: str) -> list[str]:
        if self._gone is None:
            self._gone = defaultdict(list)
            for file, rules in self._entries.items():
                if not self._exists(file):
                    for name in rules:
                        self._gone[name].append(file)
        return self._gone.get(rule, [])[:_MAX_RENAMES]


def load_baseline(root: Path, path: Path | None = None) -> Baseline:
    """Return the baseline of a folder, or the one in `path`; an empty one when there is no file.

    Raises `ConfigError` naming the file when it cannot be understood.
    """
    place = path or root / FILE
    name = str(path) if path else FILE

    def exists(file: str) -> bool:
        return os.path.lexists(root / file)

    if path is None and not place.exists():
        return Baseline({}, exists)
    try:
        data = json.loads(read_regular(place, limit=_MAX_BYTES))
    except SkippedFile as skipped:
        raise ConfigError(f"{name}: {skipped.reason}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: {error}") from None
    return Baseline(_validate_entries(data, name), exists)


def save_baseline(root: Path, baseline: Baseline, path: Path | None = None) -> Path:
    """Write a baseline whole or not at all. Raises `JarvisError` when that is not possible."""
    place = path or state_folder(root, "sec") / Path(FILE).name
    replace_file(place, baseline.to_json())
    return place


def _validate_entries(data: Any, name: str) -> Entries:
    if not isinstance(data, dict) or data.get("version") != _VERSION:
        raise ConfigError(f"{name}: version: must be {_VERSION}")
    files = data.get("files")
    if not isinstance(files, dict):
        raise ConfigError(f"{name}: files: must be an object")
    for file, rules in files.items():
        lists = rules.values() if isinstance(rules, dict) else [None]
        if not all(
            isinstance(ones, list) and all(isinstance(o, str) for o in ones) for ones in lists
        ):
            raise ConfigError(f"{name}: files.{file}: must hold lists of fingerprints by rule")
    return files

"""What the user has decided on issues: those dismissed, with the reason, do not come back; those
accepted are shown as such.

It is kept in the user's home, not in the workspace: nobody's repository hides issues of its own.
An issue is known by its rule and by the text of its line, so that it stays dismissed when lines
above it come and go, and comes back when the line itself changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.lock import hold
from jarvis_ls.review.issues import Issue
from jarvis_ls.review.units import lines_of

_FOLDER = "reviews"
_LARGEST = 4_000_000
_MOST = 10_000
"""Decisions on one workspace; the oldest make room."""

Outcome = Literal["dismissed", "accepted"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the user says of an issue."""

    key: str
    """What it is known by."""
    outcome: Outcome = "dismissed"
    """Whether they hold it to be none, or agree."""
    reason: str = ""
    """Why it is none."""
    rule: str = ""
    """Id of its rule."""
    path: str = ""
    """The file."""
    message: str = ""
    """What was said to be wrong."""


def keys_of(issues: Iterable[Issue], after: Mapping[str, bytes]) -> dict[Issue, str]:
    """Return what each issue is known by; `after` are the contents after the change."""
    lines: dict[str, list[str]] = {}
    keys = {}
    for issue in issues:
        if issue.path not in lines:
            lines[issue.path] = lines_of(after.get(issue.path, b""))
        text = lines[issue.path]
        line = text[issue.line - 1].strip() if issue.line <= len(text) else ""
        said = "\0".join((issue.rule, issue.path, line))
        keys[issue] = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:20]
    return keys


class Decisions:
    """What a user has decided in one workspace."""

    def __init__(self, home: Path, root: Path) -> None:
        """`home` is the folder of the user's own state, `root` the real path of the workspace."""
        name = hashlib.sha256(bytes(root)).hexdigest()[:20]
        self._file = home / _FOLDER / f"{name}.json"

    def read(self) -> dict[str, Decision]:
        """Return them by key; none where nothing can be read."""
        try:
            data = json.loads(read_regular(self._file, limit=_LARGEST))
        except (OSError, SkippedFile, ValueError, RecursionError):
            return {}
        entries = data if isinstance(data, list) else []
        found = [_read(entry) for entry in entries]
        return {entry.key: entry for entry in found if entry is not None}

    def add(self, decision: Decision) -> None:
        """Keep one more. Raises `JarvisError` when it cannot be written."""
        with hold(self._file.with_suffix(".lock"), str(self._file)):
            known = self.read()
            known.pop(decision.key, None)
            known[decision.key] = decision
            kept = [asdict(entry) for entry in list(known.values())[-_MOST:]]
            replace_file(self._file, json.dumps(kept, indent=1).encode(), mode=0o600)


def _read(entry: Any) -> Decision | None:
    if not isinstance(entry, dict):
        return None
    key, *values = (entry.get(name, "") for name in ("key", "reason", "rule", "path", "message"))
    if not isinstance(key, str) or not key or not all(isinstance(value, str) for value in values):
        return None
    return Decision(key, "accepted" if entry.get("outcome") == "accepted" else "dismissed", *values)

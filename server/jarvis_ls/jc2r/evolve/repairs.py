"""Repairs of the C that were accepted: what each file was and became, so that a killed write is
finished and a repair can be undone."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.jc2r.evolve.ports import Change

FOLDER = "repairs"
"""Below the folder of the staged path."""
_LIMIT = 64_000_000


def save_repair(folder: Path, fingerprint: str, changes: Sequence[Change], diff: str) -> Path:
    """Keep a repair and its diff; return where the diff is. Raises `JarvisError`."""
    place = _place(folder, fingerprint)
    place.parent.mkdir(parents=True, exist_ok=True)
    records = [
        {
            "path": change.path,
            "before": base64.b64encode(change.before).decode(),
            "after": base64.b64encode(change.after).decode(),
        }
        for change in changes
    ]
    replace_file(place.with_suffix(".diff"), diff.encode("utf-8", "surrogateescape"))
    replace_file(place, (json.dumps(records, indent=1) + "\n").encode())
    return place.with_suffix(".diff")


def write_repair(root: Path, folder: Path, fingerprint: str) -> str:
    """Put a repair that is kept into the C, whatever of it is there already. Return the path of a
    file that is neither as before nor as after the repair, and then nothing is written; empty when
    all is there. Raises `JarvisError`."""
    return _exchange(root, _read(folder, fingerprint))


def undo_repair(root: Path, folder: Path, fingerprint: str) -> str:
    """Take a repair out of the C again; see `write_repair`."""
    changes = _read(folder, fingerprint)
    return _exchange(root, [Change(c.path, c.after, c.before) for c in changes])


def find_conflict(root: Path, folder: Path, fingerprint: str) -> str:
    """Return the path of a file that is not what it was when the repair was made, empty when there
    is none. Raises `JarvisError`."""
    changes = _read(folder, fingerprint)
    return next((c.path for c in changes if _contents(root, c.path) != c.before), "")


def _exchange(root: Path, changes: Sequence[Change]) -> str:
    now = {change.path: _contents(root, change.path) for change in changes}
    for change in changes:
        if now[change.path] not in (change.before, change.after):
            return change.path
    for change in changes:
        if now[change.path] != change.after:
            place = root / change.path
            replace_file(place, change.after, mode=place.lstat().st_mode)
    return ""


def _contents(root: Path, path: str) -> bytes | None:
    """Return the contents of a file of the project; None when it cannot be read."""
    try:
        return read_regular(root / path, limit=_LIMIT, root=root)
    except SkippedFile:
        return None


def _read(folder: Path, fingerprint: str) -> list[Change]:
    place = _place(folder, fingerprint)
    try:
        records = json.loads(read_regular(place, limit=_LIMIT))
        return [
            Change(
                str(record["path"]),
                base64.b64decode(record["before"]),
                base64.b64decode(record["after"]),
            )
            for record in records
        ]
    except (SkippedFile, ValueError, TypeError, KeyError, RecursionError) as error:
        raise JarvisError(
            "{path} is damaged, so the repair cannot be written or undone: {why}",
            path=place,
            why=error,
        ) from None


def _place(folder: Path, fingerprint: str) -> Path:
    name = hashlib.sha256(fingerprint.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return folder / FOLDER / f"{name}.json"

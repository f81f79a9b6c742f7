"""What a build makes, kept from one script to the next.

Folders that git ignores and that the workspace itself does not have (`target`, `build`,
`node_modules`) are put aside after a script and into the copy of the next one, so that a build
goes on where the last one ended. They never reach the workspace, and go after three days.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.edits.snapshots.look import NEVER
from jarvis_ls.runtime.sandbox.copies import RunFolder, Workplace, remove_tree
from jarvis_ls.runtime.sandbox.ignoring import IgnoredIn

SECONDS = 3 * 86400

_NAMED = 5


def bring(folder: RunFolder, places: Sequence[Workplace]) -> Sequence[Workplace]:
    """Put what earlier scripts made into their copies; the places."""
    for place in places:
        ignored = IgnoredIn(place.root)
        for item in _items(folder, place):
            with contextlib.suppress(OSError, UnicodeError):  # without it a build begins anew
                path = (item / "path").read_text(encoding="utf-8")
                if _may_stand(place, path) and ignored.folder(path):
                    _make_way(place, path)
                    (item / "tree").rename(f"{place.folder}/{path}")
                remove_tree(item)
    return places


def put_aside(folder: RunFolder, places: Sequence[Workplace]) -> list[str]:
    """Take what is to be kept out of the copies; a sentence that says so."""
    named = []
    for place in places:
        ignored = IgnoredIn(place.root)
        for path in list(_find_built(place, ignored)):
            item = _shelf(folder, place) / hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
            with contextlib.suppress(OSError, UnicodeError):  # then it goes with the copy
                item.mkdir(mode=0o700, parents=True)
                (item / "path").write_text(path, encoding="utf-8")
                Path(place.folder, path).rename(item / "tree")
                named.append(path)
    if not named:
        return []
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return [
        Words(
            "Kept for the next script only, as git ignores it: {names}",
            names=", ".join(named[:_NAMED]) + more,
        )
    ]


def clean(top: Path) -> None:
    """Remove what nobody has used for a while."""
    for shelf in top.glob("kept-*"):
        with contextlib.suppress(OSError):
            if shelf.stat().st_mtime < time.time() - SECONDS:
                remove_tree(shelf)


def _shelf(folder: RunFolder, place: Workplace) -> Path:
    name = hashlib.sha256(os.fsencode(place.root)).hexdigest()[:16]
    return folder.path.parent / f"kept-{name}"


def _items(folder: RunFolder, place: Workplace) -> list[Path]:
    try:
        return sorted(_shelf(folder, place).iterdir())
    except OSError:
        return []


def _find_built(place: Workplace, ignored: IgnoredIn) -> Iterator[str]:
    """Outermost ignored folders of a copy that the workspace does not have."""
    waiting = [""]
    while waiting:
        path = waiting.pop()
        try:
            entries = list(os.scandir(f"{place.folder}/{path}" if path else place.folder))
        except OSError:
            continue
        for entry in entries:
            below = f"{path}/{entry.name}" if path else entry.name
            if not entry.is_dir(follow_symlinks=False) or entry.name.lower() in NEVER:
                continue
            if not ignored.folder(below):
                waiting.append(below)
            elif not os.path.lexists(f"{place.root}/{below}"):
                yield below


def _may_stand(place: Workplace, path: str) -> bool:
    """Return whether the workspace has a folder for it, and nothing in its place."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or os.path.lexists(f"{place.root}/{path}"):
        return False
    above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
    places = [f"{place.root}/{item}" for item in above]
    return all(os.path.isdir(item) and not os.path.islink(item) for item in places)  # noqa: PTH112, PTH114


def _make_way(place: Workplace, path: str) -> None:
    """Create the parent folders that an overlay's upper folder does not have yet."""
    parts = path.split("/")
    owner = os.lstat(place.folder)
    for depth in range(1, len(parts)):
        above = "/".join(parts[:depth])
        target = f"{place.folder}/{above}"
        if not os.path.isdir(target):  # noqa: PTH112
            os.mkdir(target, os.lstat(f"{place.root}/{above}").st_mode & 0o777)  # noqa: PTH102
            if os.geteuid() == 0:
                os.chown(target, owner.st_uid, owner.st_gid)

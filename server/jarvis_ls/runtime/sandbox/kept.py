"""What a build makes in an overlay, kept from one script to the next.

What git ignores and the workspace does not have, and what is recognised as a build's, is put
aside after a script and into the upper folder of the next one. Where a script has changed a file
that the workspace has otherwise (the change was refused, say), that file counts as new for what
was built of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_ls.core.files import replace_file
from jarvis_ls.runtime.edits.file_change import FileChange
from jarvis_ls.runtime.edits.snapshots.look import NEVER
from jarvis_ls.runtime.sandbox.built import is_build_folder, is_build_product
from jarvis_ls.runtime.sandbox.copies import Workplace
from jarvis_ls.runtime.sandbox.ignoring import IgnoredIn
from jarvis_ls.runtime.sandbox.mirror import DEEPEST, is_folder, is_straight
from jarvis_ls.runtime.sandbox.removing import remove_tree

_TOUCHED = "touched.json"


def bring(places: Sequence[Workplace]) -> Sequence[Workplace]:
    """Put what earlier scripts made into their overlays; the places."""
    for place in places:
        if place.mirror is not None:
            continue
        ignored = IgnoredIn(place.root)
        for item in _items(place):
            with contextlib.suppress(OSError, ValueError):  # without it a build starts over
                path, by_git = json.loads((item / "path").read_text(encoding="ascii"))
                wanted = not by_git or ignored.folder(path) or ignored.file(path)
                if wanted and _may_stand(place, path):
                    _make_way(place, path)
                    (item / "tree").rename(f"{place.folder}/{path}")
            remove_tree(item)
        _freshen(place)
    return places


def put_aside(place: Workplace) -> list[str]:
    """Take what is to be kept out of an overlay; what was not there before."""
    if not place.shelf:
        return []
    shelf = Path(place.shelf)
    known = _known(shelf)
    named = []
    for path, by_git in list(_find_built(place)):
        item = shelf / hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        with contextlib.suppress(OSError):  # then it goes with the overlay
            item.mkdir(mode=0o700, parents=True)
            (item / "path").write_text(json.dumps([path, by_git]), encoding="ascii")
            Path(place.folder, path).rename(item / "tree")
            named.append(path)
    with contextlib.suppress(OSError):
        shelf.mkdir(mode=0o700, exist_ok=True)
        replace_file(shelf / "known.json", json.dumps(named).encode())
    return [path for path in named if path not in known]


def note_touched(place: Workplace, changes: Sequence[FileChange]) -> None:
    """Note what a script has changed, as long as something is kept that may be built of it."""
    if not place.shelf:
        return
    touched = _read_times(place)
    for change in changes:
        data = b"" if change.after is None else change.after.data
        touched[change.path] = hashlib.sha256(data).hexdigest()
    if touched and _items(place):
        replace_file(Path(place.shelf, _TOUCHED), json.dumps(touched).encode())
    else:
        Path(place.shelf, _TOUCHED).unlink(missing_ok=True)


def _freshen(place: Workplace) -> None:
    """Give files that are not as the last script left them the time of now, in the overlay."""
    touched = _read_times(place)
    for path, digest in touched.items():
        lower, upper = f"{place.root}/{path}", f"{place.folder}/{path}"
        with contextlib.suppress(OSError):
            if os.path.islink(lower) or not is_straight(place.root, path):  # noqa: PTH114
                continue
            data = Path(lower).read_bytes()
            if hashlib.sha256(data).hexdigest() != digest and not os.path.lexists(upper):
                _make_way(place, path)
                shutil.copyfile(lower, upper, follow_symlinks=False)
                shutil.copymode(lower, upper, follow_symlinks=False)


def _read_times(place: Workplace) -> dict[str, str]:
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(Path(place.shelf, _TOUCHED).read_bytes())
        return {str(path): str(digest) for path, digest in found.items()}
    return {}


def _known(shelf: Path) -> list[str]:
    with contextlib.suppress(OSError, ValueError):
        return list(json.loads((shelf / "known.json").read_bytes()))
    return []


def _items(place: Workplace) -> list[Path]:
    try:
        return sorted(path for path in Path(place.shelf).iterdir() if path.is_dir())
    except OSError:
        return []


def _find_built(place: Workplace) -> Iterator[tuple[str, bool]]:
    """Yield the outermost paths of an overlay that a build has made and the workspace does not
    have, and whether that is told only by git."""
    ignored = IgnoredIn(place.root)
    waiting = [""]
    while waiting:
        path = waiting.pop()
        if path.count("/") >= DEEPEST:
            continue
        try:
            with os.scandir(f"{place.folder}/{path}" if path else place.folder) as entries:
                found = list(entries)
        except OSError:
            continue
        for entry in found:
            below = f"{path}/{entry.name}" if path else entry.name
            if entry.name.lower() in NEVER:
                continue
            is_new = not os.path.lexists(f"{place.root}/{below}")
            if entry.is_dir(follow_symlinks=False):
                if is_new and ignored.folder(below):
                    yield below, True
                elif is_new and is_build_folder(entry.path):
                    yield below, False
                elif is_new or not ignored.folder(below):
                    waiting.append(below)
            elif is_new and (entry.is_file(follow_symlinks=False) or entry.is_symlink()):
                if ignored.file(below):
                    yield below, True
                elif is_build_product(entry.path):
                    yield below, False


def _may_stand(place: Workplace, path: str) -> bool:
    """Return whether nothing of the workspace is where it goes."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or os.path.lexists(f"{place.root}/{path}"):
        return False
    above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
    places = [f"{place.root}/{item}" for item in above]
    return all(is_folder(item) or not os.path.lexists(item) for item in places)


def _make_way(place: Workplace, path: str) -> None:
    """Create the parent folders that an overlay's upper folder does not have yet."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        above = "/".join(parts[:depth])
        target = f"{place.folder}/{above}"
        if not os.path.isdir(target):  # noqa: PTH112
            lower = f"{place.root}/{above}"
            mode = os.lstat(lower).st_mode & 0o777 if is_folder(lower) else 0o755
            os.mkdir(target, mode)  # noqa: PTH102

"""Folders that are kept from one script to the next: the copies of a workspace, at a stable path,
and what builds have made.

A session holds the one it was given until it is closed or its process ends, so that a build goes
on where the last one ended and no one else is at work there; scripts at the same time get
further ones. The next session in the same workspace gets what is there. A folder goes when no one
has used it for three days, when its workspace is gone, or when there are newer ones enough.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.sandbox.mirror import Mirror
from jarvis_ls.runtime.sandbox.removing import remove_tree

SECONDS = 3 * 86400
"""After which a folder that no one has used goes."""
_MOST_FREE = 6
"""Folders that are kept though no one holds them."""
_MOST_AT_ONCE = 16


class Held:
    """One folder, locked as long as it is held."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.is_busy = True
        self._lock = lock
        self._mirrors: dict[int, Mirror] = {}

    def mirror(self, number: int, root: str) -> Mirror:
        """Return the copy of a root, by its number."""
        if number not in self._mirrors:
            state = self.path / f"state{number}.json"
            self._mirrors[number] = Mirror(root, self.path / f"copy{number}", state)
        return self._mirrors[number]

    def save(self) -> None:
        """Write down what is known of the copies."""
        for mirror in self._mirrors.values():
            mirror.save()
        with contextlib.suppress(OSError):
            os.utime(self.path)

    def let_go(self) -> None:
        """Give up the lock."""
        os.close(self._lock)


class HeldFolders:
    """The folders that the sessions of this process hold."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], list[Held]] = {}
        self._changing = threading.Lock()

    def take(self, top: Path, roots: Sequence[Path], kind: str, session: str, mode: int) -> Held:
        """Return a folder below `top` for a run on these roots.

        Raises `JarvisError` when there are too many already, `OSError` when none can be made.
        """
        key = _key_of(roots, kind)
        with self._changing:
            mine = self._held.setdefault((key, session), [])
            for held in mine:
                if not held.is_busy and session:
                    held.is_busy = True
                    return held
            for number in range(_MOST_AT_ONCE):
                found = _lock(top / f"kept-{key}-{number}", mode)
                if found is not None:
                    (found.path / "roots").write_bytes(b"\0".join(map(os.fsencode, roots)))
                    mine.append(found)
                    return found
        raise JarvisError("Too many scripts run in this workspace already; nothing was run.")

    def holds(self, roots: Sequence[Path], kind: str, session: str) -> bool:
        """Return whether a session has a folder for these roots."""
        with self._changing:
            return bool(self._held.get((_key_of(roots, kind), session)))

    def give_back(self, held: Held, session: str) -> None:
        """Let the next script have it; one without a session is let go."""
        held.save()
        with self._changing:
            held.is_busy = False
            mine = [found for found in self._held.values() if held in found]
            if session and mine:
                return
            for found in mine:
                found.remove(held)
            held.let_go()

    def forget(self, session: str) -> None:
        """Let go of what a session that was closed holds."""
        with self._changing:
            for key in [key for key in self._held if key[1] == session]:
                for held in self._held.pop(key):
                    if not held.is_busy:
                        held.let_go()


def clean(top: Path) -> None:
    """Remove what no one holds and no one will want."""
    free: list[tuple[float, Path]] = []
    for path in top.glob("kept-*"):
        with contextlib.suppress(OSError):
            free.append((path.stat().st_mtime, path))
    free.sort(reverse=True)
    oldest = time.time() - SECONDS
    for number, (used, path) in enumerate(free):
        if used < oldest or number >= _MOST_FREE or _is_orphan(path):
            with contextlib.suppress(OSError):
                _remove(path)


def _key_of(roots: Sequence[Path], kind: str) -> str:
    """Return what tells the folders of these roots from all others, for a file name."""
    named = json.dumps([kind, *(os.fsencode(root).hex() for root in roots)])
    return hashlib.sha256(named.encode()).hexdigest()[:16]


def _is_orphan(path: Path) -> bool:
    """Return whether the workspace of a folder is gone."""
    try:
        roots = (path / "roots").read_bytes().split(b"\0")
    except OSError:
        return False
    return not all(os.path.isdir(root) for root in roots)  # noqa: PTH112


def _remove(path: Path) -> None:
    try:
        lock = os.open(path / "lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        remove_tree(path)  # of an older version
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(path)
    except BlockingIOError:
        pass
    finally:
        os.close(lock)


def _lock(path: Path, mode: int) -> Held | None:
    """Return a folder when no one holds it."""
    for _ in range(3):
        path.mkdir(mode=0o700, exist_ok=True)
        path.chmod(mode)
        lock = os.open(path / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        with contextlib.suppress(OSError):
            if os.stat(path / "lock").st_ino == os.fstat(lock).st_ino:  # noqa: PTH116
                return Held(path, lock)
        os.close(lock)  # somebody has just removed it
    return None

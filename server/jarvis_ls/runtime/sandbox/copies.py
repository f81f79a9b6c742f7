"""Where a script works: an overlay above the user's files, or a copy of them.

Each run has a folder of its own below the user's folder, never in the workspace (an overlay
above itself gives loops), and a lock on it: folders whose owner is gone are cleaned up by the
next who comes. Beside it is the folder that is `held` from one run to the next, with copies and
what builds have made.
"""

from __future__ import annotations

import fcntl
import os
import stat
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.sandbox.base import SandboxSettings, Script
from jarvis_ls.runtime.sandbox.held import Held
from jarvis_ls.runtime.sandbox.mirror import Limits, Mirror
from jarvis_ls.runtime.sandbox.process import Bounds, WriteLimit
from jarvis_ls.runtime.sandbox.removing import remove_tree

_OWNERS_LOOKED_AT = 50_000


@dataclass(slots=True)
class Workplace:
    """What represents one root."""

    root: str
    """The user's folder."""
    folder: str
    """Upper folder of the overlay, or the copy."""
    work: str = ""
    """The overlay's own folder; empty for a copy."""
    mirror: Mirror | None = None
    """What knows the copy; none for an overlay."""
    shelf: str = ""
    """Where what builds made in an overlay is kept; empty for a copy."""
    started: int = 0
    """Time in ns before which nothing the script did can have happened."""

    @property
    def is_copy(self) -> bool:
        """Return whether it is a copy rather than an overlay."""
        return not self.work


class RunFolder:
    """A folder for one run, removed with it."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.held: Held | None = None
        """The folder that is kept from one run to the next."""
        self.stopped = threading.Event()
        """Set when no caller waits for copies any more."""
        self._lock = lock

    def script(self, script: Script) -> Path:
        """Return the script as a file that anyone who runs it can read."""
        text = self.path / "script"
        text.write_text(script.text, encoding="utf-8", errors="surrogateescape")
        text.chmod(0o644)
        return text

    def overlay(self, number: int, root: Path, owner: int | None = None) -> Workplace:
        """Folders for an overlay above `root`, of `owner` when given."""
        places = [str(self.path / f"{name}{number}") for name in ("upper", "work")]
        status = root.stat()
        for place in places:
            os.mkdir(place, 0o700)  # noqa: PTH102
            if owner is not None:
                os.chown(place, owner, owner)
        os.chmod(places[0], stat.S_IMODE(status.st_mode) | 0o700)  # noqa: PTH101 - what represents the root
        shelf = "" if self.held is None else str(self.held.path / f"shelf{number}")
        return Workplace(str(root), places[0], places[1], shelf=shelf, started=time.time_ns())

    def copy(
        self, number: int, root: Path, settings: SandboxSettings, owner: int | None = None
    ) -> Workplace:
        """Return a copy of `root` as it is now, given to `owner` when there is one.

        Raises `JarvisError` when it would be too large.
        """
        assert self.held is not None
        mirror = self.held.mirror(number, str(root))
        mirror.bring(Limits(settings.copy_files, settings.copy_bytes, owner), self.stopped)
        return Workplace(str(root), mirror.folder, mirror=mirror, started=mirror.started)

    def bounds(
        self, script: Script, settings: SandboxSettings, places: Sequence[Workplace]
    ) -> Bounds:
        """Return what a script here is held to."""
        folders = (*(place.folder for place in places), str(self.path / "tmp"))
        written = WriteLimit(folders, settings.written_bytes, settings.written_files)
        return Bounds(script.timeout, settings.memory, self.path, written, script.stop)

    def remove(self) -> None:
        """Take everything away, whatever modes the script has given it."""
        remove_tree(self.path)
        os.close(self._lock)


def open_folder(home: Path, user: int | None) -> RunFolder:
    """Return a new folder for one run, which another user may look into when one is given; those of
    processes that are gone are removed first.

    Raises `JarvisError` when it cannot be made.
    """
    top = home / "sandbox"
    mode = 0o700 if user is None else 0o711
    try:
        top.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_ours(home)
        _check_ours(top)
        if user is not None:
            home.chmod(mode)
            top.chmod(mode)
        clean(top)
        folder = make_folder(top)
        folder.path.chmod(mode)
    except OSError as error:
        raise JarvisError(
            "The sandbox cannot work in {top}: {why}", top=top, why=error.strerror
        ) from None
    return folder


def make_folder(top: Path) -> RunFolder:
    """Return a new folder below `top`, locked as long as this process lives."""
    path = top / f"run-{time.time_ns():x}-{os.urandom(3).hex()}"
    making = path.with_name(f".{path.name}")
    making.mkdir(mode=0o700)
    lock = os.open(making / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    making.rename(path)  # under its name only when it is locked
    return RunFolder(path, lock)


def clean(top: Path) -> None:
    """Remove folders of runs whose process is gone."""
    for path in top.glob("run-*"):
        try:
            lock = os.open(path / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            remove_tree(path)  # its lock goes first, and somebody was killed then
            continue
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(path)  # which raises nothing, whatever a script has left there
        except BlockingIOError:
            continue
        finally:
            os.close(lock)


def has_other_owners(root: Path, uid: int, gid: int) -> bool:
    """Return whether an overlay in a user namespace could not copy some file up, because its owner
    or group is not ours. Of a very large folder the first 50,000 entries are examined.
    """
    waiting, room = [str(root)], _OWNERS_LOOKED_AT
    while waiting and room > 0:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    if status.st_uid != uid or status.st_gid != gid:
                        return True
                    room -= 1
                    if stat.S_ISDIR(status.st_mode):
                        waiting.append(entry.path)
        except OSError:
            continue
    status = root.stat()
    return status.st_uid != uid or status.st_gid != gid


def check_roots(roots: Sequence[Path], state: Path) -> None:
    """Raise `JarvisError` for a root that no sandbox could protect.

    Also for one that holds the folder in which copies are made (`state`).
    """
    home = os.path.realpath(Path.home())
    if not roots:
        raise JarvisError("No folder is open, so there is nowhere a script could run.")
    for root in roots:
        real = os.path.realpath(root)
        if real == "/" or real == home or home.startswith(real.rstrip("/") + "/"):
            raise JarvisError(
                "{root} holds your whole home folder, keys and passwords included; "
                "scripts run only in a project folder. Open one.",
                root=root,
            )
        if f"{os.path.realpath(state)}/".startswith(f"{real}/"):
            raise JarvisError(
                "{state}, where Jarvis keeps its own state, is inside the workspace {root};"
                " scripts cannot run on a copy within itself. Set JARVIS_HOME to a folder"
                " elsewhere.",
                state=state,
                root=root,
            )
        if not os.path.isdir(real):  # noqa: PTH112
            raise JarvisError("{root} is no longer a folder.", root=root)


def _check_ours(folder: Path) -> None:
    """Somebody else's folder, or a link, under a name we use would let them read along."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise JarvisError(
            "{folder} belongs to another user; no script is run there.", folder=folder
        )

"""One process at a time: locks that end with their process and say who holds them.

The lock is filelock's; the file holds the number of the process that took it. On systems where a
locked byte cannot be read by others that is the first, so the number begins behind it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import write_error
from jarvis_ls.core.words import Words

if TYPE_CHECKING:
    from filelock import BaseFileLock

WAIT_SECONDS = 10.0
"""How long `hold` waits for another process."""


class Lock:
    """Held from the making until `release` or the end of the process."""

    def __init__(self, path: Path, held: BaseFileLock) -> None:
        self.path = path
        self._held = held

    @staticmethod
    def take(path: Path) -> Lock | str:
        """Return the lock, or in words who holds it.

        Raises `JarvisError` when the file cannot be made.
        """
        import filelock

        try:
            return Lock(path, _acquire(path, 0))
        except filelock.Timeout:
            return _holder(path)

    def release(self) -> None:
        """Let others write."""
        self._held.release()


@contextlib.contextmanager
def hold(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path` while `what` is changed; blocks until it is free.

    Raises `JarvisError` when another process keeps it too long, or it cannot be made.
    """
    import filelock

    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise write_error(path, error) from None
    try:
        held = _acquire(path, WAIT_SECONDS)
    except filelock.Timeout:
        raise JarvisError(
            "{holder} has held {what} for {seconds} s; nothing was changed",
            holder=_holder(path),
            what=what,
            seconds=f"{WAIT_SECONDS:.0f}",
        ) from None
    try:
        yield
    finally:
        held.release()


def _acquire(path: Path, seconds: float) -> BaseFileLock:
    import filelock  # a tenth of a second, for who locks nothing

    # Sessions are closed by other threads than opened them.
    lock = filelock.FileLock(path, mode=0o600, thread_local=False, on_acquired=_sign)
    try:
        lock.acquire(timeout=seconds)
    except filelock.Timeout:
        raise
    except OSError as error:
        raise write_error(path, error) from None
    return lock


def _sign(descriptor: int) -> None:
    """Write the number of this process, which is only told to others: a full disk must not keep
    anyone from reading."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f" {os.getpid()}\n".encode())


def _holder(path: Path) -> str:
    number = ""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with contextlib.suppress(OSError), os.fdopen(os.open(path, flags), "rb", 0) as file:
        file.seek(1)
        number = (file.read(20) or b"").decode("ascii", "replace").strip()
    return (
        Words("process {number}", number=number) if number.isdigit() else Words("another process")
    )

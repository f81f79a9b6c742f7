"""One process at a time: locks that end with their process, however it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jarvis_ls.core.errors import JarvisError

LOCK_SECONDS = 10.0
"""How long to wait for another process."""


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path` while `what` is changed; blocks until it is free.

    Raises `JarvisError` when another process keeps it too long, or it cannot be made.
    """
    import filelock

    lock = filelock.FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock.acquire(timeout=LOCK_SECONDS)
    except filelock.Timeout:
        raise JarvisError(
            "another process has held {what} for {seconds} s; nothing was changed",
            what=what,
            seconds=f"{LOCK_SECONDS:.0f}",
        ) from None
    except OSError as error:
        raise JarvisError(
            "cannot lock {path}: {why}", path=path, why=error.strerror or error
        ) from None
    try:
        yield
    finally:
        lock.release()

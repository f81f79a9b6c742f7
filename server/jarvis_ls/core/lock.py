"""One writer at a time: a lock that the system gives back when its holder is killed."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from jarvis_ls.core.files import write_error


class Lock:
    """Held from the making until `release` or the end of the process, however it ends."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @staticmethod
    def take(path: Path) -> Lock | str:
        """Return the lock, or in words who holds it.

        Raises `JarvisError` when the file cannot be made.
        """
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        try:
            descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            raise write_error(path, error) from None
        if not _lock(descriptor):
            with os.fdopen(descriptor, "rb") as file:
                file.seek(1)
                holder = file.read(20).decode("ascii", "replace").strip()
            return f"process {holder}" if holder.isdigit() else "another process"
        with contextlib.suppress(OSError):  # the number is only told to others; a full disk
            os.ftruncate(descriptor, 0)  # must not keep anyone from reading
            os.write(descriptor, f" {os.getpid()}\n".encode())
        return Lock(path, descriptor)

    def release(self) -> None:
        """Let others write."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # the first byte; the rest is readable
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

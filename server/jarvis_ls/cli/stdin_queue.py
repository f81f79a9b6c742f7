"""Lines typed while a turn runs: words that are queued, and commands that steer it.

The terminal is in its usual mode then: it shows what is typed and gives whole lines. While a
question is asked nothing is taken here, so that an answer is never mistaken for words.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Iterator

_AT_ONCE = 65_536


class Listener:
    """Hears lines of the standard input while it listens."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self._heard = heard
        self._rest = b""
        self._depth = 0
        """How many listen; no one is heard while it is 0 or someone is asked."""
        self._asking = 0

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Lines are heard within this, where the system can wait for them beside other things."""
        self._depth += 1
        self._look()
        try:
            yield
        finally:
            self._depth -= 1
            self._look()

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """Someone else reads lines within this."""
        self._asking += 1
        self._look()
        try:
            yield
        finally:
            self._asking -= 1
            self._look()

    def _look(self) -> None:
        if sys.platform == "win32":  # its event loop cannot wait for a console
            return
        loop = asyncio.get_running_loop()
        descriptor = sys.stdin.fileno()
        loop.remove_reader(descriptor)
        if self._depth and not self._asking:
            loop.add_reader(descriptor, self._read)

    def _read(self) -> None:
        try:
            data = os.read(sys.stdin.fileno(), _AT_ONCE)
        except OSError:
            data = b""
        if not data:  # the terminal is gone, or Ctrl-D: the next question finds out
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._heard(line.decode("utf-8", "replace"))

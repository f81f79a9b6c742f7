"""A terminal with a person: a real pseudo-terminal, keys typed, what is shown read."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

from tests.support.patience import HANGS

JARVIS = (sys.executable, "-m", "jarvis_ls.cli.jarvis")
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?>=]*[A-Za-z]|\][^\x07]*\x07|[=>()][0-9A-Za-z]?)")


class Person:
    """Someone who types."""

    def __init__(self, command: tuple[str, ...], cwd: Path, environment: Mapping[str, str]):
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={**environment, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0) and None,
        )
        os.close(slave)
        os.set_blocking(self._master, False)
        self._raw = b""
        self._seen = 0

    @property
    def shown(self) -> str:
        """Everything that was shown, without what only steers the terminal."""
        return _ESCAPES.sub("", self._raw.decode("utf-8", "replace")).replace("\r", "")

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    async def sees(self, text: str, seconds: float = HANGS) -> str:
        """Wait until a text is shown behind what was waited for before."""
        deadline = asyncio.get_running_loop().time() + seconds
        while (at := self.shown.find(text, self._seen)) < 0:
            self._read()
            late = asyncio.get_running_loop().time() > deadline
            assert not late, f"{text!r} was not shown; shown was:\n{self.shown[self._seen :]}"
            await asyncio.sleep(0.02)
        found, self._seen = self.shown[self._seen : at], at + len(text)
        return found

    async def ended(self, seconds: float = HANGS) -> int:
        """The exit status."""
        deadline = asyncio.get_running_loop().time() + seconds
        while (status := self.process.poll()) is None:
            self._read()
            assert asyncio.get_running_loop().time() < deadline, self.shown
            await asyncio.sleep(0.02)
        self._read()
        return status

    def close(self) -> None:
        """End the program, if it has not."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._master)

    def _read(self) -> None:
        try:
            while data := os.read(self._master, 65536):
                self._raw += data
        except BlockingIOError:
            return
        except OSError:  # the other end is closed
            return

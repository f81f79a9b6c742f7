"""Long outputs: a model gets both ends, and the whole in a file that it may read.

The files of a session are in a folder of the user's own, never in the workspace, and go when the
session is closed or a day later. `services["outputs"]` holds them; without it only the ends are
left.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.tools.tool import ToolContext

END_CHARACTERS = 5_000
"""Of the beginning and of the end, each."""
_SECONDS = 86_400
_MOST_FILES = 40
_LARGEST = 5_000_000
"""Characters of a growing output that are kept."""


class Outputs:
    """The long outputs of one session; a set of paths that may be read."""

    def __init__(self, home: Path, session: str) -> None:
        """`home` is the user's own folder."""
        self._top = home / "outputs"
        self._folder = self._top / f"{session}-{os.getpid()}"
        self._paths: list[Path] = []
        self._growing: list[OutputFile] = []

    def __contains__(self, path: object) -> bool:
        """Return whether a real path is one of them."""
        return path in self._paths

    def __iter__(self) -> Iterator[Path]:
        """Yield the paths, the oldest first."""
        return iter(self._paths)

    def write(self, text: str) -> Path:
        """Keep a text; its place. Raises `JarvisError` when it cannot be written."""
        self._clean()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = Path(os.path.realpath(self._folder)) / f"output-{time.time_ns():x}.txt"
        replace_file(path, text.encode("utf-8", "replace"))
        self._paths.append(path)
        self._growing = [growing for growing in self._growing if growing.grows]
        grow = {growing.path for growing in self._growing}
        old = [known for known in self._paths[:-_MOST_FILES] if known not in grow]
        for known in old:
            self._paths.remove(known)
            known.unlink(missing_ok=True)
        return path

    def begin(self) -> OutputFile:
        """Return one that grows. Without a place on the disk it keeps only its ends."""
        with contextlib.suppress(JarvisError, OSError):
            path = self.write("")
            growing = OutputFile(path, path.open("a", encoding="utf-8", errors="replace"))
            self._growing.append(growing)
            return growing
        return OutputFile(None, None)

    def close(self) -> None:
        """Remove them."""
        for growing in self._growing:
            growing.close()
        self._paths.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _clean(self) -> None:
        """Remove what other processes have left."""
        with contextlib.suppress(OSError):
            for folder in self._top.iterdir():
                if folder != self._folder and folder.stat().st_mtime < time.time() - _SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)


class OutputFile:
    """An output that grows: all of it is in a file, and a model is told what it has not read."""

    def __init__(self, path: Path | None, file: TextIO | None) -> None:
        self.path = path
        self._file = file
        self._size = 0
        self._lines = 1
        self._first = 1
        """Line in which what was not read begins."""
        self._head = self._tail = ""
        self._left_out = 0

    @property
    def grows(self) -> bool:
        """Return whether more may come."""
        return self._file is not None

    def add(self, text: str) -> None:
        """Take more."""
        room = END_CHARACTERS - len(self._head)
        if room > 0:
            self._head += text[:room]
        self._tail += text[max(room, 0) :]
        over = len(self._tail) - END_CHARACTERS
        if over > END_CHARACTERS:
            self._left_out += over
            self._tail = self._tail[over:]
        self._lines += text.count("\n")
        self._size += len(text)
        if self._file is None:
            return
        try:
            if self._size <= _LARGEST:
                self._file.write(text)
                self._file.flush()
            else:
                self._file.close()
        except (OSError, ValueError):  # the disk is full: there are the ends
            self.close()

    def unread(self) -> str:
        """Return what came since the last time: all of it, or both ends and where the rest is."""
        head, tail, left_out = self._head, self._tail, self._left_out
        over = len(tail) - END_CHARACTERS
        if over > 0:
            tail, left_out = tail[over:], left_out + over
        first, self._first = self._first, self._lines
        self._head = self._tail = ""
        self._left_out = 0
        if not left_out:
            return head + tail
        gap = Words("… {count} characters left out …", count=f"{left_out:,}")
        if self.path is not None:
            gap = Words(
                "… {count} characters left out; lines {first} to {last}: read_code {path} …",
                count=f"{left_out:,}",
                first=first,
                last=self._lines,
                path=str(self.path),
            )
        return f"{head}\n{gap}\n{tail}"

    def close(self) -> None:
        """Take no more."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None


async def shorten(text: str, context: ToolContext) -> str:
    """Return a text, or both ends of a long one and where all of it can be read."""
    left_out = len(text) - 2 * END_CHARACTERS
    if left_out <= 0:
        return text
    outputs = context.services.get("outputs")
    gap = Words("… {count} characters left out …", count=f"{left_out:,}")
    if isinstance(outputs, Outputs):
        with contextlib.suppress(JarvisError, OSError):  # then there are only the ends
            path = await asyncio.to_thread(outputs.write, text)
            gap = Words(
                "… {count} characters left out; all {lines} lines: read_code {path} …",
                count=f"{left_out:,}",
                lines=f"{text.count(chr(10)) + 1:,}",
                path=str(path),
            )
    return f"{text[:END_CHARACTERS]}\n{gap}\n{text[-END_CHARACTERS:]}"

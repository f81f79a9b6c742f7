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

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.tools.tool import ToolContext

END_CHARACTERS = 5_000
"""Of the beginning and of the end, each."""
_SECONDS = 86_400
_MOST_FILES = 40


class Outputs:
    """The long outputs of one session; a set of paths that may be read."""

    def __init__(self, home: Path, session: str) -> None:
        """`home` is the user's own folder."""
        self._top = home / "outputs"
        self._folder = self._top / f"{session}-{os.getpid()}"
        self._paths: list[Path] = []

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
        while len(self._paths) > _MOST_FILES:
            self._paths.pop(0).unlink(missing_ok=True)
        return path

    def close(self) -> None:
        """Remove them."""
        self._paths.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _clean(self) -> None:
        """Remove what other processes have left."""
        with contextlib.suppress(OSError):
            for folder in self._top.iterdir():
                if folder != self._folder and folder.stat().st_mtime < time.time() - _SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)


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

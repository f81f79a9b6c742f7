"""Files of the project whose build is read: never more of one than a build file can have."""

from __future__ import annotations

import contextlib
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular

MAX_BYTES = 16_000_000
"""Most that is read of a file."""


def content(path: Path) -> bytes:
    """Return the content of a file of the project; empty when it cannot be read."""
    with contextlib.suppress(SkippedFile):
        return read_regular(path, limit=MAX_BYTES)
    return b""


def text_of(path: Path) -> str:
    """Return the content of a file of the project as text."""
    return content(path).decode("utf-8", "replace")

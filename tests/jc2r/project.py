"""A C project in a folder, and the command `jc2r` run on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.starting import quick

JC2R = [sys.executable, "-m", "jarvis_ls.cli.jc2r"]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def jc2r(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    # What Python itself reads, only a Python that is started reads.
    is_own = any(name.startswith("PYTHON") for name in environment)
    command = JC2R if is_own else quick("jarvis_ls.cli.jc2r")
    return subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, **environment},
    )


def text_of(kept: Any) -> str:
    """Return the English text of a reason in a stored record, with its values or without."""
    return kept if isinstance(kept, str) else str(kept["text"])

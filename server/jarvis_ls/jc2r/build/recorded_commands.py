"""How the compilers are called while a build runs: stand-ins for them note it, then are them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_COMPILERS = ("cc", "gcc", "clang", "c99", "c89", "c++", "g++", "clang++", "tcc")
_STAND_IN = """#!{python}
import json, os, sys
name = os.path.basename(sys.argv[0])
line = json.dumps({{"directory": os.getcwd(), "arguments": [name, *sys.argv[1:]]}})
descriptor = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(descriptor, (line + "\\n").encode())
os.close(descriptor)
os.environ["PATH"] = {path!r}
os.execvp(name, [name, *sys.argv[1:]])
"""


@dataclass(frozen=True, slots=True)
class RecordedCommands:
    """Where the stand-ins are, and what they note."""

    tools: Path
    """A folder that is to be the first of `PATH`."""
    log: Path
    """A line of JSON for each command."""

    @property
    def path(self) -> str:
        """Return the `PATH` of a build that is recorded."""
        return f"{self.tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}"

    def entries(self) -> list[dict[str, Any]]:
        """Return what was called so far, in the form of a compilation database."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextlib.contextmanager
def record_commands() -> Iterator[RecordedCommands]:
    """Make stand-ins for the compilers that are installed, for as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix="jc2r-") as name:
        tools, log = Path(name), Path(name, "log")
        log.touch()
        for compiler in _COMPILERS:
            if shutil.which(compiler) is not None:
                stand_in = tools / compiler
                stand_in.write_text(
                    _STAND_IN.format(
                        python=sys.executable, log=str(log), path=os.environ.get("PATH", os.defpath)
                    )
                )
                stand_in.chmod(0o700)
        yield RecordedCommands(tools, log)

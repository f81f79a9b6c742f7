"""How the compilers are called while a build runs: stand-ins for them note it, then are them."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_COMPILERS = ("cc", "gcc", "clang", "c99", "c89", "c++", "g++", "clang++", "tcc")
_STAND_IN = """#!/bin/sh
printf '%s\\0' "$#" "$PWD" {name} "$@" >> {folder}/$$
PATH={path}
export PATH
exec {name} "$@"
"""
"""A shell, as a `configure` calls compilers a hundred times. Each process has a file of its own:
what several write into one could come apart."""


@dataclass(frozen=True, slots=True)
class RecordedCommands:
    """Where the stand-ins are, and what they note."""

    tools: Path
    """A folder that is to be the first of `PATH`."""
    log: Path
    """A folder of files with how many arguments a command has, where it runs, its name and these,
    each followed by a zero."""

    @property
    def path(self) -> str:
        """Return the `PATH` of a build that is recorded."""
        return f"{self.tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}"

    def entries(self) -> list[dict[str, Any]]:
        """Return what was called so far, in the form of a compilation database: what compiles
        before what links."""
        found: list[dict[str, Any]] = []
        for path in sorted(self.log.iterdir()):
            parts = iter(os.fsdecode(path.read_bytes()).split("\0"))
            for count in parts:
                if not count:
                    break
                directory, name = next(parts), next(parts)
                arguments = [next(parts) for _ in range(int(count))]
                found.append({"directory": directory, "arguments": [name, *arguments]})
        return sorted(found, key=lambda entry: "-c" not in entry["arguments"])


@contextlib.contextmanager
def record_commands() -> Iterator[RecordedCommands]:
    """Make stand-ins for the compilers that are installed, for as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix="jc2r-") as name:
        tools, log = Path(name, "tools"), Path(name, "log")
        tools.mkdir()
        log.mkdir()
        for compiler in _COMPILERS:
            if shutil.which(compiler) is not None:
                stand_in = tools / compiler
                stand_in.write_text(
                    _STAND_IN.format(
                        name=compiler,
                        folder=shlex.quote(str(log)),
                        path=shlex.quote(os.environ.get("PATH", os.defpath)),
                    )
                )
                stand_in.chmod(0o700)
        yield RecordedCommands(tools, log)

"""What a sandbox is: a place where a script runs on a copy of the workspace.

Nothing it does is seen by the user's files. What it changed in the copy comes back as
`FileChange`s, for somebody to look at.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.edits.file_change import FileChange
from jarvis_ls.runtime.sandbox.held import HeldFolders

Rung = Literal["engine", "bwrap", "landlock", "none"]
Output = Callable[[str], None]
"""Told of all output as it comes."""


class NoSandbox(JarvisError):
    """No rung of the ladder holds on this machine; the text says why of each."""


@dataclass(frozen=True, slots=True)
class Script:
    """Something to run."""

    interpreter: str
    """Name of a program, such as `bash`."""
    text: str
    timeout: float
    """Seconds until all of it is ended."""
    network: bool = False
    """Whether it may open connections."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables it gets beside the few every script has."""
    session: str = ""
    """Whose copies and builds it continues with; those of no one in particular when empty."""
    stop: asyncio.Event | None = None
    """When it is set, all of it is ended; what it did until then counts."""
    readable: tuple[str, ...] = ()
    """More folders of this machine that it may read."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a script."""

    exit: int | None
    """Its exit status; None when it was ended."""
    output: str
    """What it printed, standard output and errors in order, the middle left out when long."""
    ended: str
    """Why it was ended before it was done, in words; empty otherwise."""
    seconds: float
    isolation: str
    """Rung it ran on, and how the copy was made."""
    changes: tuple[FileChange, ...] = ()
    """What it changed in the copy."""
    built: tuple[str, ...] = ()
    """What builds have made for the first time; it stays in the sandbox for the next script."""
    left_out: tuple[str, ...] = ()
    """Sentences on changes that cannot be carried over."""


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """What the user says about sandboxes; a workspace cannot."""

    isolation: Literal["best", "none"] = "best"
    """`none`: scripts run on a plain copy, kept in by nothing, where no rung holds or the user
    wants none. Only in a trusted workspace."""
    rungs: tuple[Rung, ...] = ("engine", "bwrap", "landlock")
    """Which are tried, best first."""
    image: str = ""
    """Image of a container engine; empty: the programs of this machine, in an empty image."""
    readable: tuple[str, ...] = ()
    """More folders and files of this machine that scripts may read."""
    environment: tuple[str, ...] = ()
    """Names of variables that scripts get; secrets do not belong here."""
    memory: int = 4_000_000_000
    """Bytes all processes of a script may use together."""
    processes: int = 1024
    """How many processes a script may have."""
    written_bytes: int = 8_000_000_000
    """Bytes that all files together may hold that a script and those before it have left."""
    written_files: int = 500_000
    """How many these files may be."""
    file_bytes: int = 4_000_000_000
    """Size of the largest file a script may write."""
    copy_bytes: int = 2_000_000_000
    """Largest workspace that is copied where no overlay is possible."""
    copy_files: int = 100_000
    """Most files that are copied."""


class Sandbox(ABC):
    """One rung, proven to hold."""

    name: Rung
    builds = True
    """Whether what is compiled inside can be run there, as its proof has shown."""

    def __init__(self) -> None:
        self.kept = HeldFolders()
        """What sessions keep from one script to the next."""

    @abstractmethod
    async def run(self, script: Script, roots: Sequence[Path], output: Output | None = None) -> Ran:
        """Run a script on a copy of the roots, in the first of them.

        Whatever ends this (time, cancelling, an error) ends every process of the script first.
        Raises `JarvisError` when it could not be started.
        """

    @abstractmethod
    async def prepare(self, roots: Sequence[Path], session: str) -> None:
        """Make the copies that the first script of a session needs. No script of it may run
        meanwhile: it would not find them.

        Raises `JarvisError` when they cannot be made.
        """

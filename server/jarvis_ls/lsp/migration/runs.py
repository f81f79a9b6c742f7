"""Migrations of the workspace's folders: what is known of them, and the runs that are going on.

A run is a process of its own (`jc2r.running`) that leads a process group: stopping it ends the
compilers with it. What it leaves on disk is read again when it ends and whenever files below
`.jarvis/c2rust` change, by whomever.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import from_json
from jarvis_ls.lsp.child_runs import run_child
from jarvis_ls.lsp.events import Event, spawn

if TYPE_CHECKING:
    from jarvis_ls.jc2r.run.overview import Overview
    from jarvis_ls.lsp.pygls_fixes.progress import Work
    from jarvis_ls.lsp.services import Services
    from jarvis_ls.lsp.user_messages import Messages

MODULE = "jarvis_ls.jc2r.run.process"
REWRITING = "jarvis_ls.assembly.rewriting_process"
"""It asks the user's models, so it gets their keys."""
UNTRUSTED = "Migrating C to Rust runs compilers and build scripts, so it needs a trusted workspace."

logger = logging.getLogger(__name__)


@dataclass
class Progress:
    """How far a run is."""

    stage: str = ""
    done: int = 0
    total: int = 0
    what: str = ""
    """What of it is being done, in words; empty when the counts say all."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    cancelled: bool
    result: dict[str, Any]
    """What `jc2r.running` says in the end; empty when it was stopped."""
    milliseconds: int


class Migrations:
    """One migration a folder, by the folder's path."""

    def __init__(self, server: Services) -> None:
        self._server = server
        self._known: dict[str, Overview] = {}
        self._runs: dict[str, _Run] = {}
        self._reading: dict[str, asyncio.Lock] = {}
        self.revision = 0
        """Grows with every change."""
        self.changed: Event[str] = Event("migration changed")
        """The folder about which something else is known."""
        self.progressed: Event[str] = Event("migration progressed")
        """The folder whose run has gone on, began or ended."""

    def check_trust(self) -> None:
        """Raise `UsageError` where nothing may be read or run."""
        if not self._server.trusted:
            raise UsageError(self._server.say(UNTRUSTED))

    def has(self, root: str) -> bool:
        """Return whether anything was read of a folder."""
        return root in self._known

    def known(self, root: str) -> Overview:
        """Return the overview of a folder that was read last."""
        from jarvis_ls.jc2r.run.overview import Overview

        return self._known.get(root) or Overview(Path(root))

    def progress(self, root: str) -> Progress | None:
        """Return the progress of the run in a folder; None when there is no run."""
        run = self._runs.get(root)
        return run.progress if run is not None else None

    async def read(self, root: str) -> Overview:
        """Read again what is known of a folder, and tell when it is something else."""
        from jarvis_ls.jc2r.run.overview import Overview, read_overview

        if not self._server.trusted:
            return Overview(Path(root))
        async with self._reading.setdefault(root, asyncio.Lock()):
            before = self._known.get(root)
            overview = await asyncio.to_thread(read_overview, Path(root))
            self._known[root] = overview
            if overview != before:
                self.revision += 1
                self.changed.fire(root)
        return overview

    def forget(self, root: str) -> None:
        """Drop what is kept of a folder that left the workspace."""
        self.stop(root)
        self._known.pop(root, None)
        self.changed.fire(root)

    def stop(self, root: str) -> bool:
        """End the run in a folder; False when there is none."""
        run = self._runs.get(root)
        if run is None:
            return False
        run.work.cancel()
        return True

    async def run(self, request: Any, work: Work, module: str = MODULE) -> Outcome:
        """Carry out a request in a process of its own that runs `module`; stopped when `work` is
        cancelled.

        Raises `UsageError` where there is no trust or another run continues in the folder, and
        `JarvisError` with what went wrong.
        """
        self.check_trust()
        root = request.root
        if root in self._runs:
            text = "A migration of this folder is already running. Stop it first."
            raise UsageError(self._server.say(text))
        run = self._runs[root] = _Run(work, self._server.say, lambda: self.progressed.fire(root))
        keys = self._server.model_keys if module == REWRITING else None
        started = time.monotonic()
        self.progressed.fire(root)
        try:
            result = await run.follow(request, module, keys)
        finally:
            del self._runs[root]
            self.progressed.fire(root)
            spawn(self.read(root), "read the migration")
        await self.read(root)
        milliseconds = round((time.monotonic() - started) * 1000)
        return Outcome(work.cancelled, {} if work.cancelled else result, milliseconds)

    async def close(self) -> None:
        """End all runs: what they have done is on disk."""
        for root in list(self._runs):
            self.stop(root)


class _Run:
    def __init__(self, work: Work, say: Messages, progressed: Callable[[], None]) -> None:
        self.work = work
        self._say = say
        self.progress = Progress()
        self._progressed = progressed

    async def follow(
        self, request: Any, module: str, keys: Mapping[str, str] | None
    ) -> dict[str, Any]:
        return await run_child(module, request, self.work, self._take, self._say, keys)

    def _take(self, said: dict[str, Any]) -> None:
        if "stage" in said:
            self.progress = Progress(said["stage"])
        elif "done" in said:
            what = str(from_json(said.get("what", "")))
            self.progress = Progress(self.progress.stage, said["done"], said["total"], what)
        self._progressed()

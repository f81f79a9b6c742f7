"""Repairs findings, one request after the other with what proves them, and keeps what passed until
the user accepts it.

Nothing of it is loaded before somebody asks, and nothing is written before `apply`.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.finding import Finding
from jarvis_ls.lsp.proving import Proving, open_bench

if TYPE_CHECKING:
    from jarvis_ls.jsec.repair.patch import Patch
    from jarvis_ls.jsec.repair.repair import Repair
    from jarvis_ls.jsec.repair.verdict import Gate
    from jarvis_ls.lsp.pygls_fixes.progress import Work

_MOST_KEPT = 20

Tell = Callable[[str, "Gate | None"], None]
"""Is told what is done (`proving`, `rule`, `agent`) and the gate that is tried."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A repair that waits for the user."""

    root: Path
    patch: Patch


class Repairing:
    """What is repaired, and what waits."""

    def __init__(self, proving: Proving) -> None:
        """`proving` runs the code of the workspace, one request at a time."""
        self._proving = proving
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    async def repair(
        self, root: Path, finding: Finding, work: Work, tell: Tell, keys: Mapping[str, str]
    ) -> Repair | None:
        """Return what came of repairing a finding; None when the user cancelled. `keys` are those
        of models that the editor has handed over.

        Raises `JarvisError` when nothing can be run on this machine.
        """
        loop = asyncio.get_running_loop()

        def tell_here(what: str, gate: Gate | None) -> None:
            loop.call_soon_threadsafe(tell, what, gate)

        async def job(stop: asyncio.Event) -> Repair | None:
            done = await _repair(root, finding, stop, tell_here, keys)
            return None if stop.is_set() else done

        return await self._proving.run(work, job)

    def keep(self, root: Path, patch: Patch) -> str:
        """Keep a patch that passed and return its name; of many the oldest are forgotten."""
        name = uuid.uuid4().hex
        self._kept[name] = Kept(root, patch)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return name

    def find(self, name: str) -> Kept:
        """Return a patch that waits. Raises `UsageError` when there is none of that name."""
        kept = self._kept.get(name)
        if kept is None:
            raise UsageError("This repair is no longer there. Repair the finding again.")
        return kept

    async def apply(self, name: str) -> None:
        """Write a patch, whole or not at all.

        Raises `UsageError` when a file is not what it was, `JarvisError` when it cannot be written.
        """
        from jarvis_ls.jsec.repair.patch import write_patch

        kept = self.find(name)
        await asyncio.to_thread(write_patch, kept.root, kept.patch)
        self._kept.pop(name, None)


async def _repair(
    root: Path, finding: Finding, stop: asyncio.Event, tell: Tell, keys: Mapping[str, str]
) -> Repair:
    from jarvis_ls.assembly.repairing import repair_with_models
    from jarvis_ls.jsec.repair.judge import Judge
    from jarvis_ls.jsec.repair.repair import find_evidence
    from jarvis_ls.jsec.repair.verdict import Limits
    from jarvis_ls.jsec.settings.settings import load_settings

    bench = open_bench(root)
    limits = Limits()
    settings = load_settings(root)
    judge = Judge(bench, finding, None, settings, limits, stop)
    tell("proving", None)
    evidence = await find_evidence(bench, finding, judge.budget(limits.proving))
    judge = Judge(bench, finding, evidence, settings, limits, stop)
    return await repair_with_models(judge, stop, tell, keys)

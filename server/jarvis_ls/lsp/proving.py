"""Runs the user's code to prove findings, one request after the other.

It is done on an event loop of its own in a thread: rungs read and parse files, and the editor is
answered meanwhile. Nothing of it is loaded before somebody asks.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.finding import Finding

if TYPE_CHECKING:
    from jarvis_ls.jsec.proof.evidence import Case, Evidence, Report
    from jarvis_ls.jsec.proof.toolchain import Toolchain
    from jarvis_ls.jsec.proof.workbench import Workbench
    from jarvis_ls.lsp.pygls_fixes.progress import Work

SECONDS = 10.0
"""CPU seconds for one finding, as at the command line."""
REPLAY_SECONDS = 30.0

T = TypeVar("T")
Tell = Callable[[int, str], None]
"""Is told the number of findings that are done, and the rung that is tried."""


class Proving:
    """What is run, and the way to stop it."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._stops: dict[asyncio.Future[Any], Callable[[], None]] = {}

    async def prove(
        self, root: Path, findings: Sequence[Finding], work: Work, tell: Tell
    ) -> list[Evidence]:
        """Look for evidence of findings and keep it; return that of those which were examined
        until the user cancelled.

        Raises `JarvisError` when nothing can be run on this machine.
        """
        loop = asyncio.get_running_loop()

        def tell_here(done: int, rung: str) -> None:
            loop.call_soon_threadsafe(tell, done, rung)

        async def job(stop: asyncio.Event) -> list[Evidence]:
            return await _prove_all(root, findings, stop, tell_here)

        return await self.run(work, job) or []

    async def replay(self, root: Path, evidence: Evidence, case: Case, work: Work) -> Report | None:
        """Run a case again; return what it shows, None when that is nothing any more.

        Raises `JarvisError` when it cannot be built or run.
        """

        async def job(stop: asyncio.Event) -> Report | None:
            from jarvis_ls.jsec.proof.budget import Budget
            from jarvis_ls.jsec.proof.replay import repeats

            return await repeats(open_bench(root), evidence, case, Budget(REPLAY_SECONDS, stop))

        return await self.run(work, job)

    async def close(self) -> None:
        """Stop what runs, and wait for its end."""
        for stop in list(self._stops.values()):
            stop()
        if self._stops:
            await asyncio.wait(self._stops)

    async def run(
        self, work: Work, job: Callable[[asyncio.Event], Coroutine[Any, Any, T]]
    ) -> T | None:
        """Run `job` in a thread when it is its turn; its event is set when the user cancels. None
        when they did so before."""
        await self._take_turn(work)
        if work.cancelled:
            return None
        loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        ended = False

        async def begin() -> T:
            event = asyncio.Event()
            loops.append((asyncio.get_running_loop(), event))
            if ended:
                event.set()
            return await job(event)

        def stop() -> None:
            nonlocal ended
            ended = True
            for loop, event in loops:
                with contextlib.suppress(RuntimeError):  # it has just ended by itself
                    loop.call_soon_threadsafe(event.set)

        work.on_cancel(stop)
        running = asyncio.ensure_future(asyncio.to_thread(asyncio.run, begin()))
        self._stops[running] = stop
        running.add_done_callback(self._end)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:  # the request was taken back
            stop()
            raise

    async def _take_turn(self, work: Work) -> None:
        """Wait for what others have asked for, unless the user cancels: then it is no one's."""
        turn = asyncio.ensure_future(self._turn.acquire())
        stopped = asyncio.ensure_future(work.stopped())
        try:
            await asyncio.wait({turn, stopped}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._give_up(turn)
            raise
        finally:
            stopped.cancel()
        if work.cancelled:
            self._give_up(turn)

    def _give_up(self, turn: asyncio.Future[Any]) -> None:
        if turn.done():
            self._turn.release()
        else:
            turn.cancel()

    def _end(self, running: asyncio.Future[Any]) -> None:
        del self._stops[running]
        self._turn.release()
        if not running.cancelled():
            running.exception()  # told to who asked, if anybody still waits


async def _prove_all(
    root: Path, findings: Sequence[Finding], stop: asyncio.Event, tell: Tell
) -> list[Evidence]:
    from jarvis_ls.jsec.proof.budget import Budget
    from jarvis_ls.jsec.proof.evidence_store import EvidenceStore
    from jarvis_ls.jsec.proof.ladder import prove
    from jarvis_ls.jsec.proof.rungs.registry import RUNGS

    bench = open_bench(root)
    store = EvidenceStore(root)
    kept: list[Evidence] = []
    for done, finding in enumerate(findings):
        budget = Budget(SECONDS, stop)
        found = await prove(finding, bench, budget, RUNGS, partial(tell, done))
        if stop.is_set():
            break
        store.add(found)
        kept.append(found)
    return kept


def open_bench(root: Path) -> Workbench:
    """Return what code is run with. Raises `UsageError` when this machine has no compiler."""
    from jarvis_ls.assembly.sandbox import read_ladder
    from jarvis_ls.jsec.proof.workbench import Workbench

    return Workbench(root, read_ladder(), _toolchain())


def _toolchain() -> Toolchain:
    from jarvis_ls.jsec.proof.rungs.registry import RUNGS
    from jarvis_ls.jsec.proof.toolchain import find_toolchain

    tools = find_toolchain()
    reasons = [rung.missing(tools) for rung in RUNGS]
    if all(reasons):
        find_toolchain.cache_clear()  # the user may install what is missing
        raise UsageError(reasons[0])
    return tools

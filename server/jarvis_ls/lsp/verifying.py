"""Lets agents verify a finding: the pipeline of `jsec agent` for it alone, one request after the
other with what proves and repairs.

Nothing of it is loaded before somebody asks.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.finding import Finding
from jarvis_ls.lsp.proving import Proving

if TYPE_CHECKING:
    from jarvis_ls.assembly.bootstrap import Assembly
    from jarvis_ls.jsec.pipeline.agent_port import Role
    from jarvis_ls.jsec.pipeline.desk import Progress
    from jarvis_ls.jsec.scan.result import ScanResult
    from jarvis_ls.lsp.pygls_fixes.progress import Work

Tell = Callable[["Role | None"], None]
"""Is told the stage that begins; None while the folder is scanned."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of it."""

    finding: Finding
    """With what agents concluded; without a conclusion when they did not come to one."""
    problems: tuple[str, ...] = ()
    """Why they did not, in words."""
    lacking: str = ""
    """Why no model can be asked and what to set, in words; empty when one can."""


class Verifying:
    """What is verified."""

    def __init__(self, proving: Proving) -> None:
        """`proving` runs the code of the workspace, one request at a time."""
        self._proving = proving

    async def verify(
        self, root: Path, finding: Finding, work: Work, tell: Tell, keys: Mapping[str, str]
    ) -> Verification | None:
        """Return what agents concluded of a finding; None when the user cancelled. `keys` are those
        of models that the editor has handed over.

        Raises `UsageError` when the finding is not in the files on disk, and `JarvisError`.
        """
        loop = asyncio.get_running_loop()

        def tell_here(stage: Role | None) -> None:
            loop.call_soon_threadsafe(tell, stage)

        async def job(stop: asyncio.Event) -> Verification | None:
            verifying = asyncio.ensure_future(_verify(root, finding, tell_here, keys))
            stopping = asyncio.ensure_future(stop.wait())
            try:
                await asyncio.wait({verifying, stopping}, return_when=asyncio.FIRST_COMPLETED)
                return await verifying if verifying.done() else None
            finally:
                for waiting in (verifying, stopping):
                    waiting.cancel()
                    with contextlib.suppress(asyncio.CancelledError, JarvisError):
                        await waiting

        return await self._proving.run(work, job)


async def _verify(
    root: Path, finding: Finding, tell: Tell, keys: Mapping[str, str]
) -> Verification:
    from jarvis_ls.assembly.security_agents import AgentsWanted, missing_model
    from jarvis_ls.assembly.security_run import RunWanted, verify_scan
    from jarvis_ls.assembly.shared import SharedState
    from jarvis_ls.core.files import user_folder
    from jarvis_ls.jsec.pipeline.desk import Plan
    from jarvis_ls.runtime.base.events import Feed
    from jarvis_ls.runtime.tools.interaction import NonInteractive

    environment = {**os.environ, **keys}
    lacking = missing_model(SharedState(user_folder(), environment, {}, Feed()), "")
    if lacking:
        return Verification(finding, lacking=lacking)
    tell(None)
    result = await _scan(root)
    own = next((f for f in result.findings if f.gid and f.fingerprint == finding.fingerprint), None)
    if own is None:
        raise UsageError("The files on disk do not have this finding. Save them first.")

    def begin() -> Assembly:
        from jarvis_ls.assembly.bootstrap import build

        return build(environment=environment)

    def tell_stage(progress: Progress) -> None:
        tell(progress.stage)

    wanted = RunWanted(AgentsWanted(root, trusted=True), Plan(only=frozenset({own.gid})))
    verified = await verify_scan(begin, wanted, result, NonInteractive(), tell_stage)
    found = next(item for item in verified.findings if item.gid == own.gid)
    problems = [*verified.problems, *([verified.left.halted] if verified.left.halted else [])]
    return Verification(found, tuple(dict.fromkeys(problems)))


async def _scan(root: Path) -> ScanResult:
    """Scan a folder as the command line does it, and keep the records that agents work from."""
    from jarvis_ls.jsec.scan import records
    from jarvis_ls.jsec.scan.folder import open_cache, read_folder
    from jarvis_ls.jsec.scan.scanner import scan

    folder = read_folder(root)
    cache = open_cache(root, folder.settings)
    result = await scan(folder.listing, folder.settings, cache=cache, baseline=folder.baseline)
    records.write(root, result)
    return result

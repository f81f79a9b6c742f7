"""Evidence by execution for the fronts; loaded when it is asked for, as it needs more packages."""

from __future__ import annotations

import asyncio
from pathlib import Path

from jarvis_ls.assembly.sandbox import read_ladder
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.proof import ladder
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence
from jarvis_ls.jsec.proof.evidence_store import EvidenceStore
from jarvis_ls.jsec.proof.rungs.registry import RUNGS
from jarvis_ls.jsec.proof.toolchain import find_toolchain
from jarvis_ls.jsec.proof.workbench import Workbench


async def prove(root: Path, finding: Finding, seconds: float) -> Evidence:
    """Return what running the code shows of a finding, and keep it in the workspace.

    `seconds` of processor time are spent at most; what runs ends when the caller is cancelled.
    Raises `JarvisError` when nothing can be run on this machine.
    """
    tools = await asyncio.to_thread(find_toolchain)
    bench = Workbench(root, read_ladder(), tools)
    stop = asyncio.Event()
    try:
        found = await ladder.prove(finding, bench, Budget(seconds, stop), RUNGS)
    finally:
        stop.set()
    if any(not rung.missing(tools) for rung in RUNGS):
        await asyncio.to_thread(EvidenceStore(root).add, found)
    return found

"""A process with a tree at work, for `test_restore` to kill: `to_be_killed.py FOLDER`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from tests.agents.world import call, delegate, say, world  # noqa: E402


async def work(folder: Path) -> None:
    """Three levels; every answer takes a moment."""
    async with world(folder) as w:
        print(w.session.id, flush=True)
        w.on("root", call(delegate("a", tokens=90_000), delegate("b", tools=[])), say("end"))
        w.on("a", call(delegate("a1", type="act"), delegate("a2")), say("a", delay=0.05))
        w.on("b", say("b", delay=0.1))
        w.on("a1", say("a1", delay=0.02))
        w.on("a2", call(delegate("a3")), say("a2", delay=0.05))
        w.on("a3", say("a3", delay=0.1))
        w.tree.send("[root] go")
        await w.tree.wait("root")
        print("done", flush=True)
        await asyncio.sleep(60)


asyncio.run(work(Path(sys.argv[1])))

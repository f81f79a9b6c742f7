"""Two calls that stop the same turn at the same time: both return when nothing of it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.runtime.base.events import ProposedEdit, ToolEntry
from jarvis_ls.runtime.tools.interaction import Review
from tests.assembly.test_conversation import entries, house


async def test_the_second_stop_waits_for_the_first(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        asked = asyncio.Event()

        async def review(node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
            asked.set()
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                await asyncio.sleep(0.05)  # a client that takes its question back
                raise
            raise AssertionError

        h.person.review = review  # type: ignore[method-assign]
        c = await h.start()
        h.server.call("rewrite_file", {"file_path": "new.txt", "content": "x"})
        await c.send("write it")
        await asyncio.wait_for(asked.wait(), 30)
        first = asyncio.create_task(c.stop())
        await asyncio.sleep(0)
        await c.stop()
        assert [entry.state for entry in entries(c, ToolEntry)] == ["cancelled"]
        assert not c.working
        await first

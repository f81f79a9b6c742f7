"""A process that is ended at any moment: the session goes on with nothing lost or doubled."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from jarvis_ls.runtime.base.events import AnswerEntry, ToolEntry, UserEntry
from jarvis_ls.runtime.base.messages import Assistant, ToolResult, User
from tests.assembly.test_conversation import asked, entries, house

SERVER = Path(__file__).resolve().parents[2] / "server"
PROGRAM = """\
import asyncio, os, sys
from pathlib import Path
from jarvis_ls.assembly.bootstrap import build
from jarvis_ls.runtime.tools.interaction import NonInteractive

async def main():
    assembly = build(home=Path(sys.argv[1]), environment={})
    conversation = await assembly.start(None, [Path(sys.argv[2])], NonInteractive(), trusted=True)
    print(conversation.id, flush=True)
    left = int(sys.argv[3])

    def count(event):
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)

    assembly.feed.observe(count)
    await conversation.ask("do three steps")

asyncio.run(main())
"""
STEPS = 3


@pytest.mark.parametrize("events", [1, 2, 4, 7, 12, 19, 30])
async def test_a_killed_conversation_goes_on(tmp_path: Path, events: int) -> None:
    async with house(tmp_path) as h:
        for number in range(STEPS):
            h.server.call_all([("echo", {"text": f"{number}a"}), ("echo", {"text": f"{number}b"})])
        h.server.say("Three steps done.")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            PROGRAM,
            str(h.home),
            str(h.folder),
            str(events),
            env={**os.environ, "PYTHONPATH": str(SERVER)},
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate()
        assert process.returncode in (-9, 0)
        before = len(h.server.requests)
        h.server.answers.clear()
        c = await h.start(out.decode().strip())
        assert not c.session.damage
        said = [m.text for m in c.session.messages("root") if isinstance(m, User)]
        assert said.count("do three steps") <= 1
        if before:  # the model was asked, so the words were on the disk
            assert said[0] == "do three steps"
        for entry in (*entries(c, AnswerEntry), *entries(c, ToolEntry)):
            assert not getattr(entry, "streaming", False)
            assert getattr(entry, "state", "done") not in ("asked", "running")
        h.server.say("I went on.")
        assert (await c.ask("go on")).text == "I went on."
        messages = c.session.messages("root")
        ids = [m.id for m in messages if not isinstance(m, str) and getattr(m, "id", "")]
        assert len(ids) == len(set(ids))
        calls = [call.id for m in messages if isinstance(m, Assistant) for call in m.tool_calls]
        assert sorted(calls) == sorted(m.call_id for m in messages if isinstance(m, ToolResult))
        sent = [m for m in asked(h) if m["role"] == "user" and m["content"] == "go on"]
        assert len(sent) == 1
        texts = [entry.text for entry in entries(c, UserEntry)]
        assert texts.count("go on") == 1 and texts.count("do three steps") <= 1

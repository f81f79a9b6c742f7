"""An agent whose disk is full: it says so, ends whole, and goes on once there is room."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """\
import asyncio, json, resource, signal, sys
from pathlib import Path
from jarvis_ls.runtime.base.events import NodePut
from jarvis_ls.runtime.tools.tool import tool, ToolContext
from tests.support.agents import desk

@tool()
async def fill(context: ToolContext) -> str:
    '''Fill the disk.'''
    size = (d.session.path / "journal.jsonl").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    return "filled"

async def main():
    global d
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    async with desk(Path(sys.argv[1])) as d:
        d.server.call("fill", {})
        agent = d.agent(fill)
        first = await agent.run("fill it")
        again = await agent.run("and again")
        states = [e.node.state for e in d.events if isinstance(e, NodePut)]
        notices = d.notices
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        d.server.say("There is room again.")
        last = await agent.run("and now?")
        roles = [m["role"] for m in d.asked()]
        said = [m["content"] for m in d.asked() if m["role"] == "user"]
        print(json.dumps({
            "first": [first.state, first.text], "again": [again.state, again.text],
            "states": states, "notices": notices, "last": [last.state, last.text],
            "roles": roles, "said": said, "working": agent.working,
        }))

asyncio.run(main())
"""


def test_a_full_disk_ends_the_turn_in_words_and_the_next_one_works(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    for which in ("first", "again"):
        state, text = told[which]
        assert state == "failed" and "write" in text and "Traceback" not in text
    assert told["states"][-1] == "failed" and not told["working"]
    assert "write" in told["notices"]
    assert told["last"] == ["completed", "There is room again."]
    roles = told["roles"]
    assert roles.count("assistant") == roles.count("tool") == 1
    assert roles.index("tool") == roles.index("assistant") + 1
    assert told["said"][0] == "fill it" and told["said"].count("and now?") == 1

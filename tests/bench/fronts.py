"""One tree behind every front: `python tests/bench/fronts.py`.

A tree of 200 agents whose states change, with the panel, an editor that speaks ACP and the lines
of `--json` attached at once: how long until all three show the same. Then, with the official
clients on the other side, how soon `jarvis mcp` and `jarvis acp` start, and how soon a call is
cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

import acp  # noqa: E402
from acp import schema  # noqa: E402
from mcp import Client, StdioServerParameters  # noqa: E402

from jarvis_ls.agents.tree import Tree  # noqa: E402
from jarvis_ls.cli.event_lines import EventLines  # noqa: E402
from jarvis_ls.facade.session_updates import Updates  # noqa: E402
from jarvis_ls.fronts.acp_client import EditorClient  # noqa: E402
from jarvis_ls.lsp.analysis_worker import AnalysisWorker  # noqa: E402
from jarvis_ls.lsp.panel.bridge import Panel  # noqa: E402
from jarvis_ls.lsp.start import make_server  # noqa: E402
from jarvis_ls.runtime.session.store import SessionStore  # noqa: E402
from tests.agents.test_tree import Puppet  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.bench.tree import LARGE, grown  # noqa: E402
from tests.cli.test_jarvis_command import SETTINGS  # noqa: E402
from tests.fronts.test_acp_agent import Editor  # noqa: E402
from tests.support.model_server import ModelServer  # noqa: E402

ROUNDS, STARTS, CANCELS = 50, 5, 5
PATIENCE = 20.0
JARVIS = str(Path(sys.executable).with_name("jarvis"))
FLAWED = "#include <string.h>\nvoid f{0}(char *s) {{ char b[8]; strcpy(b, s); }}\n"


def main() -> int:
    """Measure, print the table, return 1 when a target is missed."""
    table = Table("One core behind every front")
    with tempfile.TemporaryDirectory() as folder:
        took = asyncio.run(same_state(Path(folder)))
    table.at_most("200 agents, three fronts: the same shown, longest", 1000 * max(took), 100, "ms")
    table.note("the same, median", 1000 * statistics.median(took), "ms")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(mcp_front(table, Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(acp_front(table, Path(folder)))
    return table.finish()


# One tree -----------------------------------------------------------------------------------------


class PanelSink:
    """The panel's page: the states it was told over LSP."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        self._data = bytearray()

    def write(self, data: bytes) -> None:
        self._data += data
        while (head := self._data.find(b"\r\n\r\n")) >= 0:
            length = int(bytes(self._data[:head]).lower().split(b"content-length:")[1].split()[0])
            end = head + 4 + length
            if len(self._data) < end:
                return
            message = json.loads(self._data[head + 4 : end])
            del self._data[:end]
            for event in (message.get("params") or {}).get("events", ()):
                if event["kind"] == "node_put":
                    self.states[event["node"]["id"]] = event["node"]["state"]


class EditorSink:
    """An editor: the states in the tree of `_meta`."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}

    async def session_update(self, _session: str, update: Any) -> None:
        sent = json.loads(update.model_dump_json(by_alias=True, exclude_none=True))
        tree = (sent.get("_meta") or {}).get("_jarvis/tree")
        if tree is not None:
            self.states = {node["id"]: node["state"] for node in tree}


class LinesSink(io.StringIO):
    """Who reads the lines of `--json`."""

    def __init__(self) -> None:
        super().__init__()
        self.states: dict[str, str] = {}

    def write(self, text: str) -> int:
        for line in text.splitlines():
            record = json.loads(line)
            if record["type"] == "node":
                self.states[record["node"]] = record["state"]
        return len(text)


async def same_state(folder: Path) -> list[float]:
    """Change the state of 20 agents, again and again; return how long until all fronts show it."""
    server = make_server(AnalysisWorker())
    page, editor, lines = PanelSink(), EditorSink(), LinesSink()
    server.protocol.writer = page
    bridge = Panel(server, {})
    session = SessionStore(folder).create(folder)
    bridge._shown = session.id
    feed = bridge._assembly.feed
    client = EditorClient()
    client.connect(editor)
    updates = Updates(session.id, [folder], dict, lambda sent: client.send(session.id, sent))
    written = EventLines(lines)
    feed.observe(updates.observe)
    feed.observe(written.show)
    tree = Tree(session, feed, lambda _: Puppet(), settings=LARGE)
    nodes = grown(tree)
    took = []
    for step in range(ROUNDS):
        began = time.perf_counter()
        for node in nodes[step % 10 :: 10]:
            node.to("paused" if node.state == "running" else "running")
        wanted = {node.id: node.state for node in nodes}
        while not all(wanted.items() <= each.states.items() for each in (page, editor, lines)):
            assert time.perf_counter() - began < PATIENCE, "the fronts differ"
            await asyncio.sleep(0.001)
        took.append(time.perf_counter() - began)
    await tree.close()
    await client.close()
    await bridge.close()
    session.close()
    return took[1:]  # the first shows 200 agents that nobody knew


# Starting and cancelling --------------------------------------------------------------------------


async def mcp_front(table: Table, folder: Path) -> None:
    """`jarvis mcp`, with the client of the official SDK."""
    project, environment = place(folder)
    for number in range(400):
        text = "".join(FLAWED.format(f"{number}_{copy}") for copy in range(40))
        (project / f"part{number}.c").write_text(text)
    server = StdioServerParameters(command=JARVIS, args=["mcp", str(project)], env=environment)
    started = []
    for _ in range(STARTS):
        began = time.perf_counter()
        async with Client(server, read_timeout_seconds=PATIENCE) as client:
            await client.list_tools()
            started.append(time.perf_counter() - began)
    table.at_most(
        "jarvis mcp: started and tools listed, median", statistics.median(started), 1, "s"
    )
    cancelled = []
    async with Client(server, read_timeout_seconds=120) as client:
        await client.call_tool("rules", {"words": "CWE-415"})
        for _ in range(CANCELS):
            call = asyncio.ensure_future(client.call_tool("scan", {}))
            await asyncio.sleep(0.3)
            assert not call.done()
            began = time.perf_counter()
            call.cancel()
            await asyncio.wait({call})
            await client.call_tool("explain_rule", {"rule": "double-free"})
            cancelled.append(time.perf_counter() - began)
    longest = 1000 * max(cancelled)
    table.at_most("jarvis mcp: scan cancelled, the next call answered, longest", longest, 50, "ms")


async def acp_front(table: Table, folder: Path) -> None:
    """`jarvis acp`, with the client of the official SDK."""
    project, environment = place(folder)
    async with ModelServer() as model:
        home = Path(environment["JARVIS_HOME"])
        home.mkdir()
        (home / "config.toml").write_text(SETTINGS.format(url=model.url))
        environment |= {"SCRIPTED_KEY": "sk-1"}
        started = []
        for _ in range(STARTS):
            began = time.perf_counter()
            async with acp_agent(project, environment):
                started.append(time.perf_counter() - began)
        median = statistics.median(started)
        table.at_most("jarvis acp: started and initialized, median", median, 1, "s")
        cancelled = []
        async with acp_agent(project, environment) as (agent, editor):
            opened = await agent.new_session(cwd=str(project), mcp_servers=[])
            for _ in range(CANCELS):
                model.say("A long answer that never ends.", stall_after=2)
                before = len(editor.said())
                prompt = [acp.text_block("Tell me")]
                turn = asyncio.ensure_future(
                    agent.prompt(session_id=opened.session_id, prompt=prompt)
                )
                while len(editor.said()) == before:
                    await asyncio.sleep(0.005)
                began = time.perf_counter()
                await agent.cancel(session_id=opened.session_id)
                assert (await turn).stop_reason == "cancelled"
                cancelled.append(time.perf_counter() - began)
    table.at_most("jarvis acp: a turn cancelled, longest", 1000 * max(cancelled), 50, "ms")


@contextlib.asynccontextmanager
async def acp_agent(
    project: Path, environment: dict[str, str]
) -> AsyncIterator[tuple[Any, Editor]]:
    """An agent that is initialized, and its editor."""
    editor = Editor()
    async with acp.spawn_agent_process(
        editor, JARVIS, "acp", "--trust", env=environment, cwd=project, use_unstable_protocol=True
    ) as (agent, _):
        await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION, client_capabilities=schema.ClientCapabilities()
        )
        yield agent, editor


def place(folder: Path) -> tuple[Path, dict[str, str]]:
    """A project and an environment with a home of its own."""
    project = folder / "project"
    project.mkdir()
    home = folder / "home"
    return project, {**os.environ, "HOME": str(folder), "JARVIS_HOME": str(home)}


if __name__ == "__main__":
    sys.exit(main())

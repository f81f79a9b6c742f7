"""What a large tree of agents costs: `python tests/bench/tree.py`.

200 nodes that say something of themselves ten times a second, the end of 200 agents of which half
run a tool and half are in the middle of a stream over HTTP, a session of 200 nodes that is opened
again, and what the tree itself adds to a task that is given to a child.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from jarvis_ls.agents.node import Assignment, Node, TreeSettings  # noqa: E402
from jarvis_ls.agents.tree import Tree  # noqa: E402
from jarvis_ls.runtime.base.events import Event, Feed, NodePut  # noqa: E402
from jarvis_ls.runtime.base.messages import Usage  # noqa: E402
from jarvis_ls.runtime.session.store import SessionStore  # noqa: E402
from jarvis_ls.runtime.tools.tool import ToolContext, tool  # noqa: E402
from tests.agents.test_tree import End, Puppet  # noqa: E402
from tests.agents.world import call, say, until, world  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402

NODES, UPDATES, SECONDS = 200, 10, 3.0
LARGE = TreeSettings(depth=8, children=200, nodes=400, parallel=400)


def main() -> int:
    """Measure, print the table, return 1 when a target is missed."""
    table = Table("What a large tree of agents costs")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(updates(table, Path(folder)))
        asyncio.run(again(table, Path(folder)))
        asyncio.run(tasks(table, Path(folder)))
    for agents in (50, NODES):
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(end(table, Path(folder), agents))
    return table.finish()


async def updates(table: Table, folder: Path) -> None:
    """Every node changes its activity and spends, `UPDATES` times a second."""
    session = SessionStore(folder).create(folder)
    feed = Feed()
    seen: list[Event] = []
    feed.observe(seen.append)
    tree = Tree(session, feed, lambda _: Puppet(), settings=LARGE)
    nodes = grown(tree)
    seen.clear()
    blocked = [0.0]
    watching = asyncio.ensure_future(watch(blocked))
    cpu, began, round_ = time.process_time(), time.perf_counter(), 0
    while (now := time.perf_counter() - began) < SECONDS:
        if now * UPDATES < round_:
            await asyncio.sleep(round_ / UPDATES - now)
            continue
        round_ += 1
        for number, node in enumerate(nodes):
            node.show(activity=f"step {round_}", rounds=round_, progress=round_ / 100)
            if number % UPDATES == round_ % UPDATES:  # each answers once a second
                usage = Usage(1000, 100, cost=0.001)
                node.spend(usage)
                session.spend(node.id, usage)
            if number % 20 == 0:
                await asyncio.sleep(0)
    took = time.perf_counter() - began
    cpu = time.process_time() - cpu
    watching.cancel()
    table.note("nodes that change ten times a second", len(nodes))
    table.note("events of nodes a second", sum(isinstance(e, NodePut) for e in seen) / took)
    table.at_most("processor", 100 * cpu / took, 50, "%")
    table.at_most("longest turn of the loop, processor time", 1000 * max(blocked), 50, "ms")
    await tree.close()
    session.close()


async def again(table: Table, folder: Path) -> None:
    """The session is opened again."""
    store = SessionStore(folder)
    name = store.list()[0].id
    began = time.process_time()
    session = store.open(name)
    tree = Tree(session, Feed(), lambda _: Puppet(), settings=LARGE)
    took = time.process_time() - began
    assert len(tree) == NODES + 1
    table.at_most("a session of 200 nodes opened again, processor time", 1000 * took, 300, "ms")
    await tree.close()
    session.close()


async def tasks(table: Table, folder: Path) -> None:
    """A child is added, works, reports and is removed."""
    session = SessionStore(folder).create(folder)
    made: dict[str, Puppet] = {}
    tree = Tree(session, Feed(), lambda node: made.setdefault(node.id, Puppet()), settings=LARGE)
    times = []
    for _ in range(100):
        began = time.perf_counter()
        child = tree.add("root", Assignment("Do it."))
        tree.start(child.id)
        waiting = asyncio.ensure_future(tree.result(child.id))
        while not child.at_work:
            await asyncio.sleep(0)
        made[child.id].ends.put_nowait(End("done", "completed"))
        assert (await waiting).text == "done"
        await tree.remove(child.id)
        times.append(time.perf_counter() - began)
    table.at_most("what the tree adds to a task, median", 1000 * statistics.median(times), 5, "ms")
    await tree.close()
    session.close()


async def end(table: Table, folder: Path, agents: int) -> None:
    """All agents are ended at once: half in a tool, half in the middle of a stream."""
    sleeping = 0

    @tool(independent=True)
    async def sleep_tool(context: ToolContext) -> str:
        """Sleep."""
        nonlocal sleeping
        sleeping += 1
        await asyncio.sleep(600)
        return ""

    async with world(folder, tools=[sleep_tool], settings=LARGE) as w:
        nodes = [
            w.tree.add("root", Assignment(f"[n{number}] go", title=f"n{number}"))
            for number in range(agents)
        ]
        streams = []
        for number, node in enumerate(nodes):
            if number % 2:
                w.on(f"n{number}", call(("sleep_tool", {})))
            else:
                answer = say("x", delay=0.5)
                answer.chunks[:1] = answer.chunks[:1] * 1000
                w.on(f"n{number}", answer)
                streams.append(node.id)
            w.tree.start(node.id)
        await until(lambda: sleeping == agents // 2 and streaming(w.events, streams), 120)
        told: dict[str, float] = {}
        began, worked = time.perf_counter(), time.process_time()
        w.feed.observe(
            lambda e: (
                told.setdefault(e.node.id, time.process_time())
                if isinstance(e, NodePut) and e.node.state == "cancelled"
                else None
            )
        )
        ended = await w.tree.cancel("root")
        silent = time.perf_counter() - began
        assert len(ended) == len(told) == agents, (len(ended), len(told))
        assert not w.tree.working
    took = 1000 * (max(told.values()) - worked)
    table.at_most(f"{agents} agents told to end, processor time", took, 200, "ms")
    what = f"{agents} agents at their end, half of them streams over HTTP"
    if agents < NODES:
        table.at_most(what, 1000 * silent, 200, "ms")
    else:
        table.note(what, 1000 * silent, "ms")


def streaming(events: list[Event], nodes: list[str]) -> bool:
    """Whether an answer streams at each of the nodes."""
    grown = {e.node for e in events if e.kind == "entry_grew"}
    return grown >= set(nodes)


def grown(tree: Tree) -> list[Node]:
    """Nodes on several levels, all at work."""
    nodes = [tree.root]
    while len(tree) <= NODES:
        parent = nodes[(len(nodes) - 1) // 4]
        node = tree.add(parent.id, Assignment("Do it."))
        node.to("running")
        nodes.append(node)
    return nodes[1:]


async def watch(blocked: list[float]) -> None:
    """Processor time between two turns of the loop: what it is blocked for, whoever else works
    on this machine."""
    while True:
        began = time.process_time()
        await asyncio.sleep(0)
        blocked.append(time.process_time() - began)
        await asyncio.sleep(0.002)


if __name__ == "__main__":
    sys.exit(main())

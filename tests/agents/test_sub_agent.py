"""Agents that create agents, over real HTTP."""

from __future__ import annotations

from pathlib import Path

from jarvis_ls.runtime.events import EntryPut, ToolEntry
from jarvis_ls.runtime.messages import ToolResult
from tests.agents.world import call, delegate, near, say, world


async def test_a_child_reports_to_its_parent(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a")), say("a says: found"))
        w.on("a", say("found it in main.c"))
        w.tree.send("[root] look for it")
        ending = await w.tree.wait("root")
        assert (ending.state, ending.text) == ("completed", "a says: found")
        child = w.child("a")
        assert w.states(child.id) == ["created", "running", "completed"]
        results = [m for m in w.session.messages("root") if isinstance(m, ToolResult)]
        assert [r.text for r in results] == ["found it in main.c"]
        entries = [e.entry for e in w.events if isinstance(e, EntryPut)]
        tools = [e for e in entries if isinstance(e, ToolEntry) and e.name == "sub_agent"]
        assert tools[-1].child == child.id
        assert w.tree.root.info.subtree == w.reported
        assert w.session.spent() == w.reported


async def test_three_levels_and_parallel_siblings(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a"), delegate("b"), delegate("c")), say("all"))
        w.on("a", call(delegate("a1", type="act"), delegate("a2")), say("a done"))
        for name in ("b", "c", "a1", "a2"):
            w.on(name, say(f"{name} done", delay=0.05))
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "all"
        assert [n.info.title for n in w.tree.walk()] == ["Jarvis", "a", "b", "c", "a1", "a2"]
        assert w.child("a1").info.group == "act"
        assert w.child("a2").info.group == "balanced"
        assert w.child("a").info.subtree.input == 4 * 11
        results = [m.text for m in w.session.messages("root") if isinstance(m, ToolResult)]
        assert results == ["a done", "b done", "c done"]
        assert w.tree.root.info.subtree == near(w.reported)

"""Agents that create agents, over real HTTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jarvis_ls.agents.node import Assignment
from jarvis_ls.runtime.base.events import EntryPut, ToolEntry
from jarvis_ls.runtime.base.messages import ToolResult
from tests.agents.world import call, delegate, near, say, world
from tests.support.model_server import Answer


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


async def test_a_parent_looks_after_what_works_in_the_background(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        endless = say("x", delay=0.02)
        endless.chunks[:1] = endless.chunks[:1] * 10_000

        def steer(action: str, **more: str) -> Callable[[], Answer]:
            def answer() -> Answer:
                arguments = {"agent": w.child("a").id, "action": action, **more}
                return call(("steer_agent", arguments))

            return answer

        w.on("root", call(delegate("a", wait=False)))
        w.on("root", steer("look"), steer("pause"), steer("resume"))
        w.on("root", steer("instruct", text="Be brief."), steer("instruct"))
        w.on("root", steer("cancel"), steer("look"), steer("resume"), say("end"))
        w.on("a", endless, endless)
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "end"
        assert w.child("a").state == "cancelled"
        told = [m.text for m in w.session.messages("root") if isinstance(m, ToolResult)]
        assert "works in the background" in told[0]
        assert '"state": "' in told[1] and '"rounds"' in told[1]
        assert [t.split(" is ")[-1] for t in told[2:5]] == ["paused.", "running.", "running."]
        assert "State in `text`" in told[5]
        assert told[6] == "“a” is cancelled."
        assert '"state": "cancelled"' in told[7]
        assert told[8] == "“a” is cancelled already."
        assert "Be brief." in str(w.asked_by("a")[-1].body["messages"])


async def test_nobody_steers_the_agents_of_others(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        other = w.tree.add("root", Assignment("[b] x", title="b"))
        w.on("b", say("b done", delay=0.5))
        w.on("root", call(delegate("a")), say("end"), say("end"))
        tried = [(other.id, "cancel"), ("root", "pause"), ("nobody", "look")]
        calls = [("steer_agent", {"agent": id, "action": action}) for id, action in tried]
        w.on("a", call(*calls), say("no"))
        w.tree.start(other.id)
        w.tree.send("[root] go")
        ending = await w.tree.wait("root")
        assert (ending.text, ending.error) == ("end", "")
        told = [m for m in w.session.messages(w.child("a").id) if isinstance(m, ToolResult)]
        assert [m.is_error for m in told] == [True] * 3
        assert "not parent and child" in told[0].text
        assert "goes from parent to child" in told[1].text
        assert "no agent 'nobody'" in told[2].text
        assert len(w.tree.bus.dead_letters) == 2
        assert (await w.tree.wait(other.id)).text == "b done"

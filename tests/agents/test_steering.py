"""Pause, resume, redirect, cancel, retry: on real agents in the middle of real streams."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from jarvis_ls.agents.envelopes import (
    Cancel,
    Command,
    Pause,
    RequestReport,
    Resume,
    UpdateParameters,
)
from jarvis_ls.agents.errors import NoSuchNode, TreeError
from jarvis_ls.agents.node import Assignment, TreeSettings
from jarvis_ls.runtime.base.events import Budget, EntryGrew, EntryPut, NodePut, UserEntry
from jarvis_ls.runtime.base.messages import Assistant, ToolResult
from jarvis_ls.runtime.tools.tool import Tool, ToolContext, tool
from tests.agents.world import World, call, delegate, near, say, until, world
from tests.support.model_server import Answer, Asked
from tests.support.patience import HANGS


def grown(w: World, node: str) -> str:
    """What was streamed at a node."""
    return "".join(e.text for e in w.events if isinstance(e, EntryGrew) and e.node == node)


def slow(text: str, **how: float) -> object:
    """An answer that takes its time."""
    answer = say(text, **how)
    pieces = answer.chunks[:1] * 40
    answer.chunks[:1] = pieces
    answer.delay = 0.02
    return answer


def sleeping(started: list[str], ended: list[str]) -> Tool:
    @tool(independent=True)
    async def sleep_tool(context: ToolContext) -> str:
        """Sleep."""
        started.append(context.node)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(context.node)
        return "slept"

    return sleep_tool


async def test_pause_in_the_middle_of_a_stream(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a")), say("end"))
        w.on("a", slow("x"))
        w.tree.send("[root] go")
        await until(lambda: len(w.tree) == 2 and "x" in grown(w, w.child("a").id))
        child = w.child("a")
        assert w.tree.pause(child.id) == [child.id]
        assert w.tree.pause(child.id) == []
        assert (child.state, w.tree.root.state) == ("paused", "running")
        await until(lambda: w.server.dropped == 0 and child.info.usage.output > 0)
        await asyncio.sleep(0.1)  # the stream has ended; the node must not end before it goes on
        assert child.state == "paused"
        assert w.tree.resume(child.id) == [child.id]
        assert (await w.tree.wait("root")).text == "end"
        assert w.states(child.id) == ["created", "running", "paused", "running", "completed"]


async def test_pause_and_resume_a_subtree(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a"), delegate("b")), say("end"))
        w.on("a", call(delegate("a1")), say("a"))
        w.on("a1", slow("x"), say("never"))
        w.on("b", slow("y"))
        w.tree.send("[root] go")
        await until(lambda: len(w.tree) == 4 and "x" in grown(w, w.child("a1").id))
        a, a1, b = w.child("a"), w.child("a1"), w.child("b")
        assert set(w.tree.pause(a.id)) == {a.id, a1.id}
        assert (a.state, a1.state) == ("paused", "paused")
        await until(lambda: b.state == "completed")
        assert (a.state, a1.state) == ("paused", "paused")
        assert set(w.tree.resume(a.id)) == {a.id, a1.id}
        assert (await w.tree.wait("root")).state == "completed"


async def test_what_has_not_begun_waits_for_resume(tmp_path: Path) -> None:
    async with world(tmp_path, settings=TreeSettings(parallel=1)) as w:
        w.on("root", call(delegate("a"), delegate("b")), say("end"))
        w.on("a", slow("x"))
        w.on("b", say("y"))
        w.tree.send("[root] go")
        await until(lambda: len(w.tree) == 3 and "x" in grown(w, w.child("a").id))
        b = w.child("b")
        assert b.state == "created"  # one at a time
        assert w.tree.pause(b.id) == [b.id]
        await until(lambda: w.child("a").state == "completed")
        await asyncio.sleep(0.05)
        assert b.state == "created"
        w.tree.resume(b.id)
        assert (await w.tree.wait("root")).text == "end"


async def test_redirect_leaves_the_step_and_keeps_the_children(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a")), say("noted"), say("both"))
        w.on("a", slow("x"))
        w.tree.send("[root] go")
        await until(lambda: len(w.tree) == 2 and "x" in grown(w, w.child("a").id))
        w.tree.redirect("root", "Do something else first.")
        assert (await w.tree.wait("root")).text == "both"
        assert w.child("a").state == "completed"
        told = str(w.asked_by("root")[-1].body["messages"])
        assert "Report of the agent “a”" in told


async def test_redirect_a_child_in_the_middle_of_a_stream(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a")), say("end"))
        w.on("a", slow("x"), say("the other thing"))
        w.tree.send("[root] go")
        await until(lambda: len(w.tree) == 2 and "x" in grown(w, w.child("a").id))
        child = w.child("a")
        w.tree.pause(child.id)
        w.tree.redirect(child.id, "Do the other thing.")  # and it goes on
        assert child.state == "running"
        assert (await w.tree.wait("root")).text == "end"
        results = [m.text for m in w.session.messages("root") if isinstance(m, ToolResult)]
        assert results == ["the other thing"]


async def test_words_reach_an_agent_that_works(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", slow("x"), say("and that"))
        w.tree.send("[root] go")
        await until(lambda: "x" in grown(w, "root"))
        w.tree.send("Also do that.")
        assert (await w.tree.wait("root")).text == "and that"
        assert "Also do that." in str(w.asked_by("root")[1].body["messages"])


async def test_cancel_ends_tools_and_streams_at_once(tmp_path: Path) -> None:
    started: list[str] = []
    ended: list[str] = []
    async with world(tmp_path, tools=[sleeping(started, ended)]) as w:
        w.on("root", call(delegate("a"), delegate("b")), say("end"))
        w.on("a", call(delegate("a1"), delegate("a2")))
        w.on("a1", call(("sleep_tool", {})))
        w.on("a2", slow("x"))
        w.on("b", slow("y"))
        w.tree.send("[root] go")
        await until(lambda: bool(started) and "x" in grown(w, w.child("a2").id))
        a = w.child("a")
        ids = await asyncio.wait_for(w.tree.cancel(a.id, "Not needed."), HANGS)
        assert set(ids) == {a.id, w.child("a1").id, w.child("a2").id}
        assert ended == started
        assert all(node.job is None or node.job.done() for node in a.subtree())
        assert {node.state for node in a.subtree()} == {"cancelled"}
        ending = await w.tree.wait("root")  # the others work on
        assert (ending.state, ending.text) == ("completed", "end")
        results = [m.text for m in w.session.messages("root") if isinstance(m, ToolResult)]
        assert "cancelled: Not needed." in results[0]
        assert w.tree.root.info.subtree.cost == pytest.approx(w.session.spent().cost)


async def test_stopping_the_root_itself_ends_everything_below(tmp_path: Path) -> None:
    started: list[str] = []
    ended: list[str] = []
    async with world(tmp_path, tools=[sleeping(started, ended)]) as w:
        w.on("root", call(delegate("a")), say("again"))
        w.on("a", call(("sleep_tool", {})))
        w.tree.send("[root] go")
        await until(lambda: bool(started))
        w.made["root"].stop()  # as when the agent is stopped without the tree
        await until(lambda: not w.tree.working)
        assert {node.state for node in w.tree.walk()} == {"cancelled"}
        assert ended == started
        w.tree.send("go on")
        assert (await w.tree.wait("root")).text == "again"


async def test_a_storm_of_cancellations_leaves_nothing(tmp_path: Path) -> None:
    started: list[str] = []
    ended: list[str] = []
    async with world(tmp_path, tools=[sleeping(started, ended)]) as w:
        for turn in range(6):
            names = [f"t{turn}c{n}" for n in range(4)]
            w.on("root", call(*(delegate(name) for name in names)))
            for name in names:
                w.on(name, call(delegate(f"{name}x"), ("sleep_tool", {})))
                w.on(f"{name}x", slow("x") if turn % 2 else call(("sleep_tool", {})))
            w.tree.send("[root] go")
            await until(lambda turn=turn: len(w.tree) > 1 + turn)  # type: ignore[misc]
            await asyncio.sleep(turn * 0.03)
            await asyncio.gather(*(w.tree.cancel("root") for _ in range(3)))
            assert not w.tree.working
            assert ended == started or sorted(ended) == sorted(started)
            assert all(node.final for node in w.tree.walk())
            for node in list(w.tree.root.children):
                await w.tree.remove(node)
            assert len(w.tree) == 1
        assert w.tree.root.info.subtree.cost == pytest.approx(w.session.spent().cost)
        for script in w.scripts.values():
            script.clear()
        w.on("root", say("still here"))
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "still here"


async def test_retry_goes_on_from_what_was_said(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a")), say("a failed"), say("thanks"))
        w.server.answers.clear()
        w.tree.send("[root] go")  # nothing is scripted for a: the model refuses
        assert (await w.tree.wait("root")).text == "a failed"
        child = w.child("a")
        assert child.state == "failed" and child.info.error
        w.on("a", say("now it worked"))
        assert w.tree.retry(child.id) == [child.id]
        ending = await w.tree.wait(child.id)
        assert (ending.state, ending.text) == ("completed", "now it worked")
        assert w.states(child.id)[-3:] == ["created", "running", "completed"]
        asked = [m["content"] for m in w.asked_by("a")[-1].body["messages"] if m["role"] == "user"]
        assert "do it" in asked[1] and "was interrupted" in str(asked[2:])
        with pytest.raises(TreeError, match="nothing to retry"):
            w.tree.retry(child.id)
        w.tree.send("well?")  # the parent reads the new report with its next words
        await w.tree.wait("root")
        assert "now it worked" in str(w.asked_by("root")[-1].body["messages"])


async def test_retry_of_a_subtree_begins_below(tmp_path: Path) -> None:
    started: list[str] = []
    async with world(tmp_path, tools=[sleeping(started, [])]) as w:
        w.on("root", call(delegate("a")))
        w.on("a", call(delegate("a1"), delegate("a2")))
        w.on("a1", say("a1 done"))
        w.on("a2", call(("sleep_tool", {})))
        w.tree.send("[root] go")
        await until(lambda: bool(started) and w.child("a1").state == "completed")
        await w.tree.cancel("root")
        a, a1, a2 = w.child("a"), w.child("a1"), w.child("a2")
        w.on("a2", say("a2 at last"))
        w.on("a", say("both"))
        assert set(w.tree.retry(a.id, subtree=True)) == {a.id, a2.id}
        assert (await w.tree.wait(a.id)).text == "both"
        assert a1.state == a2.state == "completed"
        assert "a2 at last" in str(w.asked_by("a")[-1].body["messages"])
        seen = [(e.node.id, e.node.state) for e in w.events if isinstance(e, NodePut)]
        last = len(seen) - 1 - seen[::-1].index((a.id, "running"))
        assert seen.index((a2.id, "completed")) < last


async def test_background_children_report_as_messages(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on(
            "root",
            call(delegate("a", wait=False), delegate("b", wait=False)),
            say("waiting for them"),
            say("got one"),
            say("got both"),
        )
        w.on("a", say("a done", delay=0.05))
        w.on("b", slow("y"))
        w.tree.send("[root] go")
        ending = await w.tree.wait("root")
        assert ending.text == "got both"
        told = [str(asked.body["messages"]) for asked in w.asked_by("root")]
        assert "a done" in told[2] and "Report of the agent “b”" in told[3]
        assert "Report of the agent “b”" not in told[2]


async def test_a_user_may_speak_while_the_root_waits(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a", wait=False)), say("waiting"), say("hello"), say("end"))
        w.on("a", slow("y"))
        w.tree.send("[root] go")
        await until(lambda: "background agent" in w.tree.root.info.activity)
        w.tree.send("hello?")
        assert (await w.tree.wait("root")).text == "end"
        texts = [
            e.entry.text
            for e in w.events
            if isinstance(e, EntryPut) and isinstance(e.entry, UserEntry) and e.node == "root"
        ]
        assert "hello?" in texts


async def test_commands_and_queries_by_the_bus(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a", tools=["sub_agent"], tokens=5_000)), say("end"))
        w.on("a", slow("x"), say("changed"))
        w.tree.send("[root] go")
        await until(lambda: len(w.tree) == 2 and "x" in grown(w, w.child("a").id))
        child = w.child("a")
        bus = w.tree.bus
        assert (await bus.ask("root", child.id, "status"))["state"] == "running"
        assert (await bus.ask("root", child.id, "progress"))["rounds"] == 1
        can = await bus.ask("root", child.id, "capabilities")
        assert can["tools"] == ["sub_agent"] and can["children"] == ["act", "child"]
        await bus.send("root", child.id, Command(Pause()))
        await bus.settle()
        assert child.state == "paused"
        await bus.send("root", child.id, Command(RequestReport()))
        await bus.send("root", child.id, Command(Resume()))
        await bus.send(
            "root", child.id, Command(UpdateParameters({"tokens": 9_000, "instructions": "Now"}))
        )
        await bus.settle()
        assert child.info.budget == Budget(tokens=9_000)
        assert (await w.tree.wait("root")).text == "end"
        assert (await bus.ask("root", child.id, "result")) == {
            "state": "completed",
            "text": "changed",
        }
        assert bus.lost == 0


async def test_cancel_by_the_bus(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a")), say("end"))
        w.on("a", slow("x"))
        w.tree.send("[root] go")
        await until(lambda: len(w.tree) == 2 and "x" in grown(w, w.child("a").id))
        await w.tree.bus.send("root", w.child("a").id, Command(Cancel()))
        assert (await w.tree.wait("root")).text == "end"
        assert w.child("a").info.error == "Cancelled by its parent."


async def test_what_cannot_be_steered_says_so(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        for steer in (w.tree.pause, w.tree.resume, w.tree.retry, w.tree.start):
            with pytest.raises(NoSuchNode):
                steer("nobody")
        with pytest.raises(NoSuchNode):
            w.tree.redirect("nobody", "x")
        with pytest.raises(NoSuchNode):
            await w.tree.cancel("nobody")
        node = w.tree.add("root", Assignment("[a] x"))
        w.on("a", say("done"))
        w.tree.start(node.id)
        with pytest.raises(TreeError, match="already started"):
            w.tree.start(node.id)
        await w.tree.wait(node.id)
        assert await w.tree.cancel(node.id) == []
        assert w.tree.pause(node.id) == []
        assert w.tree.resume(node.id) == []


async def test_redirect_before_it_has_begun_keeps_the_task(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("a", say("both"))
        node = w.tree.add("root", Assignment("[a] the task"))
        w.tree.pause(node.id)
        assert node.info.activity == "is held before it begins"
        w.tree.redirect(node.id, "And mind the gap.")
        assert (await w.tree.wait(node.id)).text == "both"
        told = str(w.asked_by("a")[0].body["messages"])
        assert "the task" in told and "mind the gap" in told


async def test_children_of_who_is_held_are_held(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        a = w.tree.add("root", Assignment("[a] x"))
        w.tree.pause(a.id)
        b = w.tree.add(a.id, Assignment("[b] x"))
        w.on("b", say("done"))
        w.tree.start(b.id)
        await asyncio.sleep(0.05)
        assert b.state == "created"
        assert set(w.tree.resume(a.id)) == {a.id, b.id}
        assert (await w.tree.wait(b.id)).text == "done"


async def test_words_for_who_is_paused_are_shown_and_read_later(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", slow("x"), say("and that"))
        w.tree.send("[root] go")
        await until(lambda: "x" in grown(w, "root"))
        w.tree.pause("root")
        w.tree.send("Also do that.")
        shown = [
            e.entry.text
            for e in w.events
            if isinstance(e, EntryPut) and isinstance(e.entry, UserEntry) and e.entry.queued
        ]
        assert shown == ["Also do that."]
        await asyncio.sleep(0.05)
        w.tree.resume("root")
        assert (await w.tree.wait("root")).text == "and that"


async def test_who_was_held_and_ended_begins_again_when_it_is_spoken_to(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", slow("x"), say("back"), say("and again"))
        w.tree.send("[root] go")
        await until(lambda: "x" in grown(w, "root"))
        w.tree.pause("root")
        await w.tree.cancel("root")
        w.tree.send("hello")
        assert (await asyncio.wait_for(w.tree.wait("root"), HANGS)).text == "back"
        w.tree.pause("root")  # nothing works: nothing is held
        w.tree.send("hello")
        assert (await asyncio.wait_for(w.tree.wait("root"), HANGS)).text == "and again"


async def test_cancelled_while_it_is_held_at_its_end(tmp_path: Path) -> None:
    """Its turn has ended, only the node is held: what is said next is not held any more."""
    async with world(tmp_path) as w:
        w.on("root", slow("x"), say("back"))
        w.tree.send("[root] go")
        await until(lambda: "x" in grown(w, "root"))
        w.tree.pause("root")
        await until(lambda: not w.tree.root.at_work)
        assert w.tree.root.state == "paused"
        await w.tree.cancel("root")
        w.tree.send("are you there?")
        assert (await asyncio.wait_for(w.tree.wait("root"), HANGS)).text == "back"


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_a_user_does_nothing_is_lost_or_left(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with world(tmp_path) as w:

        def answer(asked: Asked) -> Answer:
            tasks = str(asked.body["messages"]).count("# Task")
            if chance.random() < 0.4 and tasks < 3:
                children = [
                    delegate(f"n{chance.randrange(10**6)}", wait=chance.random() < 0.7)
                    for _ in range(chance.randrange(1, 4))
                ]
                return counted(call(*children))
            said = say("x")
            said.chunks[:1] = said.chunks[:1] * chance.randrange(1, 12)
            said.delay = 0.01
            return counted(said)

        reported: list[Answer] = []

        def counted(one: Answer) -> Answer:
            reported.append(one)
            return one

        w.server.decide = answer
        for _ in range(60):
            nodes = list(w.tree.walk())
            node = chance.choice(nodes)
            try:
                choice = chance.randrange(8)
                if choice == 0:
                    w.tree.send("[root] go on")
                elif choice == 1:
                    w.tree.pause(node.id, subtree=chance.random() < 0.5)
                elif choice == 2:
                    w.tree.resume("root")
                elif choice == 3:
                    await w.tree.cancel(node.id)
                elif choice == 4:
                    w.tree.retry(node.id, subtree=chance.random() < 0.5)
                elif choice == 5:
                    w.tree.redirect(node.id, "[other] do this")
                elif choice == 6 and node.parent is not None:
                    await w.tree.remove(node.id)
                else:
                    w.tree.set_budget(node.id, Budget(tokens=chance.choice([None, 10**6])))
            except TreeError:
                assert node.id == "root" or node.state  # refused in words, nothing changed
            await asyncio.sleep(chance.random() * 0.04)
            assert w.tree.root.info.subtree == near(w.session.spent())
        w.tree.resume("root")
        await until(lambda: all(n.open.is_set() for n in w.tree.walk()))
        await w.tree.cancel("root")
        await until(lambda: not w.tree.working)
        assert w.tree.root.held.tokens == 0
        assert w.tree.root.info.subtree == near(w.session.spent())
        assert w.tree.root.info.subtree.input <= 11 * len(reported)
        for node in w.tree.walk():  # every call has its result, none has two
            said = w.session.messages(node.id)
            calls = [c.id for m in said if isinstance(m, Assistant) for c in m.tool_calls]
            results = [m.call_id for m in said if isinstance(m, ToolResult)]
            assert sorted(calls) == sorted(results)
        w.server.decide = lambda _: say("still here")
        w.tree.send("[root] are you there?")
        assert (await asyncio.wait_for(w.tree.wait("root"), HANGS)).text == "still here"

"""What a process left behind, however it ended, comes back as a tree that can go on."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jarvis_ls.agents.node import Assignment
from jarvis_ls.agents.records import INTERRUPTED, NEVER_BEGAN
from jarvis_ls.runtime.base.events import Budget, EntryPut, NodePut, UserEntry
from jarvis_ls.runtime.base.messages import Usage, User
from jarvis_ls.runtime.session.store import SessionStore
from tests.agents.world import World, call, delegate, near, say, until, world

HERE = Path(__file__).parent


def killed(folder: Path, after: float) -> str:
    """Start work in another process, kill it `after` seconds; the id of its session."""
    paths = [str(HERE.parents[1]), str(HERE.parents[1] / "server")]
    process = subprocess.Popen(
        [sys.executable, str(HERE / "to_be_killed.py"), str(folder)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        text=True,
    )
    try:
        assert process.stdout is not None
        session = process.stdout.readline().strip()
        assert session
        time.sleep(after)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    return session


def check_sums(w: World) -> None:
    """What nodes spent is what the session knows, and adds up."""
    for node in w.tree.walk():
        assert node.info.usage == w.session.spent(node.id)
        below = sum((child.info.subtree for child in node.children.values()), node.info.usage)
        if not any(w.session.data[f"agent:{i}"]["gone"] for i in known(w)):
            assert node.info.subtree == near(below)
    assert w.tree.root.info.subtree == near(w.session.spent())


def known(w: World) -> list[str]:
    return [key[6:] for key in w.session.data if key.startswith("agent:")]


@pytest.mark.parametrize("after", [0.0, 0.12, 0.25, 0.4, 0.6, 0.9])
async def test_a_killed_process_loses_no_node(tmp_path: Path, after: float) -> None:
    name = killed(tmp_path, after)
    session = SessionStore(tmp_path / "home").open(name)
    before = {e.node.id: e.node for e in session.events() if isinstance(e, NodePut)}
    async with world(tmp_path, session) as w:
        assert {node.id for node in w.tree.walk()} >= set(before)
        for node in w.tree.walk():
            was = before[node.id].state if node.id in before else "created"
            assert node.state == {"running": "failed", "created": "cancelled"}.get(was, was) or (
                node.id == "root" and node.state == "created"
            )
            assert (
                node.info.error == {"running": INTERRUPTED, "created": NEVER_BEGAN}.get(was, "")
                or node.id == "root"
            )
            if node.info.title == "a":
                assert node.info.budget == Budget(tokens=90_000)
            if node.info.title == "b":
                assert node.assignment.tools == ()
        check_sums(w)
        for title in ("a", "a1", "a2", "a3", "b"):
            w.on(title, say(f"{title} again"), say("and again"))
        w.on("root", say("whole"))
        w.on("", say("whole"))  # killed before anything the root was told was kept
        if w.tree.root.final:
            w.tree.retry("root", subtree=True)
        else:
            w.tree.send("[root] go")
        ending = await w.tree.wait("root")
        assert (ending.state, ending.text, ending.error) == ("completed", "whole", "")
        assert {node.state for node in w.tree.walk()} == {"completed"}
        check_sums(w)
        assert not session.damage


async def test_what_was_paused_can_be_resumed_later(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home")
    session = store.create(tmp_path)
    async with world(tmp_path, session) as w:
        w.on("root", call(delegate("a")))
        w.on("a", say("x", delay=0.2))
        w.tree.send("[root] go")
        await until(lambda: len(w.tree) == 2 and w.child("a").state == "running")
        w.tree.pause("root")
        assert w.tree.root.state == "paused"
        # what a kill at this moment would leave
        records = [e for e in session.events() if isinstance(e, NodePut)]
        left = (session.path / "journal.jsonl").read_bytes()
    assert {e.node.state for e in records} == {"paused"}
    (session.path / "journal.jsonl").write_bytes(left)
    async with world(tmp_path, store.open(session.id)) as w:
        assert {node.state for node in w.tree.walk()} == {"paused"}
        w.on("a", say("a goes on"))
        w.on("root", say("end"))
        assert len(w.tree.resume("root")) == 2
        ending = await w.tree.wait("root")
        assert (ending.state, ending.text, ending.error) == ("completed", "end", "")
        assert w.child("a").state == "completed"


async def test_a_closed_session_comes_back_as_it_was(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home")
    session = store.create(tmp_path)
    async with world(tmp_path, session) as w:
        w.on("root", call(delegate("a"), delegate("b")), say("end"))
        w.on("a", call(delegate("a1")), say("a"))
        w.on("a1", say("deep"))
        w.on("b", say("b"))
        w.tree.send("[root] go")
        await w.tree.wait("root")
        w.tree.set_budget("root", Budget(cost=3.0))
        gone = w.child("a")
        await w.tree.remove(gone.id)
        was = [node.info for node in w.tree.walk()]
        total = w.reported
    async with world(tmp_path, store.open(session.id)) as w:
        assert [(n.id, n.state, n.title, n.budget, n.group) for n in was] == [
            (n.id, n.state, n.info.title, n.info.budget, n.info.group) for n in w.tree.walk()
        ]
        assert [near(n.info.subtree) for n in w.tree.walk()] == [n.subtree for n in was]
        assert w.tree.root.info.subtree == near(total)
        assert (await w.tree.wait(w.child("b").id)).text == "b"
        node = w.tree.add("root", Assignment("new"))
        assert node.id not in {gone.id, *(n.id for n in was)}


async def test_records_that_make_no_sense_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = SessionStore(tmp_path / "home")
    session = store.create(tmp_path)
    async with world(tmp_path, session) as w:
        w.on("root", say("end"))
        w.tree.send("[root] go")
        await w.tree.wait("root")
        session.data["agent:x"] = {"parent": "root", "assignment": 7}
        session.data["agent:y"] = {"parent": "nowhere", "assignment": {"task": "t"}, "gone": False}
        session.data["agent:z"] = "nonsense"
        session.spend("x", Usage(5, 5))
    async with world(tmp_path, store.open(session.id)) as w:
        assert len(w.tree) == 1
        assert w.tree.root.info.subtree == w.session.spent()
    assert "left out" in caplog.text


async def test_what_is_paused_when_the_session_closes_stays_paused(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home")
    session = store.create(tmp_path)
    async with world(tmp_path, session) as w:
        w.on("root", call(delegate("a"), delegate("b")))
        for name in ("a", "b"):
            w.on(name, say("x", delay=0.2))
        w.tree.send("[root] go")
        await until(lambda: len(w.asked_by("a")) + len(w.asked_by("b")) == 2)
        w.tree.pause(w.child("a").id)
    async with world(tmp_path, store.open(session.id)) as w:
        assert w.child("a").state == "paused"
        assert (w.child("b").state, w.tree.root.state) == ("cancelled", "cancelled")
        assert w.child("b").info.error == "The session was closed."
        w.on("a", say("a goes on"))
        w.tree.resume(w.child("a").id)
        assert (await w.tree.wait(w.child("a").id)).text == "a goes on"


async def test_where_nothing_can_be_kept_everything_ends_and_nothing_hangs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a"), delegate("b")), say("end"))
        w.on("a", call(delegate("a1")), say("a"))
        for name in ("a1", "b"):
            w.on(name, say("x", delay=0.1))
        w.tree.send("[root] go")
        await until(lambda: len(w.asked_by("a1")) + len(w.asked_by("b")) == 2)
        assert w.session._journal is not None
        w.session._journal.close()  # as when the disk has gone
        w.session._journal = None
        ending = await w.tree.wait("root")
        assert ending.state == "failed"
        assert "is read-only" in ending.error
        await until(lambda: not w.tree.working)
        assert all(node.final for node in w.tree.walk())
        assert w.tree.root.held.tokens == 0
    assert "is not kept" in caplog.text
    gc.collect()  # what this leaves is cleared here, not somewhere in the next test


async def test_words_that_were_shown_but_not_read_are_told_again(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home")
    session = store.create(tmp_path)
    async with world(tmp_path, session) as w:
        w.tree.send("[root] the task")
        w.tree.root.to("running")
        session.put(EntryPut(session.id, "root", UserEntry("u1", "[root] the task")))
        left = (session.path / "journal.jsonl").read_bytes()
        await w.tree.cancel("root")
    (session.path / "journal.jsonl").write_bytes(left)  # as a kill would have left it
    async with world(tmp_path, store.open(session.id)) as w:
        assert (w.tree.root.state, w.session.messages("root")) == ("failed", [])
        w.on("root", say("done"))
        w.tree.retry("root")
        assert (await w.tree.wait("root")).text == "done"


async def test_a_child_that_was_killed_before_it_read_its_task_is_given_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        child = w.tree.add("root", Assignment("[a] count the files"))
        w.session.append(child.id, User("Facts that every agent is told first."))
        await w.tree.cancel(child.id)
        w.on("a", say("7 files"))
        w.tree.retry(child.id)
        assert (await w.tree.wait(child.id)).text == "7 files"
        said = [m.text for m in w.session.messages(child.id) if isinstance(m, User)]
        assert any("count the files" in text for text in said)

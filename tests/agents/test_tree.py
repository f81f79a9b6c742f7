"""The rules of the tree: what may grow where, and what holds whatever is done to it."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from jarvis_ls.agents.errors import ConstraintBroken, IllegalTransition, NoSuchNode, TreeError
from jarvis_ls.agents.node import FINAL, TRANSITIONS, TYPES, Assignment, Node, TreeSettings
from jarvis_ls.agents.tree import Tree
from jarvis_ls.runtime.base.events import Budget, Event, Feed, NodeGone, NodePut, NodeState
from jarvis_ls.runtime.base.messages import Image, Usage
from jarvis_ls.runtime.session.store import SessionStore
from tests.agents.world import call, delegate, near, say, world

_T = TypeVar("_T")
STATES = sorted(TRANSITIONS)


async def test_one_root_of_its_own_group(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        root = w.tree.root
        assert (root.kind, root.state, root.info.parent) == ("root", "created", None)
        assert root.info.group == "think"
        with pytest.raises(ConstraintBroken, match="one root"):
            w.tree.add("root", Assignment("x", kind="root"))
        with pytest.raises(ConstraintBroken, match="The main agent cannot be removed"):
            await w.tree.remove("root")


async def test_groups_by_kind_can_be_set(tmp_path: Path) -> None:
    chosen = TreeSettings(groups={"root": "balanced", "act": "office/small"})
    async with world(tmp_path, settings=chosen) as w:
        kinds = [w.tree.add("root", Assignment("x", kind=k)) for k in ("child", "act")]
        other = w.tree.add("root", Assignment("x", group="smart"))
        groups = [n.info.group for n in (w.tree.root, *kinds, other)]
        assert groups == ["balanced", "balanced", "office/small", "smart"]


async def test_act_only_agents_have_no_children_and_no_tool_for_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        act = w.tree.add("root", Assignment("[x] t", kind="act"))
        for kind in ("child", "act"):
            with pytest.raises(ConstraintBroken, match="no children"):
                w.tree.add(act.id, Assignment("x", kind=kind))
        assert not w.tree.allowed(act, w.tools).tools()
        w.on("x", call(delegate("y")), say("tried"))
        w.tree.start(act.id)
        ending = await w.tree.wait(act.id)
        assert (ending.text, ending.error) == ("tried", "")
        assert "Unknown tool 'sub_agent'" in str(w.asked_by("x")[1].body["messages"])
        assert not act.children


async def test_depth_breadth_and_number_are_bounded(tmp_path: Path) -> None:
    async with world(tmp_path, settings=TreeSettings(depth=2, children=3, nodes=6)) as w:
        a = w.tree.add("root", Assignment("a"))
        b = w.tree.add(a.id, Assignment("b"))
        with pytest.raises(ConstraintBroken, match="2 levels deep"):
            w.tree.add(b.id, Assignment("c"))
        w.tree.add("root", Assignment("a"))
        w.tree.add("root", Assignment("a"))
        with pytest.raises(ConstraintBroken, match="3 running sub-agents"):
            w.tree.add("root", Assignment("a"))
        w.tree.add(a.id, Assignment("b"))
        with pytest.raises(ConstraintBroken, match="6 running agents"):
            w.tree.add(a.id, Assignment("b"))
        await w.tree.remove(b.id)
        w.tree.add(a.id, Assignment("b"))


async def test_who_has_ended_makes_room(tmp_path: Path) -> None:
    async with world(tmp_path, settings=TreeSettings(children=2, nodes=5)) as w:
        first = w.tree.add("root", Assignment("first"))
        below = w.tree.add(first.id, Assignment("below"))
        second = w.tree.add("root", Assignment("second"))
        with pytest.raises(ConstraintBroken, match="2 running sub-agents"):
            w.tree.add("root", Assignment("x"))
        for node in (below, first, second):
            node.spend(Usage(100))
            await w.tree.cancel(node.id)
        w.tree.add("root", Assignment("third"))
        assert first.id in w.tree  # there was room for one
        fourth = w.tree.add("root", Assignment("fourth"))
        assert [n.info.title for n in w.tree.walk()] == ["Jarvis", "second", "third", "fourth"]
        assert w.tree.root.info.subtree.input == 300
        w.tree.add(fourth.id, Assignment("x"))
        w.tree.add(fourth.id, Assignment("x"))
        assert second.id not in w.tree


@pytest.mark.parametrize(
    ("title", "task", "shown"),
    [
        ("", "Look at it.\nThen go.", "Look at it."),
        ("\n  spaced\tout \n", "x", "spaced out"),
        ("invisible\u202e\u200b", "x", "invisible"),
        ("x" * 300, "x", "x" * 79 + "…"),
        ("读代码", "x", "读代码"),
    ],
)
async def test_titles(tmp_path: Path, title: str, task: str, shown: str) -> None:
    async with world(tmp_path) as w:
        first = w.tree.add("root", Assignment(task, title=title))
        again = w.tree.add("root", Assignment(task, title=title))
        assert (first.info.title, again.info.title) == (shown, f"{shown[:72]} (2)")


@pytest.mark.parametrize("words", [("", ""), ("  \n", ""), ("\u200b", ""), ("", "title")])
async def test_an_agent_needs_a_task(tmp_path: Path, words: tuple[str, str]) -> None:
    async with world(tmp_path) as w:
        with pytest.raises(ConstraintBroken, match="needs a task"):
            w.tree.add("root", Assignment(words[0], title=words[1]))
        assert len(w.tree) == 1


@pytest.mark.parametrize("before", STATES)
@pytest.mark.parametrize("after", STATES)
async def test_only_legal_transitions(tmp_path: Path, before: NodeState, after: NodeState) -> None:
    async with world(tmp_path) as w:
        node = w.tree.add("root", Assignment("x"))
        paths: dict[str, list[NodeState]] = {
            "created": [],
            "cancelled": ["cancelled"],
            "running": ["running"],
            "paused": ["running", "paused"],
            "completed": ["running", "completed"],
            "failed": ["running", "failed"],
        }
        for state in paths[before]:
            node.to(state)
        if after in TRANSITIONS[before]:
            node.to(after)
            assert node.state == after
        else:
            with pytest.raises(IllegalTransition, match=before):
                node.to(after)
            assert node.state == before


async def test_children_have_no_more_tools_than_their_parent(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        a = w.tree.add("root", Assignment("a", tools=("read", "sub_agent")))
        b = w.tree.add(a.id, Assignment("b", tools=("read", "write")))
        c = w.tree.add(b.id, Assignment("c"))
        assert [a.may_use(t) for t in ("read", "write", "sub_agent")] == [True, False, True]
        assert [b.may_use(t) for t in ("read", "write", "sub_agent")] == [True, False, False]
        assert [c.may_use(t) for t in ("read", "write", "sub_agent")] == [True, False, False]
        assert [n.may_use("steer_agent") for n in (w.tree.root, a, b, c)] == [
            True,
            True,
            False,
            False,
        ]


async def test_a_tool_that_is_not_there_is_said(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a", tools=["reed"])), say("oh"))
        w.tree.send("[root] go")
        await w.tree.wait("root")
        assert "Unknown tools: reed; known tools: steer_agent" in w.child("a").info.error


async def test_nobody_adds_to_what_was_cancelled(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        a = w.tree.add("root", Assignment("a"))
        await w.tree.cancel(a.id)
        with pytest.raises(ConstraintBroken, match="cancelled"):
            w.tree.add(a.id, Assignment("b"))
        with pytest.raises(NoSuchNode):
            w.tree.add("nobody", Assignment("b"))


async def test_parallel_siblings_are_bounded(tmp_path: Path) -> None:
    async with world(tmp_path, settings=TreeSettings(parallel=2)) as w:
        names = [f"c{n}" for n in range(6)]
        w.on("root", call(*(delegate(name) for name in names)), say("end"))
        for name in names:
            w.on(name, say("x", delay=0.02))
        most = 0

        def look(event: Event) -> None:
            nonlocal most
            if isinstance(event, NodePut) and "root" in w.tree:
                busy = sum(n.state == "running" for n in w.tree.root.children.values())
                most = max(most, busy)

        w.feed.observe(look)
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "end"
        assert most == 2


async def test_an_agent_that_cannot_be_made_fails_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.on("root", call(delegate("a")), say("so be it"))
        made = w._make

        def refuse(node: Node) -> Any:
            if node.parent is not None:
                raise RuntimeError("no room")
            return made(node)

        w.tree._driver._make_agent = refuse
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "so be it"
        assert w.child("a").info.error == "RuntimeError: no room"


async def test_plans_tell_the_progress(tmp_path: Path) -> None:
    from jarvis_ls.runtime.base.events import EntryPut, PlanEntry, PlanStep

    async with world(tmp_path) as w:
        node = w.tree.add("root", Assignment("a"))
        steps = (PlanStep("one", "done"), PlanStep("two", "active"), PlanStep("no", "dropped"))
        w.feed.publish(EntryPut(w.session.id, node.id, PlanEntry("p", steps)))
        w.feed.publish(EntryPut("other", node.id, PlanEntry("p", ())))
        assert (node.info.progress, node.info.activity) == (0.5, "two")


# -- whatever is done to it --------------------------------------------------------------------


@dataclass(frozen=True)
class End:
    text: str
    state: str


class Puppet:
    """An agent that does what the test says, with the interface of the real one."""

    def __init__(self) -> None:
        self.ends: asyncio.Queue[End] = asyncio.Queue()
        self.said: list[str] = []
        self.unread = False

    async def run(self, task: str | None, images: Sequence[Image] = ()) -> End:
        assert task is not None or self.unread
        self.unread = False
        while not self.ends.empty():  # what was meant for an earlier turn
            self.ends.get_nowait()
        return await self.ends.get()

    def say(self, text: str, images: Sequence[Image] = ()) -> None:
        self.said.append(text)
        self.unread = True

    def stop(self) -> None:
        self.ends.put_nowait(End("", "cancelled"))

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def redirect(self, text: str) -> None:
        self.said.append(text)


class AnyTree(RuleBasedStateMachine):
    """Any sequence of operations keeps the rules."""

    @initialize()
    def begin(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp())
        self.store = SessionStore(self.folder)
        self.session = self.store.create(self.folder)
        self.reported = Usage()
        self.open()

    def open(self) -> None:
        self.feed = Feed()
        self.shown: dict[str, NodeState] = {}
        self.bad: list[str] = []
        self.restored = False
        self.feed.observe(self.look)
        self.puppets: dict[str, Puppet] = {}
        self.tree = self.run(self.make_tree())
        self.restored = True

    async def make_tree(self) -> Tree:
        limits = TreeSettings(depth=3, children=4, nodes=12, parallel=2)
        return Tree(self.session, self.feed, self.make, settings=limits)

    def make(self, node: Node) -> Puppet:
        return self.puppets.setdefault(node.id, Puppet())

    def look(self, event: Event) -> None:
        if isinstance(event, NodeGone):
            self.shown.pop(event.node, None)
        if isinstance(event, NodePut):
            was, state = self.shown.get(event.node.id), event.node.state
            if was is None and self.restored and state != "created":
                self.bad.append(f"{event.node.id} begins as {state}")
            if was is not None and was != state and state not in TRANSITIONS[was]:
                self.bad.append(f"{event.node.id}: {was} to {state}")
            self.shown[event.node.id] = state

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self.loop.run_until_complete(work)

    async def turns(self, number: int = 12) -> None:
        for _ in range(number):
            await asyncio.sleep(0)

    async def do(self, operation: Any, *values: Any, **more: Any) -> None:
        """An operation; what it refuses changes nothing."""
        before = [(n.id, n.state) for n in self.tree.walk()]
        try:
            result = operation(*values, **more)
            if asyncio.iscoroutine(result):
                await result
        except TreeError:
            assert [(n.id, n.state) for n in self.tree.walk()] == before
        await self.turns()

    def some(self, data: st.DataObject) -> Node:
        nodes = list(self.tree.walk())
        return nodes[data.draw(st.integers(0, len(nodes) - 1))]

    @rule(
        data=st.data(), kind=st.sampled_from(["child", "child", "act", "root"]), start=st.booleans()
    )
    def add(self, data: st.DataObject, kind: Any, start: bool) -> None:
        parent = self.some(data)

        async def add() -> None:
            node = self.tree.add(parent.id, Assignment("task", kind=kind))
            if start:
                self.tree.start(node.id)

        self.run(self.do(add))

    @rule(data=st.data())
    def start(self, data: st.DataObject) -> None:
        self.run(self.do(self.tree.start, self.some(data).id))

    @rule(data=st.data(), state=st.sampled_from(["completed", "completed", "failed", "cancelled"]))
    def finish(self, data: st.DataObject, state: str) -> None:
        node = self.some(data)
        if node.at_work:
            self.puppets[node.id].ends.put_nowait(End("result", state))
        self.run(self.turns())

    @rule(data=st.data(), tokens=st.integers(0, 1000))
    def spend(self, data: st.DataObject, tokens: int) -> None:
        node = self.some(data)
        usage = Usage(tokens, tokens // 2, cost=tokens / 1000)
        self.reported = self.reported + usage
        node.spend(usage)
        self.session.spend(node.id, usage)

    @rule(data=st.data(), subtree=st.booleans(), what=st.sampled_from(["pause", "resume", "retry"]))
    def steer(self, data: st.DataObject, subtree: bool, what: str) -> None:
        self.run(self.do(getattr(self.tree, what), self.some(data).id, subtree=subtree))

    @rule(data=st.data(), what=st.sampled_from(["cancel", "remove"]))
    def take(self, data: st.DataObject, what: str) -> None:
        self.run(self.do(getattr(self.tree, what), self.some(data).id))

    @rule(data=st.data(), text=st.sampled_from(["hello", "and that"]))
    def send(self, data: st.DataObject, text: str) -> None:
        node = self.some(data)
        self.run(self.do(lambda: self.tree.send(text, to=node.id)))

    @rule(data=st.data())
    def redirect(self, data: st.DataObject) -> None:
        self.run(self.do(self.tree.redirect, self.some(data).id, "do that"))

    @rule(data=st.data(), tokens=st.none() | st.integers(-5, 5000))
    def budget(self, data: st.DataObject, tokens: int | None) -> None:
        self.run(self.do(self.tree.set_budget, self.some(data).id, Budget(tokens)))

    @precondition(lambda self: len(self.tree) > 2)
    @rule()
    def kill(self) -> None:
        """The process ends here; another one opens the session."""
        before = {
            n.id: (n.info.parent, n.kind, n.info.title, n.info.budget, near(n.info.subtree))
            for n in self.tree.walk()
        }
        states = {n.id: n.state for n in self.tree.walk()}
        copy = self.folder / "copy"
        shutil.copytree(self.folder / "sessions", copy)
        name = self.session.id
        self.end()
        shutil.rmtree(self.folder / "sessions")
        copy.rename(self.folder / "sessions")
        self.session = self.store.open(name)
        self.open()
        after = {
            n.id: (n.info.parent, n.kind, n.info.title, n.info.budget, n.info.subtree)
            for n in self.tree.walk()
        }
        assert before == after
        for node in self.tree.walk():
            was = states[node.id]
            come_back = {"running": "failed", "created": "cancelled"}.get(was, was)
            assert node.state == come_back or (node.id, node.state) == ("root", "created")

    @invariant()
    def rules_hold(self) -> None:
        assert not self.bad, self.bad
        nodes = list(self.tree.walk())
        assert len(nodes) == len(self.tree) == len({n.id for n in nodes}) <= 12
        assert [n.id for n in nodes if n.kind == "root"] == ["root"]
        for node in nodes:
            assert node.depth <= 3
            for child in node.children.values():
                assert child.parent is node and child.info.parent == node.id
                assert child.kind in TYPES[node.kind].children
            if node.final:
                assert not node.at_work
            if node.state == "paused":
                assert not node.open.is_set()
            if node.state == "running":
                assert node.open.is_set() and node.job is not None
        depths = [n.depth for n in nodes]
        assert depths == sorted(depths)

    @invariant()
    def sums_are_right(self) -> None:
        assert self.tree.root.info.subtree == near(self.reported)
        assert self.session.spent() == near(self.reported)
        for node in self.tree.walk():
            assert node.info.usage == near(self.session.spent(node.id))
            for child in node.children.values():
                assert child.info.subtree.input <= node.info.subtree.input

    @invariant()
    def people_see_what_is(self) -> None:
        self.tree._display.flush()
        nodes = {n.id: n.info for n in self.tree.walk()}
        seen = {
            e.node.id: e.node for e in self.feed.snapshot(self.session.id) if isinstance(e, NodePut)
        }
        kept = {e.node.id: e.node for e in self.session.events() if isinstance(e, NodePut)}
        assert nodes == seen
        passing = {"activity": "", "progress": None, "rounds": 0}
        assert {i: replace(n, **passing) for i, n in nodes.items()} == {
            i: replace(n, **passing) for i, n in kept.items()
        }

    def end(self) -> None:
        self.run(self.tree.close())
        self.run(self.turns())
        left = [t for t in asyncio.all_tasks(self.loop) if not t.done()]
        assert not left, left
        assert all(n.state in (*FINAL, "created", "paused") for n in self.tree.walk())
        assert self.tree.bus.lost == 0 or all(
            "no longer exists" in d.reason
            or "not parent and child" in d.reason
            or "not there" in d.reason
            for d in self.tree.bus.dead_letters
        )
        self.session.close()

    def teardown(self) -> None:
        if hasattr(self, "tree"):
            self.end()
            self.loop.close()
            shutil.rmtree(self.folder)


TestAnyTree = AnyTree.TestCase
TestAnyTree.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)

"""The tree of agents of one session.

The root talks with the user; every other node was created by its parent for one task. The tree
keeps the rules of its growth and what people see of it; `driver` lets the agents work, `bus` and
`mail` pass on what parents and children tell each other, `records` keep everything in the session,
so that a process that was killed loses no node. Pause, resume, redirect, cancel and retry work on
one node or on it and all below.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from jarvis_ls.agents.agent_port import ForChild
from jarvis_ls.agents.briefing import first_words
from jarvis_ls.agents.budget import Meter
from jarvis_ls.agents.bus import Bus
from jarvis_ls.agents.display import Display
from jarvis_ls.agents.envelopes import Report
from jarvis_ls.agents.errors import ConstraintBroken, NoSuchNode, TreeError, Undeliverable
from jarvis_ls.agents.growth_rules import check_budget, check_growth, done_longest, own_title
from jarvis_ls.agents.inbox import Mail
from jarvis_ls.agents.loop_guard import LoopGuard
from jarvis_ls.agents.node import STEER_AGENT, Assignment, Ending, Node, Said, TreeSettings
from jarvis_ls.agents.records import ROOT, Records
from jarvis_ls.agents.scheduler import Driver, Ender, MakeAgent
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.typed_answer import AnswerForm
from jarvis_ls.runtime.base.events import Budget, EntryPut, Event, Feed, NodeInfo, PlanEntry
from jarvis_ls.runtime.base.messages import Image, Usage
from jarvis_ls.runtime.context.agent_files import AgentFiles
from jarvis_ls.runtime.llm.model_group import ModelGroup
from jarvis_ls.runtime.session.session import Session
from jarvis_ls.runtime.tools.interaction import Interaction, NonInteractive
from jarvis_ls.runtime.tools.tool import Selected, Sifted, Toolset

HELD = "is held before it begins"


class Tree:
    """All agents of one session."""

    def __init__(
        self,
        session: Session,
        feed: Feed,
        make_agent: MakeAgent,
        *,
        interaction: Interaction | None = None,
        settings: TreeSettings | None = None,
        title: str = "",
        say: Callable[[str], str] = str,
    ) -> None:
        """Restore the nodes the session knows; without any, create the root.

        `make_agent` is asked for the agent each time a node begins to work; the same one again
        keeps words it has not read yet. It gives it `metered(node, group)`, `guard(node)`,
        `person(node)` and `allowed(node, toolset)` of this tree, `node.info`, and the node itself
        as `keeper`. `say` puts what is said of a node into the user's language.
        """
        self.session = session
        self.settings = settings or TreeSettings()
        self.interaction = interaction or NonInteractive()
        self.profiles = AgentFiles({})
        """The agents of files, which children may be started as."""
        self._display = Display(session, feed, say)
        self._nodes: dict[str, Node] = {}
        self._records = Records(session, self.settings)
        self.bus = Bus(session.id, self._parent_of)
        self._driver = Driver(session, self.bus, self.settings, make_agent)
        self._mail = Mail(self, self._driver)
        for record in self._records.read():
            self._insert(record.info, record.assignment)
        self._stop_watching = feed.observe(self._observe)
        if ROOT not in self._nodes:
            root = Assignment("", title or "Jarvis", "root", budget=self.settings.budget)
            self._insert(self._records.add(ROOT, None, root), root)

    # -- looking -------------------------------------------------------------------------------

    @property
    def root(self) -> Node:
        """The node that talks with the user."""
        return self._nodes[ROOT]

    def node(self, id: str) -> Node:
        """Return the node with an id. Raises `NoSuchNode`."""
        try:
            return self._nodes[id]
        except KeyError:
            raise NoSuchNode(id) from None

    def walk(self, start: str = ROOT) -> Iterator[Node]:
        """Return a node and all below it, level by level."""
        return self.node(start).subtree()

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, id: object) -> bool:
        return id in self._nodes

    @property
    def working(self) -> bool:
        """Return whether anything of it is at work or waits to be."""
        return self._driver.working

    # -- growing -------------------------------------------------------------------------------

    def add(self, parent: str, assignment: Assignment, form: AnswerForm | None = None) -> Node:
        """Return a new child; it begins with `start`. With `form` its last answer must meet that.
        Raises `ConstraintBroken` when a rule forbids it.

        In a tree that is full, those that ended longest ago make room.
        """
        above = self.node(parent)
        check_growth(self._nodes, above, assignment, self.settings)
        check_budget(assignment.budget)
        shown = assignment.shown
        if not assignment.task.strip():
            raise ConstraintBroken("An agent needs a task.")
        title = own_title(above, shown)
        while len(self._nodes) >= self.settings.nodes:
            gone = done_longest(self._nodes.values(), above)
            assert gone is not None
            self._forget_all(gone)
        if form is not None:
            assignment = replace(assignment, answer=form.schema)
        assignment, id = replace(assignment, title=title), self._records.new_id()
        node = self._insert(self._records.add(id, parent, assignment), assignment, form)
        if not above.open.is_set():
            self.pause(id)
        return node

    async def remove(self, id: str) -> None:
        """End a node and all below it and take them away; what they spent stays counted above.

        Raises `ConstraintBroken` for the root.
        """
        node = self.node(id)
        if node.parent is None:
            raise ConstraintBroken("The main agent cannot be removed from its session.")
        await self.cancel(id)
        if id not in self._nodes:
            return
        self._forget_all(node)

    # -- working -------------------------------------------------------------------------------

    def start(self, id: str) -> None:
        """Let a created node work on its task. Raises `TreeError` when it is something else."""
        node = self.node(id)
        if node.state != "created" or node.job is not None:
            raise TreeError("“{title}” has already started.", title=node.info.title)
        self._driver.launch(node, [Said(first_words(node.assignment))])

    def send(self, text: str, images: Sequence[Image] = (), *, to: str = ROOT) -> None:
        """Say something to a node: it begins, continues, or reads it while it works.

        A node that is paused reads it when it continues.
        """
        node = self.node(to)
        said = Said(text, tuple(images))
        if node.watch is not None:
            node.watch.forget()  # what is asked for again is no repetition
        for above in node.lineage():
            above.refused = False
        if node.final:
            node.to("created")
            self._driver.launch(node, [said])
        elif node.job is not None or node.state == "paused":
            self._driver.tell(node, text, tuple(images))
        elif node.parent is None:
            self._driver.launch(node, [said])
        else:
            self._driver.launch(node, [Said(first_words(node.assignment)), said])

    async def wait(self, id: str) -> Ending:
        """Return how the work of a node ends; at once when it does not work."""
        node = self.node(id)
        while node.job is not None:
            await asyncio.wait([node.job])
        return node.ending or Ending(node.state, self._driver.last_words(node), node.info.error)

    async def result(self, id: str) -> Ending:
        """Return how the work of a node ended, for a tool of its parent.

        When this is cancelled the node works on, and its parent receives its report as a message.
        """
        child = self.node(id)
        if child.ending is not None and child.final:
            return child.ending
        waiter: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        child.waiters.append(waiter)
        try:
            return await waiter
        finally:
            if waiter in child.waiters:
                child.waiters.remove(waiter)

    def report(self, id: str, message: str, progress: float | None = None) -> None:
        """Tell the node's parent how far it is."""
        node = self.node(id)
        node.show(activity=message, progress=progress)
        if node.parent is not None:
            with contextlib.suppress(Undeliverable):
                self.bus.post(id, node.parent.id, Report(progress, message))

    # -- steering ------------------------------------------------------------------------------

    def pause(self, id: str, *, subtree: bool = True) -> list[str]:
        """Hold a node, and all below it; the ids of those it concerned.

        One that has not begun is kept from beginning.
        """
        held = []
        for node in self._chosen(id, subtree):
            if node.final or not node.open.is_set():
                continue
            node.open.clear()
            held.append(node.id)
            if node.state == "created":
                node.show(activity=HELD)
            elif node.state == "running":
                node.to("paused")
                if node.worker is not None:
                    node.worker.pause()
        return held

    def resume(self, id: str, *, subtree: bool = True) -> list[str]:
        """Let what is held continue; the ids of those it concerned."""
        going = [node for node in self._chosen(id, subtree) if not node.open.is_set()]
        left = [node for node in going if node.state == "paused" and node.job is None]
        for node in going:
            node.open.set()
            if node.state == "created":
                node.show(activity="")
            elif node.state == "paused" and node.job is not None:
                node.to("running")
                if node.worker is not None:
                    node.worker.resume()
        self._driver.launch_all(
            left, lambda node: self._driver.words_to_go_on(node, "it was paused")
        )
        return [node.id for node in going]

    def redirect(self, id: str, text: str) -> None:
        """Turn a node to something else; what works below it works on.

        One that has ended begins again with this.
        """
        node = self.node(id)
        if not node.open.is_set():
            self.resume(id, subtree=False)
        if node.at_work and node.worker is not None:
            if node.watch is not None:
                node.watch.forget()
            node.worker.redirect(text)
        else:
            self.send(text, to=id)

    async def cancel(self, id: str, reason: str = "") -> list[str]:
        """End a node and all below it; the ids of those that were not at their end.

        When this returns nothing of them runs any more.
        """
        nodes = list(self.node(id).subtree())
        ending = [node for node in nodes if node.state == "cancelled"]  # another call may do so
        ended = [node for node in nodes if not node.final]
        if self.root in ended and self.root.state == "created" and self.root.job is None:
            ended.remove(self.root)  # it has not been spoken to yet
        await self._driver.stop(ended, reason or Words("Cancelled."), ending)
        return [node.id for node in ended]

    def retry(self, id: str, *, subtree: bool = False) -> list[str]:
        """Let a node that failed or was cancelled continue from what was said so far; the ids of
        all that work again.

        With `subtree`, those below it that did not complete work again first, and it is told
        what they report. Raises `TreeError` when there is nothing to retry.
        """
        node = self.node(id)
        again = {
            n.id: n
            for n in self._chosen(id, subtree)
            if n.state in ("failed", "cancelled") or (n is node and subtree and n.final)
        }
        if not again:
            raise TreeError(
                "“{title}” is {state}: there is nothing to retry.",
                title=node.info.title,
                state=node.state,
            )
        reasons = {n.id: n.info.error for n in again.values()}
        for above in node.lineage():
            above.refused = False
        for item in again.values():
            item.to("created")
        words = {n.id: self._driver.words_to_go_on(n, reasons[n.id]) for n in again.values()}
        self._driver.launch_all(list(again.values()), lambda node: words[node.id])
        return list(again)

    def reopen(self, id: str) -> None:
        """Let a node that has ended have children again; it does nothing by itself."""
        for above in (node := self.node(id)).lineage():
            above.refused = False
        if node.final:
            node.to("created")

    def end_with(self, ender: Ender) -> None:
        """Let `ender` end what agents have left running, when they are stopped or have ended."""
        self._driver.ender = ender

    def set_budget(self, id: str, budget: Budget) -> None:
        """Change what a node and all below it may spend. Raises `ConstraintBroken`."""
        check_budget(budget)
        self.node(id).allow(budget)

    async def close(self) -> None:
        """End everything that works; what is paused can be resumed when the session is opened
        again."""
        await self._driver.close(list(self._nodes.values()))
        await self.bus.close()
        self._stop_watching()
        self._display.flush()

    # -- what agents are given -----------------------------------------------------------------

    def allowed(self, node: Node, toolset: Toolset) -> Toolset:
        """Return the tools a node may use. Raises `ConstraintBroken` for one that is not there."""
        known = toolset.tools()
        if missing := [name for name in node.assignment.tools or () if name not in known]:
            raise ConstraintBroken(
                "Unknown tools: {names}; known tools: {known}.",
                names=", ".join(missing),
                known=", ".join(sorted(known)),
            )
        if node.assignment.tools is not None:
            toolset = Selected(toolset, (*node.assignment.tools, STEER_AGENT))
        return Sifted(toolset, node.may_use)

    def metered(self, node: Node, group: ModelGroup) -> ModelGroup:
        """Return the group a node asks: what it costs is counted and kept within its budget."""
        return group.guarded(Meter(node, self.interaction, self._record_cost))

    def person(self, node: Node) -> Interaction:
        """Return whom a node's agent asks: the user, but how to continue only for a root."""
        return self.interaction if node.parent is None else ForChild(self.interaction)

    def guard(self, node: Node) -> LoopGuard:
        """Return the watch over repetition for a node."""
        if node.watch is None:
            alone = any(above.assignment.unattended for above in node.lineage())
            asked = NonInteractive() if alone else self.interaction
            node.watch = LoopGuard(node.id, lambda: node.info.title, asked)
        return node.watch

    # -- below: the nodes ----------------------------------------------------------------------

    def _insert(
        self, info: NodeInfo, assignment: Assignment, form: AnswerForm | None = None
    ) -> Node:
        parent = self._nodes[info.parent] if info.parent is not None else None
        node = Node(info, assignment, parent, self._publish_change, form)
        self._nodes[node.id] = node
        if parent is not None:
            parent.children[node.id] = node
        if node.state == "paused":
            node.open.clear()
        self.bus.register(node.id, self._mail.receive)
        self._publish_change(node, True)
        return node

    def _forget_all(self, top: Node) -> None:
        for node in reversed(list(top.subtree())):
            self._forget(node)

    def _forget(self, node: Node) -> None:
        self.bus.unregister(node.id)
        for waiter in node.waiters:
            if not waiter.done():
                waiter.set_result(Ending("cancelled", "", "It was removed."))
        if node.parent is not None:
            node.parent.children.pop(node.id, None)
        del self._nodes[node.id]
        self._records.remove(node.id)
        self._display.gone(node)

    def _parent_of(self, id: str) -> str | None:
        node = self._nodes.get(id)
        return node.info.parent if node is not None else None

    def _chosen(self, id: str, subtree: bool) -> list[Node]:
        node = self.node(id)
        return list(node.subtree()) if subtree else [node]

    def _record_cost(self, node: Node, usage: Usage) -> None:
        self.session.spend(node.id, usage, node.info.title)

    def _publish_change(self, node: Node, matters: bool) -> None:
        if self._nodes.get(node.id) is node:
            self._display.changed(node, matters)

    def _observe(self, event: Event) -> None:
        """Update the progress of a node from its plan."""
        if not isinstance(event, EntryPut) or not isinstance(event.entry, PlanEntry):
            return
        node = self._nodes.get(event.node) if event.session == self.session.id else None
        steps = [step for step in event.entry.steps if step.state != "dropped"]
        if node is not None and steps and not node.final:
            done = sum(step.state == "done" for step in steps)
            active = next((step.text for step in steps if step.state == "active"), "")
            self.report(node.id, active or node.info.activity, done / len(steps))

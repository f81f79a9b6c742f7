"""The tree of agents of one session.

The root talks with the user; every other node was created by its parent for one task. The tree
keeps the rules of its growth, drives the agents, passes what parents and children tell each other
through the bus, and keeps everything in the session, so that a process that was killed loses no
node. Pause, resume, redirect, cancel and retry work on one node or on it and all below.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from jarvis_ls.agents.briefing import first_words, go_on, report_of, without_marks
from jarvis_ls.agents.budget import Meter
from jarvis_ls.agents.bus import (
    Bus,
    Cancel,
    Command,
    Completed,
    Envelope,
    Error,
    Order,
    Pause,
    Query,
    QueryKind,
    Report,
    RequestReport,
    Resume,
    UpdateParameters,
)
from jarvis_ls.agents.errors import ConstraintBroken, NoSuchNode, TreeError, Undeliverable
from jarvis_ls.agents.loop_guard import LoopGuard
from jarvis_ls.agents.node import (
    TITLE_LENGTH,
    TYPES,
    Assignment,
    Ending,
    Node,
    Said,
    TreeSettings,
)
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.asking import ModelGroup
from jarvis_ls.runtime.events import (
    Budget,
    EntryPut,
    Event,
    Feed,
    NodeGone,
    NodeInfo,
    NodePut,
    NodeState,
    PlanEntry,
    ProposedEdit,
)
from jarvis_ls.runtime.interaction import Interaction, Next, Nobody, Review
from jarvis_ls.runtime.messages import Assistant, Image, Usage, User
from jarvis_ls.runtime.permissions import Answer, Asked
from jarvis_ls.runtime.session import Session
from jarvis_ls.runtime.tool import Selected, Toolset

ROOT = "root"
"""Id of every session's root."""
PROMPTLY = 0.18
"""Seconds an agent that was told to stop has before its task is cancelled."""
PUBLISH_EVERY = 0.05
"""Seconds between two events about a node that only moved."""
INTERRUPTED = "The process ended while it worked. Retry to go on from what was said so far."
NEVER_BEGAN = "The process ended before it began."
_DATA = "agent:"
logger = logging.getLogger(__name__)


class Outcome(Protocol):
    """How one task of an agent ended."""

    @property
    def text(self) -> str:
        """The result."""

    @property
    def state(self) -> str:
        """`completed`, or why not."""


class Worker(Protocol):
    """What the tree needs of an agent."""

    async def run(self, task: str | None, images: Sequence[Image] = ()) -> Outcome:
        """Work on a task until it ends; None: on what it was told before."""

    @property
    def unread(self) -> bool:
        """Whether something was said that it has not read yet."""

    def say(self, text: str, images: Sequence[Image] = ()) -> Any:
        """Tell it something while it works."""

    def stop(self) -> Any:
        """End at once."""

    def pause(self) -> Any:
        """Do nothing until `resume`."""

    def resume(self) -> Any:
        """Go on."""

    def redirect(self, text: str) -> Any:
        """Leave what it does, do this."""


MakeAgent = Callable[["Node"], Worker]


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
    ) -> None:
        """The nodes the session knows come back; without any, the root is created.

        `make_agent` is asked for the agent each time a node begins to work; the same one again
        keeps words it has not read yet. It gives it
        `metered(node, group)`, `guard(node)`, `person(node)` and `allowed(node, toolset)` of this
        tree, `node.info`, and the node itself as `keeper`.
        """
        self.session = session
        self.settings = settings or TreeSettings()
        self.interaction = interaction or Nobody()
        self._feed = feed
        self._make_agent = make_agent
        self._nodes: dict[str, Node] = {}
        self._moved: dict[str, Node] = {}
        self._publishing: asyncio.TimerHandle | None = None
        self._jobs: set[asyncio.Task[None]] = set()
        self.bus = Bus(session.id, self._parent_of)
        self._restore()
        self._stop_watching = feed.observe(self._observe)
        if ROOT not in self._nodes:
            root = Assignment("", title or "Jarvis", "root", budget=self.settings.budget)
            self._keep(root, None, ROOT)

    # -- looking -------------------------------------------------------------------------------

    @property
    def root(self) -> Node:
        """The node that talks with the user."""
        return self._nodes[ROOT]

    def node(self, id: str) -> Node:
        """The node with an id. Raises `NoSuchNode`."""
        try:
            return self._nodes[id]
        except KeyError:
            raise NoSuchNode(id) from None

    def walk(self, start: str = ROOT) -> Iterator[Node]:
        """A node and all below it, level by level."""
        return self.node(start).subtree()

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, id: object) -> bool:
        return id in self._nodes

    @property
    def working(self) -> bool:
        """Whether anything of it is at work or waits to be."""
        return bool(self._jobs)

    # -- growing -------------------------------------------------------------------------------

    def add(self, parent: str, assignment: Assignment) -> Node:
        """A new child; it begins with `start`. Raises `ConstraintBroken` when a rule forbids it."""
        above = self.node(parent)
        self._check_growth(above, assignment)
        _check_budget(assignment.budget)
        shown = assignment.shown
        if not assignment.task.strip():
            raise ConstraintBroken("An agent needs a task.")
        taken = {child.info.title for child in above.children.values()}
        number, title = 2, shown
        while title in taken:
            title, number = f"{shown[: TITLE_LENGTH - 8].rstrip()} ({number})", number + 1
        return self._keep(replace(assignment, title=title), above, self._new_id())

    async def remove(self, id: str) -> None:
        """End a node and all below it and take them away; what they spent stays counted above.

        Raises `ConstraintBroken` for the root.
        """
        node = self.node(id)
        if node.parent is None:
            raise ConstraintBroken("The root stays as long as its session.")
        await self.cancel(id)
        if id not in self._nodes:
            return
        for gone in reversed(list(node.subtree())):
            self._forget(gone)

    # -- working -------------------------------------------------------------------------------

    def start(self, id: str) -> None:
        """Let a created node work on its task. Raises `TreeError` when it is something else."""
        node = self.node(id)
        if node.state != "created" or node.job is not None:
            raise TreeError(f"“{node.info.title}” has begun already.")
        self._launch(node, [Said(first_words(node.assignment))])

    def send(self, text: str, images: Sequence[Image] = (), *, to: str = ROOT) -> None:
        """Say something to a node: it begins, goes on, or reads it while it works.

        A node that is paused reads it when it goes on.
        """
        node = self.node(to)
        said = Said(text, tuple(images))
        for above in node.lineage():
            above.refused = False
        if node.final:
            node.to("created")
            self._launch(node, [said])
        elif node.at_work and node.worker is not None:
            node.worker.say(text, images)
        elif node.job is not None or node.state == "paused":
            node.inbox.append(said)
            node.news.set()
        else:
            self._launch(node, [said])

    async def wait(self, id: str) -> Ending:
        """How the work of a node ends; at once when it does not work."""
        node = self.node(id)
        while node.job is not None:
            await asyncio.wait([node.job])
        return node.ending or Ending(node.state, self._last_words(node), node.info.error)

    async def result(self, id: str) -> Ending:
        """How the work of a node ended, as it reports it, for a tool of its parent.

        When this is cancelled the node works on, and its parent is told its report as a message.
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
            if node.state == "running":
                node.to("paused")
                if node.worker is not None:
                    node.worker.pause()
        return held

    def resume(self, id: str, *, subtree: bool = True) -> list[str]:
        """Let what is held go on; the ids of those it concerned."""
        going = [node for node in self._chosen(id, subtree) if not node.open.is_set()]
        left = [node for node in going if node.state == "paused" and node.job is None]
        for node in going:
            node.open.set()
            if node.state == "paused" and node.job is not None:
                node.to("running")
                if node.worker is not None:
                    node.worker.resume()
        self._launch_all(left, lambda node: self._words_to_go_on(node, "it was paused"))
        return [node.id for node in going]

    def redirect(self, id: str, text: str) -> None:
        """Turn a node to something else; what works below it works on.

        One that has ended begins again with this.
        """
        node = self.node(id)
        if not node.open.is_set():
            self.resume(id, subtree=False)
        if node.at_work and node.worker is not None:
            node.worker.redirect(text)
        else:
            self.send(text, to=id)

    async def cancel(self, id: str, reason: str = "") -> list[str]:
        """End a node and all below it; the ids of those that were not at their end.

        When this returns nothing of them runs any more.
        """
        ended = [node for node in self.node(id).subtree() if not node.final]
        for node in ended:
            self._end(node, Ending("cancelled", self._last_words(node), reason or "Cancelled."))
        jobs = []
        for node in ended:
            node.open.set()
            if node.at_work and node.worker is not None:
                node.worker.stop()
            elif node.job is not None:
                node.job.cancel()
            if node.job is not None and node.job is not asyncio.current_task():
                jobs.append(node.job)
        await _ended(jobs)
        return [node.id for node in ended]

    def retry(self, id: str, *, subtree: bool = False) -> list[str]:
        """Let a node that failed or was cancelled go on from what was said so far; the ids of
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
            raise TreeError(f"“{node.info.title}” is {node.state}: there is nothing to retry.")
        reasons = {n.id: n.info.error for n in again.values()}
        for above in node.lineage():
            above.refused = False
        for one in again.values():
            one.to("created")
        words = {n.id: self._words_to_go_on(n, reasons[n.id]) for n in again.values()}
        self._launch_all(list(again.values()), lambda node: words[node.id])
        return list(again)

    def set_budget(self, id: str, budget: Budget) -> None:
        """Change what a node and all below it may spend. Raises `ConstraintBroken`."""
        _check_budget(budget)
        self.node(id).allow(budget)

    async def close(self) -> None:
        """End everything that works."""
        for node in [n for n in self._nodes.values() if n.job is not None and not n.final]:
            await self.cancel(node.id, "The session was closed.")
        await _ended([job for job in self._jobs if job is not asyncio.current_task()])
        await self.bus.close()
        self._stop_watching()
        self._publish_moved()

    # -- what agents are given -----------------------------------------------------------------

    def allowed(self, node: Node, toolset: Toolset) -> Toolset:
        """The tools a node may use. Raises `ConstraintBroken` for one that is not there."""
        known = toolset.tools()
        if missing := [name for name in node.assignment.tools or () if name not in known]:
            raise ConstraintBroken(
                f"There is no tool {', '.join(missing)}; there are {', '.join(sorted(known))}."
            )
        return Selected(toolset, [name for name in known if node.may_use(name)])

    def metered(self, node: Node, group: ModelGroup) -> ModelGroup:
        """The group a node asks: what it costs is counted and kept within its budget."""
        return group.guarded(Meter(node, self.interaction, self._spent))

    def person(self, node: Node) -> Interaction:
        """Whom the agent of a node asks: the user, but not how to go on when it is no root."""
        return self.interaction if node.parent is None else ForChild(self.interaction)

    def guard(self, node: Node) -> LoopGuard:
        """The watch over repetition for a node."""
        return LoopGuard(node.id, lambda: node.info.title, self.interaction)

    # -- below: driving one node ---------------------------------------------------------------

    def _launch(self, node: Node, said: list[Said], after: Sequence[Node] = ()) -> None:
        node.ending = None
        if node.kind == "root" or node.parent is None:
            places = None
        else:
            if node.parent.places is None:
                node.parent.places = asyncio.Semaphore(self.settings.parallel)
            places = node.parent.places
        job = asyncio.get_running_loop().create_task(
            self._drive(node, said, after, places, node.job), name=f"agent {node.info.title}"
        )
        node.job = job
        self._jobs.add(job)
        job.add_done_callback(lambda done: self._over(node, done))

    def _launch_all(self, nodes: list[Node], words: Callable[[Node], str]) -> None:
        """Let nodes go on, each when those below it are done: it is told what they report."""
        for node in reversed(nodes):
            below = [child for child in node.children.values() if child in nodes]
            self._launch(node, [Said(words(node))], after=below)

    async def _drive(
        self,
        node: Node,
        said: list[Said],
        after: Sequence[Node],
        places: asyncio.Semaphore | None,
        before: asyncio.Task[None] | None,
    ) -> None:
        if before is not None and not before.done():  # it is just ending
            await asyncio.wait([before])
        for other in after:
            await self.wait(other.id)
        async with places or contextlib.nullcontext():
            await node.open.wait()
            if node.state != "running":
                node.to("running")
            try:
                ending = await self._work(node, [*said, *self._take(node)])
            except JarvisError as error:
                ending = Ending("failed", self._last_words(node), str(error))
            except Exception as error:  # a fault of ours must end one agent, not the session
                logger.exception("agent %s failed", node.info.title)
                words = f"{type(error).__name__}: {error}"
                ending = Ending("failed", self._last_words(node), words)
            await node.open.wait()  # who is held does not end before it goes on
            if not node.final:
                self._end(node, ending)

    async def _work(self, node: Node, said: list[Said]) -> Ending:
        worker = node.worker = self._make_agent(node)
        while True:
            await node.open.wait()
            node.at_work = True
            try:
                text = "\n\n".join(one.text for one in said if one.text)
                images = tuple(image for one in said for image in one.images)
                outcome = await worker.run(text if said else None, images)
            finally:
                node.at_work = False
            if outcome.state != "completed":
                return self._cut_short(node, outcome)
            said = [] if worker.unread else await self._news(node)
            if not said and not worker.unread:
                return Ending("completed", outcome.text)

    async def _news(self, node: Node) -> list[Said]:
        """What a node is told after its work: reports of children in the background, or what
        was said meanwhile. Nothing when none of them is under way."""
        while not node.inbox:
            busy = [child for child in node.children.values() if child.job is not None]
            if not busy:
                await self.bus.settle(node.id)
                if not node.inbox:
                    return []
                break
            node.show(activity=f"waits for {_count(busy)} in the background")
            node.news.clear()
            await node.news.wait()
        return self._take(node)

    @staticmethod
    def _take(node: Node) -> list[Said]:
        said = list(node.inbox)
        node.inbox.clear()
        return said

    def _end(self, node: Node, ending: Ending) -> None:
        """The node has ended: everyone who waits for it is told."""
        node.ending = ending
        if node.state == "paused" and ending.state == "completed":
            node.to("running")
        node.to(ending.state, error=ending.error)
        self.session.working = any(one.at_work for one in self._nodes.values())
        if node.parent is None:
            return
        body: Completed | Error = (
            Completed(ending.text)
            if ending.state == "completed"
            else Error(ending.error or ending.state, ending.text or None)
        )
        with contextlib.suppress(Undeliverable):  # it lies among the dead letters
            self.bus.post(node.id, node.parent.id, body)

    def _over(self, node: Node, job: asyncio.Task[None]) -> None:
        """The task of a node is done, however."""
        self._jobs.discard(job)
        problem = None if job.cancelled() else job.exception()
        if problem is not None:
            logger.error("agent %s broke", node.info.title, exc_info=problem)
        if node.job is job:
            node.job = None
            if not node.final and node.id in self._nodes:
                state: NodeState = "failed" if problem is not None else "cancelled"
                self._end(node, Ending(state, "", str(problem or "Cancelled.")))
        if node.state == "cancelled":
            below = [n for n in node.subtree() if not n.final]
            if below:
                rest = asyncio.get_running_loop().create_task(self._cancel_all(below))
                self._jobs.add(rest)
                rest.add_done_callback(self._jobs.discard)
        if node.parent is not None:
            node.parent.news.set()

    def _cut_short(self, node: Node, outcome: Outcome) -> Ending:
        if outcome.state == "cancelled":
            return Ending("cancelled", self._last_words(node), "It was stopped.")
        return Ending("failed", self._last_words(node), outcome.text)

    async def _cancel_all(self, nodes: list[Node]) -> None:
        for node in nodes:
            if node.id in self._nodes and not node.final:
                await self.cancel(node.id, "The agent that needed it was cancelled.")

    # -- below: the bus ------------------------------------------------------------------------

    async def _receive(self, envelope: Envelope) -> None:
        node, body = self.node(envelope.receiver), envelope.body
        if isinstance(body, Report):
            return  # shown where it was made; the parent's model reads results only
        if isinstance(body, (Completed, Error)):
            self._reported(node, self.node(envelope.sender), body)
        elif isinstance(body, Command):
            await self._obey(node, body.command)
        elif isinstance(body, Query):
            self.bus.answer(envelope, self._know(node, body.query))

    def _reported(self, node: Node, child: Node, body: Completed | Error) -> None:
        ending = (
            Ending("completed", body.result)
            if isinstance(body, Completed)
            else child.ending or Ending("failed", body.details or "", body.error)
        )
        waiting = [waiter for waiter in child.waiters if not waiter.done()]
        child.waiters.clear()
        for waiter in waiting:
            waiter.set_result(ending)
        if not waiting and (not node.final or ending.state == "completed"):
            self._tell(node, report_of(child, ending))

    def _tell(self, node: Node, text: str) -> None:
        if node.at_work and node.worker is not None:
            node.worker.say(text)
        else:
            node.inbox.append(Said(text))
            node.news.set()

    async def _obey(self, node: Node, order: Order) -> None:
        if isinstance(order, Pause):
            self.pause(node.id)
        elif isinstance(order, Resume):
            self.resume(node.id)
        elif isinstance(order, Cancel):
            await self.cancel(node.id, "Cancelled by its parent.")
        elif isinstance(order, UpdateParameters):
            self._update(node, order.params)
        elif isinstance(order, RequestReport):
            self.report(node.id, node.info.activity or node.state, node.info.progress)

    def _update(self, node: Node, params: dict[str, Any]) -> None:
        known = node.info.budget
        tokens, cost = params.get("tokens", known.tokens), params.get("cost", known.cost)
        if (tokens, cost) != (known.tokens, known.cost):
            self.set_budget(node.id, Budget(tokens, cost))
        if instructions := str(params.get("instructions", "")).strip():
            self.redirect(node.id, instructions)

    def _know(self, node: Node, query: QueryKind) -> Any:
        info = node.info
        if query == "status":
            return {"state": info.state, "activity": info.activity, "error": info.error}
        if query == "progress":
            return {"progress": info.progress, "rounds": info.rounds}
        if query == "result":
            return {"state": info.state, "text": self._last_words(node)}
        return {
            "kind": info.kind,
            "group": info.group,
            "children": sorted(TYPES[node.kind].children),
            "tools": None if node.assignment.tools is None else list(node.assignment.tools),
        }

    # -- below: the nodes ----------------------------------------------------------------------

    def _check_growth(self, above: Node, assignment: Assignment) -> None:
        limit, title = self.settings, above.info.title
        if assignment.kind not in TYPES[above.kind].children:
            problem = (
                "an act-only agent has no children"
                if above.kind == "act"
                else "a session has one root"
            )
            raise ConstraintBroken(
                f"“{title}” cannot have a {assignment.kind} below it: {problem}."
            )
        if above.state in ("failed", "cancelled"):
            raise ConstraintBroken(f"“{title}” is {above.state} and creates nothing any more.")
        if above.depth + 1 > limit.depth:
            raise ConstraintBroken(f"The tree is {limit.depth} levels deep; do it here instead.")
        if len(above.children) >= limit.children:
            raise ConstraintBroken(f"“{title}” has {limit.children} children already.")
        if len(self._nodes) >= limit.nodes:
            raise ConstraintBroken(f"The session has {limit.nodes} agents already.")

    def _keep(self, assignment: Assignment, parent: Node | None, id: str) -> Node:
        info = NodeInfo(
            id=id,
            parent=parent.id if parent is not None else None,
            kind=assignment.kind,
            title=assignment.shown,
            group=assignment.group or self.settings.group(assignment.kind),
            budget=assignment.budget,
        )
        node = Node(info, assignment, parent, self._changed)
        data = {"parent": info.parent, "assignment": assignment.to_json(), "gone": False}
        self.session.data[_DATA + id] = data
        self._insert(node)
        if parent is not None and any(not n.open.is_set() for n in parent.lineage()):
            node.open.clear()
        self._changed(node, True)
        return node

    def _insert(self, node: Node) -> None:
        self._nodes[node.id] = node
        if node.parent is not None:
            node.parent.children[node.id] = node
        self.bus.register(node.id, self._receive)

    def _forget(self, node: Node) -> None:
        self.bus.unregister(node.id)
        for waiter in node.waiters:
            if not waiter.done():
                waiter.set_result(Ending("cancelled", "", "It was removed."))
        if node.parent is not None:
            node.parent.children.pop(node.id, None)
        del self._nodes[node.id]
        self._moved.pop(node.id, None)
        key = _DATA + node.id
        self.session.data[key] = {**self.session.data[key], "gone": True}
        gone = NodeGone(self.session.id, node.id)
        self.session.put(gone)
        self._feed.publish(gone)

    def _parent_of(self, id: str) -> str | None:
        node = self._nodes.get(id)
        return node.info.parent if node is not None else None

    def _chosen(self, id: str, subtree: bool) -> list[Node]:
        node = self.node(id)
        return list(node.subtree()) if subtree else [node]

    def _new_id(self) -> str:
        while (id := secrets.token_hex(6)) in self._nodes or _DATA + id in self.session.data:
            pass
        return id

    def _spent(self, node: Node, usage: Usage) -> None:
        self.session.spend(node.id, usage, node.info.title)

    def _changed(self, node: Node, matters: bool) -> None:
        if self._nodes.get(node.id) is not node:
            return
        if matters:
            self._moved.pop(node.id, None)
            event = NodePut(self.session.id, node.info)
            self.session.put(event)
            self._feed.publish(event)
        else:
            self._moved[node.id] = node
            if self._publishing is None:
                loop = asyncio.get_running_loop()
                self._publishing = loop.call_later(PUBLISH_EVERY, self._publish_moved)

    def _publish_moved(self) -> None:
        if self._publishing is not None:
            self._publishing.cancel()
            self._publishing = None
        moved, self._moved = self._moved, {}
        for node in moved.values():
            self._feed.publish(NodePut(self.session.id, node.info))

    def _last_words(self, node: Node) -> str:
        """What the agent of a node said last in its latest task."""
        if node.ending is not None:
            return node.ending.text
        for message in reversed(self.session.messages(node.id)):
            if isinstance(message, User):
                break
            if isinstance(message, Assistant) and (text := without_marks(message.text)):
                return text
        return ""

    def _words_to_go_on(self, node: Node, reason: str) -> str:
        if not self.session.messages(node.id):
            return first_words(node.assignment)
        return go_on(reason)

    def _observe(self, event: Event) -> None:
        """A plan says how far its node is."""
        if not isinstance(event, EntryPut) or not isinstance(event.entry, PlanEntry):
            return
        node = self._nodes.get(event.node) if event.session == self.session.id else None
        steps = [step for step in event.entry.steps if step.state != "dropped"]
        if node is not None and steps and not node.final:
            done = sum(step.state == "done" for step in steps)
            active = next((step.text for step in steps if step.state == "active"), "")
            self.report(node.id, active or node.info.activity, done / len(steps))

    # -- below: coming back --------------------------------------------------------------------

    def _restore(self) -> None:
        """Bring back what the session knows; what worked when the process ended has failed."""
        infos = {e.node.id: e.node for e in self.session.events() if isinstance(e, NodePut)}
        records = {
            key[len(_DATA) :]: value if isinstance(value, dict) else {}
            for key, value in self.session.data.items()
            if key.startswith(_DATA)
        }
        for id, record in records.items():  # parents were written before their children
            if not record.get("gone"):
                self._bring_back(id, record, infos.get(id))
        for id, record in records.items():
            self._count_again(id, record, records)
        for node in self._nodes.values():
            self._settle(node)

    def _bring_back(self, id: str, record: dict[str, Any], info: NodeInfo | None) -> None:
        parent = self._nodes.get(str(record.get("parent")))
        if id != ROOT and parent is None:
            logger.error("agent %s has lost its parent and is left out", id)
            return
        try:
            assignment = Assignment.from_json(record["assignment"])
        except (ValueError, KeyError) as error:
            logger.error("agent %s cannot be read and is left out: %s", id, error)
            return
        info = info or NodeInfo(
            id=id,
            parent=parent.id if parent is not None else None,
            kind=assignment.kind,
            title=assignment.shown,
            group=assignment.group or self.settings.group(assignment.kind),
            budget=assignment.budget,
        )
        info = replace(info, usage=Usage(), subtree=Usage(), activity="")
        self._insert(Node(info, assignment, parent, self._changed))

    def _count_again(self, id: str, record: dict[str, Any], records: dict[str, Any]) -> None:
        """What a node spent counts in itself and above, also when it is gone."""
        usage = self.session.spent(id)
        if node := self._nodes.get(id):
            node.info = replace(node.info, usage=usage)
        above: str | None = id
        while above is not None:
            if node := self._nodes.get(above):
                node.info = replace(node.info, subtree=node.info.subtree + usage)
            above = records.get(above, {}).get("parent")

    def _settle(self, node: Node) -> None:
        state: NodeState = node.state
        if state == "running":
            node.info = replace(node.info, state="failed", error=INTERRUPTED)
        elif state == "created" and node.parent is not None:
            node.info = replace(node.info, state="cancelled", error=NEVER_BEGAN)
        elif state == "paused":
            node.open.clear()
        self._changed(node, True)


class ForChild(Interaction):
    """The user, for an agent that another one waits for: an answer without tools ends its task."""

    def __init__(self, person: Interaction) -> None:
        self._person = person

    async def permit(self, node: str, call: str, asked: Asked) -> Answer:
        """See `Interaction`."""
        return await self._person.permit(node, call, asked)

    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        """See `Interaction`."""
        return await self._person.review(node, call, edits)

    async def question(
        self, node: str, text: str, choices: Sequence[str] = (), default: str = ""
    ) -> str:
        """See `Interaction`."""
        return await self._person.question(node, text, choices, default)

    async def next_action(self, node: str) -> tuple[Next, str]:
        """See `Interaction`."""
        return "complete", ""


async def _ended(jobs: Sequence[asyncio.Task[None]]) -> None:
    """Wait until all are done; those that do not end by themselves are cancelled."""
    pending = {job for job in jobs if not job.done()}
    if pending:
        _, pending = await asyncio.wait(pending, timeout=PROMPTLY)
    while pending:
        for job in pending:
            job.cancel()
        _, pending = await asyncio.wait(pending, timeout=1.0)
        if pending:
            logger.error("%s agents do not end when they are cancelled", len(pending))


def _check_budget(budget: Budget) -> None:
    for name, limit in (("tokens", budget.tokens), ("cost", budget.cost)):
        if limit is not None and not limit >= 0:
            raise ConstraintBroken(f"A budget of {limit} {name} makes no sense.")


def _count(nodes: Sequence[Node]) -> str:
    return "1 agent" if len(nodes) == 1 else f"{len(nodes)} agents"

"""Drives the agents of a tree: each works in a task of its own, from its first words to its end.

A node begins when one of its parent's places is free and no one holds it. When its agent has
answered, it waits for children that work in the background and for what was said meanwhile.
However it ends, the bus notifies its parent.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence

from jarvis_ls.agents.agent_port import Outcome, Worker
from jarvis_ls.agents.briefing import first_words, go_on
from jarvis_ls.agents.bus import Bus
from jarvis_ls.agents.envelopes import Completed, Error
from jarvis_ls.agents.errors import Undeliverable
from jarvis_ls.agents.node import Ending, Node, Said, TreeSettings
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.prompts import without_marks
from jarvis_ls.runtime.base.events import EntryPut, NodeState, UserEntry
from jarvis_ls.runtime.base.messages import Assistant, Image, User
from jarvis_ls.runtime.session.session import Session

PROMPTLY = 0.18
"""Seconds an agent that was told to stop has before its task is cancelled."""
INSISTING = 5
"""How often a task is cancelled that does not end, once a second."""
logger = logging.getLogger(__name__)


MakeAgent = Callable[[Node], Worker]
"""Makes the agent of a node."""
Ender = Callable[[Sequence[str], str], Awaitable[None]]
"""Ends what agents have left running, by their ids and for a reason."""


class Driver:
    """The work of all nodes."""

    def __init__(
        self, session: Session, bus: Bus, settings: TreeSettings, make_agent: MakeAgent
    ) -> None:
        """`make_agent` gives the agent of a node each time it begins to work."""
        self._session = session
        self._bus = bus
        self._settings = settings
        self._make_agent = make_agent
        self._jobs: set[asyncio.Task[None]] = set()
        self._closing = False
        self.ender: Ender | None = None

    @property
    def working(self) -> bool:
        """Return whether anything is at work or waits to be."""
        return any(not job.done() for job in self._jobs)

    def launch(self, node: Node, said: Sequence[Said], after: Sequence[Node] = ()) -> None:
        """Let a created or held node work on its messages, once those in `after` are done."""
        node.ending = None
        node.worker = None
        job = asyncio.get_running_loop().create_task(
            self._drive(node, list(said), after, node.job), name=f"agent {node.info.title}"
        )
        node.job = job
        self._jobs.add(job)
        job.add_done_callback(lambda done: self._over(node, done))

    def launch_all(self, nodes: Sequence[Node], words: Callable[[Node], str]) -> None:
        """Let nodes continue, each when those below it are done: it receives their reports."""
        for node in reversed(nodes):
            below = [child for child in node.children.values() if child in nodes]
            self.launch(node, [Said(words(node))], after=below)

    def tell(self, node: Node, text: str, images: tuple[Image, ...] = ()) -> None:
        """Say something to a node: it is the next thing its agent reads."""
        if node.worker is not None and node.job is not None and not node.final:
            node.worker.say(text, images)
        else:
            node.inbox.append(Said(text, images))
        node.news.set()

    async def stop(self, nodes: Sequence[Node], reason: str, ending: Sequence[Node] = ()) -> None:
        """End the work of nodes; when this returns nothing of them runs any more, nor of those in
        `ending`, which were told to end before."""
        for node in nodes:
            self.end(node, Ending("cancelled", self.last_words(node), reason))
        for node in nodes:
            node.open.set()
            if node.at_work and node.worker is not None:
                node.worker.stop()
            elif node.job is not None:
                node.job.cancel()
        await _forget([node.job for node in (*nodes, *ending) if node.job is not None])
        await self._end_rest(nodes, Words("the agent that started it was stopped"))

    async def close(self, nodes: Sequence[Node]) -> None:
        """End everything; what is paused stays so, to continue in another process."""
        self._closing = True
        paused = [node for node in nodes if node.state == "paused" and node.job is not None]
        for node in paused:
            assert node.job is not None
            node.job.cancel()
        working = [node for node in nodes if node.job is not None and not node.final]
        await self.stop([n for n in working if n not in paused], Words("The session was closed."))
        await _forget(list(self._jobs))

    def end(self, node: Node, ending: Ending) -> None:
        """End the work of a node and report it to its parent."""
        if node.state == "paused" and ending.state == "completed":
            node.to("running")
        node.ending = ending
        node.to(ending.state, error=ending.error)
        if node.parent is None:
            return
        body: Completed | Error = (
            Completed(ending.text)
            if ending.state == "completed"
            else Error(ending.error or ending.state, ending.text or None)
        )
        with contextlib.suppress(Undeliverable):  # it is among the dead letters
            self._bus.post(node.id, node.parent.id, body)

    def last_words(self, node: Node) -> str:
        """Return the last text of a node's agent in its latest task."""
        if node.ending is not None:
            return node.ending.text
        for message in reversed(self._session.messages(node.id)):
            if isinstance(message, User):
                break
            if isinstance(message, Assistant) and (text := without_marks(message.text)):
                return text
        return ""

    def words_to_go_on(self, node: Node, reason: str) -> str:
        """Return what a node reads when it resumes after a kill or after what `reason` says."""
        first = first_words(node.assignment)
        said = self._session.transcript(node.id)
        if any(isinstance(m, Assistant) or first in m.text for m in said):
            return go_on(reason)
        return first or self._shown_words(node) or go_on(reason)

    async def _drive(
        self,
        node: Node,
        said: list[Said],
        after: Sequence[Node],
        before: asyncio.Task[None] | None,
    ) -> None:
        if before is not None and not before.done():  # it is just ending
            await asyncio.wait([before])
        for other in after:
            while other.job is not None:
                await asyncio.wait([other.job])
        if after:
            await self._bus.settle(node.id)  # their reports may still be on their way
        async with self._place(node):
            await node.open.wait()
            if node.state != "running":
                node.to("running")
            try:
                ending = await self._work(node, [*said, *_take(node)])
            except JarvisError as error:
                ending = Ending("failed", self.last_words(node), str(error))
            except Exception as error:  # a fault of ours must end one agent, not the session
                logger.exception("agent %s failed", node.info.title)
                words = f"{type(error).__name__}: {error}"
                ending = Ending("failed", self.last_words(node), words)
            await node.open.wait()  # who is held does not end before it continues
            if node.parent is not None:  # what a root has started may run until it continues
                await self._end_rest([node], Words("the agent that started it has ended"))
            if not node.final:
                self.end(node, ending)

    async def _end_rest(self, nodes: Sequence[Node], why: str) -> None:
        if self.ender is not None:
            await self.ender([node.id for node in nodes], why)

    def _shown_words(self, node: Node) -> str:
        """Return the user's last text, for a process that ended before the agent read it."""
        said = [
            e.entry
            for e in self._session.events()
            if isinstance(e, EntryPut) and e.node == node.id and isinstance(e.entry, UserEntry)
        ]
        return said[-1].text if said else ""

    def _place(self, node: Node) -> contextlib.AbstractAsyncContextManager[object]:
        if node.parent is None:
            return contextlib.nullcontext()
        if node.parent.places is None:
            node.parent.places = asyncio.Semaphore(self._settings.parallel)
        return node.parent.places

    async def _work(self, node: Node, said: list[Said]) -> Ending:
        worker = node.worker = self._make_agent(node)
        first, *rest = said
        for waiting in rest:
            worker.say(waiting.text, waiting.images)
        text: str | None = first.text
        while True:
            await node.open.wait()
            node.at_work = True
            try:
                outcome = await worker.run(text, first.images if text is not None else ())
            finally:
                node.at_work = False
            if outcome.state != "completed":
                return self._cut_short(node, outcome)
            await self._news(node, worker)
            if not worker.unread:
                return Ending("completed", outcome.text, value=outcome.value)
            text = None

    def _cut_short(self, node: Node, outcome: Outcome) -> Ending:
        if outcome.state == "cancelled":
            return Ending("cancelled", self.last_words(node), Words("It was stopped."))
        return Ending("failed", self.last_words(node), outcome.text)

    async def _news(self, node: Node, worker: Worker) -> None:
        """Wait until the agent was told something after its work: by a child that worked in the
        background, or by the user; or until no child is under way."""
        while not worker.unread:
            busy = [child for child in node.children.values() if child.job is not None]
            if not busy:
                await self._bus.settle(node.id)  # the last report may still be on its way
                return
            activity = Words("waiting for a background agent")
            if len(busy) > 1:
                activity = Words("waiting for {n} background agents", n=len(busy))
            node.show(activity=activity)
            node.news.clear()
            await node.news.wait()

    def _over(self, node: Node, job: asyncio.Task[None]) -> None:
        """Clean up after the task of a node, whether it failed or not."""
        self._jobs.discard(job)
        problem = None if job.cancelled() else job.exception()
        if problem is not None:
            logger.error("agent %s broke", node.info.title, exc_info=problem)
        if node.job is job:
            node.job = None
            if not node.final and not self._closing:
                state: NodeState = "failed" if problem is not None else "cancelled"
                self.end(node, Ending(state, "", str(problem or Words("Cancelled."))))
        self._session.working = any(not job.done() for job in self._jobs)
        if node.parent is not None:
            node.parent.news.set()
        if node.state == "cancelled" and not self._closing:
            self._cancel_below(node)

    def _cancel_below(self, node: Node) -> None:
        """Stop the subtree of an agent that was stopped without the tree."""
        below = [other for other in node.subtree() if not other.final]
        reason = Words("The agent that needed it was stopped.")
        job = asyncio.get_running_loop().create_task(self._stop_rest(node, below, reason))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def _stop_rest(self, node: Node, below: Sequence[Node], reason: str) -> None:
        await self.stop(below, reason)
        await self._end_rest([node], Words("the agent that started it was stopped"))


def _take(node: Node) -> list[Said]:
    said = list(node.inbox)
    node.inbox.clear()
    return said


async def _forget(jobs: Sequence[asyncio.Task[None]]) -> None:
    """Wait until all are done; those that do not end by themselves are cancelled."""
    pending = {job for job in jobs if not job.done() and job is not asyncio.current_task()}
    if pending:
        _, pending = await asyncio.wait(pending, timeout=PROMPTLY)
    for _ in range(INSISTING):
        if not pending:
            break
        for job in pending:
            job.cancel()
        _, pending = await asyncio.wait(pending, timeout=1.0)
    if pending:
        logger.error("%s agents do not end when they are cancelled", len(pending))
    await asyncio.sleep(0)  # so that what follows their end has been done too

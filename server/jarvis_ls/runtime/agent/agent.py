"""An agent: one conversation with a model that may use tools, shown and kept as it goes.

    agent = Agent(read_options(), AgentParts(group=group, toolset=toolset, context=context,
                  interaction=NonInteractive(), feed=Feed(), session=session, node=node))
    outcome = await agent.run("What does src/main.c do?")

The agent starts, stops and ends turns. Its state is in `core`, the rounds are in `turn_loop`,
tool calls in `tool_dispatch`, room in `compaction`, words to the model in `prompts` and `request`,
what is shown in `agent_view`, what can be done to it meanwhile in `control`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent import turn_loop
from jarvis_ls.runtime.agent.control import Stopped
from jarvis_ls.runtime.agent.core import AgentCore, AgentParts
from jarvis_ls.runtime.base.events import NodeState
from jarvis_ls.runtime.base.messages import Image, Usage, User
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.base.tracing import span
from jarvis_ls.runtime.llm.call_log import asked_by
from jarvis_ls.runtime.llm.model_group import describe_usage

logger = logging.getLogger(__name__)


class AgentBusy(JarvisError):
    """The agent works on another task; `say` queues words for it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended."""

    text: str
    """The result for anyone who gave the task; for a failure, why, in words."""
    state: NodeState
    """`completed`, `failed` or `cancelled`."""
    usage: Usage
    """What this task used."""
    value: Any = None
    """What the answer says, where the agent has a `form` to meet."""


class Agent(AgentCore):
    """One agent."""

    def __init__(self, options: AgentOptions, parts: AgentParts) -> None:
        super().__init__(options, parts)
        self._work: asyncio.Future[str] | None = None
        self._fault: JarvisError | None = None
        """Why the last turn failed."""

    async def run(self, task: str | None, images: Sequence[Image] = ()) -> Outcome:
        """Work on a task until it is complete, fails or is stopped; the conversation continues
        from where it was. None works through what was queued with `say`.

        Raises `AgentBusy` when it works already, and `asyncio.CancelledError` when the caller is
        cancelled; everything else that goes wrong is an outcome.
        """
        if self.working:
            raise AgentBusy("The agent is running; your message will be queued.")
        before, self.value, self._fault = self.spent, None, None
        self.control.begin()
        if task is not None:
            try:
                self.say(task, images, first=True)
            except JarvisError as error:  # the disk is full: the words were shown, not kept
                self.control.queue.popleft()
                self._settle("failed", str(error))
                return Outcome(str(error), "failed", Usage())
        if self.node.parent is None:
            self.session.working = True
        self.showing.update(state="running", error="", activity="")
        work = self._work = asyncio.ensure_future(self._turn())
        stop = asyncio.ensure_future(self.control.stop_called())
        try:
            await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
            state, text = await self._outcome(work)
        except asyncio.CancelledError:
            self.control.stop()
            await self._end(work)
            self._settle("cancelled", "")
            raise
        finally:
            stop.cancel()
            self._work = None
        self._settle(state, text)
        value = self.value if state == "completed" else None
        return Outcome(text, state, self.spent - before, value)

    def stop(self) -> None:
        """End the turn at once, in the middle of an answer or of a tool."""
        self.control.stop()

    def pause(self) -> None:
        """Hold this turn still before its next step; a later turn is not held."""
        self.control.pause()
        if self.working:
            self.showing.update(state="paused")

    def resume(self) -> None:
        """Go on after `pause`."""
        self.control.resume()
        if self.working:
            self.showing.update(state="running")

    def redirect(self, text: str) -> None:
        """End the step that runs and do this instead; while idle it is read in the next turn."""
        if self.working:
            self.control.interrupt(text)
        else:
            self.say(text)

    def interrupt(self) -> None:
        """End the step that runs and ask the user what to do instead."""
        if self.working:
            self.control.interrupt("")

    @property
    def working(self) -> bool:
        """Return whether it works on a task."""
        return self._work is not None

    @property
    def unread(self) -> bool:
        """Return whether something was said that it has not read yet."""
        return bool(self.control.queue)

    @property
    def spent(self) -> Usage:
        """The usage of this agent so far, without its subtree."""
        return self.session.spent(self.node.id)

    async def _turn(self) -> str:
        self.turns.begin()
        asked_by(self.session.path, self.node.id)
        before = self.spent
        with span(
            "invoke_agent",
            self.options.name,
            gen_ai__agent__name=self.options.name,
            gen_ai__agent__id=self.node.id,
            gen_ai__conversation__id=self.session.id,
        ) as turn:
            try:
                return await turn_loop.run(self)
            finally:
                describe_usage(turn, self.spent - before)

    async def _outcome(self, work: asyncio.Future[str]) -> tuple[NodeState, str]:
        if not work.done() or self.control.stopping:
            await self._end(work)
            return "cancelled", ""
        try:
            return "completed", work.result()
        except (asyncio.CancelledError, Stopped):
            return "cancelled", ""
        except JarvisError as error:
            self._fault = error
            return "failed", str(error)
        except Exception as error:
            logger.exception("the agent %s failed", self.node.title)
            words = Words("Internal error: {why}", why=f"{type(error).__name__}: {error}")
            return "failed", words

    async def _end(self, work: asyncio.Future[str]) -> None:
        if not await self.turns.end(work):
            self.showing.notice(
                "warning",
                "An operation did not stop when asked; its result will be discarded.",
            )
        elif not work.cancelled() and (error := work.exception()) is not None:
            logger.info("while it was stopped, the agent %s raised %r", self.node.title, error)

    def _settle(self, state: NodeState, text: str) -> None:
        """Leave the session whole, whatever happened."""
        if self.node.parent is None:
            self.session.working = False
        self._try(self.mend)
        unread = bool(self.control.queue)
        if state != "completed":
            self._try(self._keep_unread)
        if state == "failed":
            self._try(lambda: self.showing.fault(text, self._fault))
        elif state == "cancelled":
            said = "Stopped. Queued messages are sent together with your next one."
            self._try(lambda: self.showing.notice("info", said if unread else "Stopped."))
        error = text if state == "failed" else ""
        self._try(lambda: self.showing.update(state=state, activity="", error=error))

    def _try(self, work: Callable[[], object]) -> None:
        """Do what must not keep a turn from ending: the disk may be full, and it is shown all
        the same."""
        try:
            work()
        except JarvisError as error:
            logger.error("the end of a turn could not be kept: %s", error)

    def _keep_unread(self) -> None:
        """Move messages that were not read before the turn ended into the conversation.

        They keep their order, before any later message.
        """
        while self.control.queue:
            said = self.control.queue.popleft()
            self.append(User(said.text, said.images, id=said.id))
            self.showing.user(said.id, said.text, said.images)

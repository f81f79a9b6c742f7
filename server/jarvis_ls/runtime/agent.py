"""An agent: one conversation with a model that may use tools, shown and kept as it goes.

    agent = Agent(read_options(), group=group, toolset=toolset, context=context,
                  interaction=Nobody(), feed=Feed(), session=session, node=node)
    outcome = await agent.run("What does src/main.c do?")

The agent itself coordinates: the rounds are in `loop`, tool calls in `calling`, room in
`compaction`, words to the model in `prompting`, what is sent in `questions`, what is seen in
`showing`, what can be done to it meanwhile in `control`, how a turn is ended in `turns`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime import loop
from jarvis_ls.runtime.asking import ModelGroup
from jarvis_ls.runtime.call_log import asked_by
from jarvis_ls.runtime.calling import OutputHandler, ToolCalls, normalised
from jarvis_ls.runtime.control import Control, Said, Stopped
from jarvis_ls.runtime.conversation import unanswered
from jarvis_ls.runtime.errors import ModelError
from jarvis_ls.runtime.events import Feed, NodeInfo, NodeState
from jarvis_ls.runtime.guard import Guard
from jarvis_ls.runtime.handing import LongOutputs
from jarvis_ls.runtime.hooks import AfterModelCall, BeforeModelCall, Hooks
from jarvis_ls.runtime.inputs import Inputs, Place
from jarvis_ls.runtime.interaction import Interaction
from jarvis_ls.runtime.messages import Assistant, Image, Message, ToolResult, Usage, User
from jarvis_ls.runtime.options import AgentOptions, read_options
from jarvis_ls.runtime.platforms.base import Request
from jarvis_ls.runtime.prompting import COMPLETE, SUMMARY, Part, Prompts, prompt
from jarvis_ls.runtime.questions import Questions
from jarvis_ls.runtime.showing import AnswerStream, NodeKeeper, Say, Showing, new_id
from jarvis_ls.runtime.tokens import Counter
from jarvis_ls.runtime.tool import Selected, ToolContext, Toolset
from jarvis_ls.runtime.tool_text import START
from jarvis_ls.runtime.turns import Turns
from jarvis_ls.runtime.watching import Purse, Watch

if TYPE_CHECKING:
    from jarvis_ls.runtime.session import Session

logger = logging.getLogger(__name__)


class AgentBusy(JarvisError):
    """The agent works on another task; `say` queues words for it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended."""

    text: str
    """The result for whoever gave the task; for a failure, why, in words."""
    state: NodeState
    """`completed`, `failed` or `cancelled`."""
    usage: Usage
    """What this task used."""


class Agent:
    """One agent."""

    def __init__(
        self,
        options: AgentOptions,
        *,
        group: ModelGroup,
        toolset: Toolset,
        context: ToolContext,
        interaction: Interaction,
        feed: Feed,
        session: Session,
        node: NodeInfo,
        hooks: Hooks | None = None,
        guard: Guard | None = None,
        cheap: ModelGroup | None = None,
        eyes: ModelGroup | None = None,
        handlers: Sequence[OutputHandler] = (),
        inputs: Inputs | None = None,
        rules: str = "",
        memory: Part | None = None,
        extra: Sequence[Part] = (),
        checkpoint: Callable[[], Awaitable[str]] | None = None,
        keeper: NodeKeeper | None = None,
        say: Say | None = None,
    ) -> None:
        """`cheap` answers simple questions (without it `group` does); `eyes` describe pictures
        to models that do not see; `handlers` take answers that are no tool calls; `rules`,
        `memory` and `extra` are pieces of the prompts; `checkpoint` keeps the files before each
        turn and gives the id to bring them back by; `keeper` keeps the node and counts what it
        spends, for an agent in a tree; `say` puts what the runtime says into the user's
        language."""
        self.showing = Showing(session, feed, node, keeper, say)
        purse = Purse(self.showing)
        self.options = options
        self.group = group if keeper is not None else group.guarded(purse)
        self.cheap = self.group
        if cheap is not None:
            self.cheap = cheap if keeper is not None else cheap.guarded(purse)
        self.toolset = Selected(toolset, options.use_tools) if options.use_tools else toolset
        self.questions = Questions(self)
        self.outputs = LongOutputs(self)
        services = {"long_output": self.outputs.take, **context.services}
        self.context = replace(context, session=session.id, node=node.id, services=services)
        self.interaction = interaction
        self.session = session
        self.hooks = hooks or Hooks()
        self.guard = guard or Guard()
        self.inputs = inputs
        self.tool_calls = ToolCalls()
        self.eyes = eyes if eyes is None or keeper is not None else eyes.guarded(purse)
        self.handlers: list[OutputHandler] = [self.tool_calls, *handlers]
        self.completes_itself = options.completes_itself(child=node.parent is not None)
        self.prompts = Prompts(
            options, rules=rules, memory=memory, extra=extra,
            completes_itself=self.completes_itself, roots=context.roots,
        )  # fmt: skip
        self.control = Control()
        self.counter = Counter()
        self.checkpoint = checkpoint
        self.addon = ""
        """The addon prompt that the conversation holds."""
        self.least = 0
        """Tokens the conversation had right after its last summary: it cannot be smaller."""
        self._recent: list[ToolResult] = []
        self._turns = Turns()
        self._work: asyncio.Future[str] | None = None

    # -- what one does with an agent ---------------------------------------------------------

    async def run(self, task: str | None, images: Sequence[Image] = ()) -> Outcome:
        """Work on a task until it is complete, fails or is stopped; the conversation goes on
        from where it was. None works through what was queued with `say`.

        Raises `AgentBusy` when it works already, and `asyncio.CancelledError` when the caller is
        cancelled; everything else that goes wrong is an outcome.
        """
        if self.working:
            raise AgentBusy("The agent is at work; say it, and it will be read next.")
        before = self.spent
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
            state, text = await self._ended(work)
        except asyncio.CancelledError:
            self.control.stop()
            await self._end(work)
            self._settle("cancelled", "")
            raise
        finally:
            stop.cancel()
            self._work = None
        self._settle(state, text)
        return Outcome(text, state, _minus(self.spent, before))

    def say(self, text: str, images: Sequence[Image] = (), *, first: bool = False) -> str:
        """Queue words: they are read before the next question to the model. Gives their id."""
        said = Said(new_id(), text, tuple(images))
        if first:
            self.control.queue.appendleft(said)
        else:
            self.control.queue.append(said)
        self.showing.user(said.id, text, images, queued=not first)
        return said.id

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
        """Whether it works on a task."""
        return self._work is not None

    @property
    def unread(self) -> bool:
        """Whether something was said that it has not read yet."""
        return bool(self.control.queue)

    @property
    def node(self) -> NodeInfo:
        """As it is shown now."""
        return self.showing.node

    @property
    def spent(self) -> Usage:
        """What this agent used so far, without those below it."""
        return self.session.spent(self.node.id)

    # -- for the parts of an agent -----------------------------------------------------------

    def messages(self) -> list[Message]:
        """The conversation as it is kept."""
        return self.session.messages(self.node.id)

    def append(self, message: Message) -> Message:
        """Keep a message; it is on its way to the disk when this returns."""
        self._turns.check()
        kept = self.session.append(self.node.id, message)
        if isinstance(kept, ToolResult):
            self._recent.append(kept)
        elif isinstance(kept, Assistant):
            self._recent.clear()
        return kept

    def replace_messages(self, messages: Sequence[Message]) -> None:
        """Let these stand for the conversation; the old ones stay in the journal."""
        self.session.replace(self.node.id, messages)
        self.questions.forget_sizes()

    def recent_results(self) -> list[ToolResult]:
        """Results of the calls of the latest answer."""
        return self._recent

    def mend(self) -> None:
        """Give calls that a dead process left without a result one that says so."""
        for result in unanswered(self.messages()):
            self.append(result)

    async def checkpoint_reached(self) -> None:
        """Between two steps: wait while paused. Raises when the user stopped or interrupted."""
        await self.control.gate()

    def place(self) -> Place:
        """Where its input is read."""
        return Place(self.context, self.toolset, self.showing, self.interaction, self)

    @property
    def native(self) -> bool:
        """Whether its models call tools natively."""
        return self.group.native_tools

    async def ask(self, request: Request, stream: AnswerStream) -> Assistant:
        """The answer to a question, streamed. Raises a `ModelError`, or what the guard raises."""
        self._turns.check()
        await self.guard.before_model_call(self)
        await self.hooks.emit(BeforeModelCall(self, tuple(request.messages)))
        answer = await self.group.ask(request, Watch(self.showing, stream, self._turns.check))
        await self.hooks.emit(AfterModelCall(self, answer))
        await self.guard.after_model_call(self, answer)
        return answer

    async def aside(self, messages: Sequence[Message], *, cheap: bool = False) -> Assistant:
        """The answer to a question beside the conversation; nothing of it is shown or kept but
        its cost. Raises a `ModelError`, or what the guard raises."""
        self._turns.check()
        asked_by(self.session.path, self.node.id)  # also outside of a turn
        await self.guard.before_model_call(self)
        request = Request(list(messages)) if cheap else self.questions.of(messages)
        group = self.cheap if cheap else self.group
        answer = await group.ask(request, Watch(self.showing, None, self._turns.check))
        await self.guard.after_model_call(self, answer)
        return answer

    async def side_task(self, text: str) -> list[str]:
        """Put a text before the model and run the tools it calls, beside the conversation; only
        the calls are shown. Gives the names of the tools that succeeded. Raises like `aside`."""
        answer = await self.aside([*self.messages(), User(text)])
        answer, _, _ = normalised(answer, self.native)
        return await self.tool_calls.run_aside(answer, self)

    async def described(self, text: str, images: Sequence[Image]) -> str:
        """Pictures in words, by the models that see, for those that do not; empty without such
        models, or when they fail."""
        if not images or self.eyes is None or self.group.sees_images:
            return ""
        asked = User(prompt("describe").replace("{task}", text), tuple(images))
        try:
            watch = Watch(self.showing, None, self._turns.check)
            answer = await self.eyes.ask(Request([asked]), watch)
        except ModelError as error:
            self.showing.notice("warning", "The pictures could not be described: {why}", why=error)
            return ""
        return answer.text.strip()

    def stream(self) -> AnswerStream:
        """A new answer to be shown as it comes."""
        marks = (COMPLETE, SUMMARY) if self.native else (COMPLETE, SUMMARY, START)
        return self.showing.answer(until=marks)

    # -- below: how a turn ends --------------------------------------------------------------

    async def _turn(self) -> str:
        self._turns.begin()
        asked_by(self.session.path, self.node.id)
        return await loop.run(self)

    async def _ended(self, work: asyncio.Future[str]) -> tuple[NodeState, str]:
        if not work.done() or self.control.stopping:
            await self._end(work)
            return "cancelled", ""
        try:
            return "completed", work.result()
        except (asyncio.CancelledError, Stopped):
            return "cancelled", ""
        except JarvisError as error:
            return "failed", str(error)
        except Exception as error:
            logger.exception("the agent %s failed", self.node.title)
            words = Words(
                "Something went wrong inside: {why}", why=f"{type(error).__name__}: {error}"
            )
            return "failed", words

    async def _end(self, work: asyncio.Future[str]) -> None:
        if not await self._turns.end(work):
            self.showing.notice(
                "warning",
                "Something did not end when it was told to; its result will be thrown away.",
            )
        elif not work.cancelled() and (error := work.exception()) is not None:
            logger.info("while it was stopped, the agent %s raised %r", self.node.title, error)

    def _settle(self, state: NodeState, text: str) -> None:
        """Leave the session whole, whatever happened."""
        if self.node.parent is None:
            self.session.working = False
        self._tried(self.mend)
        unread = bool(self.control.queue)
        if state != "completed":
            self._tried(self._keep_unread)
        if state == "failed":
            self._tried(lambda: self.showing.notice("error", text))
        elif state == "cancelled":
            said = "Stopped. What was queued is read with what is said next."
            self._tried(lambda: self.showing.notice("info", said if unread else "Stopped."))
        error = text if state == "failed" else ""
        self._tried(lambda: self.showing.update(state=state, activity="", error=error))

    def _tried(self, work: Callable[[], object]) -> None:
        """Do what must not keep a turn from ending: the disk may be full, and it is shown all
        the same."""
        try:
            work()
        except JarvisError as error:
            logger.error("the end of a turn could not be kept: %s", error)

    def _keep_unread(self) -> None:
        """What was said and not read before the turn ended stands in the conversation, in its
        order, before what is said next."""
        while self.control.queue:
            said = self.control.queue.popleft()
            self.append(User(said.text, said.images, id=said.id))
            self.showing.user(said.id, said.text, said.images)


def _minus(after: Usage, before: Usage) -> Usage:
    return Usage(
        after.input - before.input,
        after.output - before.output,
        after.cached - before.cached,
        after.reasoning - before.reasoning,
        after.cost - before.cost,
    )


__all__ = ["Agent", "AgentBusy", "AgentOptions", "Outcome", "read_options"]

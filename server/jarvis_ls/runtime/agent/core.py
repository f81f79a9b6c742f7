"""The state of one agent, and what its parts do with it.

`AgentCore` holds the conversation, the prompts, the models and the tools of an agent; `turn_loop`
works on it, and `agent.Agent` starts, stops and ends the turns.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jarvis_ls.runtime.agent.agent_view import AnswerStream, NodeKeeper, Say, Showing, new_id
from jarvis_ls.runtime.agent.attachments import LongOutputs
from jarvis_ls.runtime.agent.call_observers import Purse, Watch
from jarvis_ls.runtime.agent.control import Control, Said
from jarvis_ls.runtime.agent.guard import Guard
from jarvis_ls.runtime.agent.hooks import AfterModelCall, BeforeModelCall, Hooks
from jarvis_ls.runtime.agent.prompts import MARKS, Part, Prompts, prompt
from jarvis_ls.runtime.agent.request import Questions
from jarvis_ls.runtime.agent.tool_dispatch import OutputHandler, ToolCalls, normalised
from jarvis_ls.runtime.agent.turn_lifecycle import Turns
from jarvis_ls.runtime.agent.typed_answer import AnswerForm
from jarvis_ls.runtime.agent.user_input import InputContext, Inputs
from jarvis_ls.runtime.base.errors import ModelError
from jarvis_ls.runtime.base.events import Feed, NodeInfo
from jarvis_ls.runtime.base.messages import Assistant, Image, Message, ToolResult, User
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.llm.call_log import asked_by
from jarvis_ls.runtime.llm.model_group import ModelGroup
from jarvis_ls.runtime.llm.platforms.base import Request
from jarvis_ls.runtime.llm.text_tool_calls import START
from jarvis_ls.runtime.llm.token_estimate import Counter
from jarvis_ls.runtime.llm.wire_conversation import unanswered
from jarvis_ls.runtime.session.session import Session
from jarvis_ls.runtime.tools.interaction import Interaction
from jarvis_ls.runtime.tools.tool import Selected, ToolContext, Toolset


@dataclass(frozen=True, slots=True)
class AgentParts:
    """What an agent is made of."""

    group: ModelGroup
    """The models that answer."""
    toolset: Toolset
    context: ToolContext
    """What its tools are given."""
    interaction: Interaction
    """Answers its questions."""
    feed: Feed
    """Gets what it shows."""
    session: Session
    """Keeps its conversation."""
    node: NodeInfo
    hooks: Hooks | None = None
    guard: Guard | None = None
    cheap: ModelGroup | None = None
    """Answers simple questions; without it `group` does."""
    eyes: ModelGroup | None = None
    """Describes pictures to models that do not see."""
    handlers: Sequence[OutputHandler] = ()
    """Take answers that are no tool calls."""
    inputs: Inputs | None = None
    """Changes what the user typed before a model reads it."""
    rules: str = ""
    """The user's and the project's rules, for the system prompt."""
    place: Part | None = None
    """The piece of the addon prompt on where it works."""
    memory: Part | None = None
    """The piece of the addon prompt on what is remembered."""
    extra: Sequence[Part] = ()
    """Further pieces of the addon prompt."""
    checkpoint: Callable[[], Awaitable[str]] | None = None
    """Keeps the files before each turn; gives the id to restore them by."""
    keeper: NodeKeeper | None = None
    """Keeps the node and counts what it spends, for an agent in a tree."""
    say: Say | None = None
    """Translates what the runtime says into the user's language."""


class AgentCore:
    """The state of one agent."""

    def __init__(self, options: AgentOptions, parts: AgentParts) -> None:
        keeper = parts.keeper
        self.showing = Showing(parts.session, parts.feed, parts.node, keeper, parts.say)
        purse = Purse(self.showing)

        def metered(group: ModelGroup) -> ModelGroup:
            return group if keeper is not None else group.guarded(purse)

        self.options = options
        self.group = metered(parts.group)
        self.cheap = self.group if parts.cheap is None else metered(parts.cheap)
        self.eyes = None if parts.eyes is None else metered(parts.eyes)
        self.toolset: Toolset = parts.toolset
        if options.use_tools:
            self.toolset = Selected(parts.toolset, options.use_tools)
        self.questions = Questions(self)
        self.outputs = LongOutputs(self)
        context = parts.context
        services = {"long_output": self.outputs.take, **context.services}
        node = parts.node
        self.context = replace(context, session=parts.session.id, node=node.id, services=services)
        self.interaction = parts.interaction
        self.session = parts.session
        self.hooks = parts.hooks or Hooks()
        self.guard = parts.guard or Guard()
        self.inputs = parts.inputs
        self.tool_calls = ToolCalls()
        self.handlers: list[OutputHandler] = [self.tool_calls, *parts.handlers]
        self.completes_itself = options.completes_itself(child=node.parent is not None)
        self.prompts = Prompts(
            options,
            rules=parts.rules,
            place=parts.place,
            memory=parts.memory,
            extra=parts.extra,
            completes_itself=self.completes_itself,
            roots=context.roots,
        )
        self.control = Control()
        self.counter = Counter()
        self.checkpoint = parts.checkpoint
        self.form: AnswerForm | None = None
        """What the last answer of a task must be; None: any text."""
        self.value: Any = None
        """What the last answer said, where it had to meet a form."""
        self.prompts.add(lambda: self.form.instructions if self.form is not None else "")
        self.addon: tuple[str, ...] = ()
        """The parts of the addon prompt that the conversation holds."""
        self.least = 0
        """Tokens the conversation had right after its last summary: it cannot be smaller."""
        self.turns = Turns()
        self._recent: list[ToolResult] = []

    @property
    def node(self) -> NodeInfo:
        """As it is shown now."""
        return self.showing.node

    def say(self, text: str, images: Sequence[Image] = (), *, first: bool = False) -> str:
        """Queue words: they are read before the next question to the model. Gives their id."""
        said = Said(new_id(), text, tuple(images))
        if first:
            self.control.queue.appendleft(said)
        else:
            self.control.queue.append(said)
        self.showing.user(said.id, text, images, queued=not first)
        return said.id

    def messages(self) -> list[Message]:
        """Return the conversation as it is kept."""
        return self.session.messages(self.node.id)

    def append(self, message: Message) -> Message:
        """Keep a message; it is on its way to the disk when this returns."""
        self.turns.check()
        kept = self.session.append(self.node.id, message)
        if isinstance(kept, ToolResult):
            self._recent.append(kept)
        elif isinstance(kept, Assistant):
            self._recent.clear()
        return kept

    def replace_messages(self, messages: Sequence[Message]) -> None:
        """Let these represent the conversation; the old ones stay in the journal."""
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

    def input_context(self) -> InputContext:
        """Return where its input is read."""
        return InputContext(self.context, self.toolset, self.showing, self.interaction, self)

    @property
    def native(self) -> bool:
        """Return whether its models call tools natively."""
        return self.group.native_tools

    async def ask(self, request: Request, stream: AnswerStream) -> Assistant:
        """Return the answer to a question, streamed. Raises a `ModelError`, or what the guard
        raises.
        """
        self.turns.check()
        await self.guard.before_model_call(self)
        await self.hooks.emit(BeforeModelCall(self, tuple(request.messages)))
        answer = await self.group.ask(request, Watch(self.showing, stream, self.turns.check))
        await self.hooks.emit(AfterModelCall(self, answer))
        await self.guard.after_model_call(self, answer)
        return answer

    async def aside(self, messages: Sequence[Message], *, cheap: bool = False) -> Assistant:
        """Return the answer to a question beside the conversation; nothing of it is shown or kept
        but its cost. Raises a `ModelError`, or what the guard raises.
        """
        self.turns.check()
        asked_by(self.session.path, self.node.id)  # also outside of a turn
        await self.guard.before_model_call(self)
        request = Request(list(messages)) if cheap else self.questions.of(messages)
        group = self.cheap if cheap else self.group
        answer = await group.ask(request, Watch(self.showing, None, self.turns.check))
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
            watch = Watch(self.showing, None, self.turns.check)
            answer = await self.eyes.ask(Request([asked]), watch)
        except ModelError as error:
            self.showing.notice("warning", "The pictures could not be described: {why}", why=error)
            return ""
        return answer.text.strip()

    def stream(self) -> AnswerStream:
        """Return a new answer to be shown as it comes."""
        return self.showing.answer(until=MARKS if self.native else (*MARKS, START))

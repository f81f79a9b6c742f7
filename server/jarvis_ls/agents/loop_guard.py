"""The watch over repetition: an agent that does the same again and again learns nothing.

Seen are: the same call three times with the same result, two calls in turn (A B A B) with the
same results, and the same error three times since something new was learned. First the model is
told; when it continues all the same, the user is asked, and without a user, the agent ends. A call
whose result differs, as when something is polled, is no repetition.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.guard import Guard, Halted
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.tools.interaction import Interaction

if TYPE_CHECKING:
    from jarvis_ls.runtime.agent.interface import AgentInterface

TIMES = 3
"""How often the same call or the same error is a repetition."""
GO_ON, STOP = Words("Continue"), Words("Stop")
_SEEN = 1_000
_VARYING = re.compile(r"\b(?:0x[0-9a-f]+|\d+(?:\.\d+)?)\b", re.I)


@dataclass(frozen=True, slots=True)
class _Step:
    call: str
    """Name and arguments in one form."""
    outcome: str
    """Fingerprint of the result."""


class Watch:
    """Looks at the calls of one agent."""

    def __init__(self) -> None:
        self._steps: deque[_Step] = deque(maxlen=4)
        self._errors: Counter[str] = Counter()
        self._seen: dict[_Step, None] = {}
        self.learned = False
        """Whether the last call gave something that had not been seen before."""

    def add(self, call: ToolCall, result: ToolResult) -> str:
        """Take in a call and its result; what is being repeated, in words, or nothing."""
        step = _Step(_write(call), _fingerprint(f"{result.is_error}{result.text}"))
        self.learned = not result.is_error and step not in self._seen
        if self.learned:
            self._errors.clear()
        self._remember(step)
        self._steps.append(step)
        steps = list(self._steps)
        if len(steps) >= TIMES and len(set(steps[-TIMES:])) == 1:
            return Words(
                "the same call of {tool} with the same result {n} times", tool=call.name, n=TIMES
            )
        if len(steps) == 4 and steps[0] == steps[2] != steps[1] == steps[3]:
            return Words("two calls in turn, each time with the same results")
        if result.is_error:
            error = f"{call.name}:{_VARYING.sub('#', ' '.join(result.text.split()))[:300].lower()}"
            self._errors[error] += 1
            if self._errors[error] >= TIMES:
                return Words(
                    "calls of {tool} that failed with the same error {n} times",
                    tool=call.name,
                    n=TIMES,
                )
        return ""

    def forget(self) -> None:
        """Start over."""
        self._steps.clear()
        self._errors.clear()

    def _remember(self, step: _Step) -> None:
        self._seen.pop(step, None)
        self._seen[step] = None
        if len(self._seen) > _SEEN:
            del self._seen[next(iter(self._seen))]


class LoopGuard(Guard):
    """Tells the model, then asks the user, then ends the agent."""

    def __init__(self, node: str, title: Callable[[], str], interaction: Interaction) -> None:
        """`node` is who asks; `title` is what the user knows it by."""
        self._node = node
        self._title = title
        self._interaction = interaction
        self._watch = Watch()
        self._round = 0
        self._told = -1
        """Round in which the model was told; -1 when it was not."""
        self._asking = asyncio.Lock()

    def forget(self) -> None:
        """Start over: the agent was told something by a person."""
        self._watch.forget()
        self._told = -1

    async def before_model_call(self, agent: AgentInterface) -> None:
        """See `Guard`."""
        self._round += 1

    async def after_tool_call(
        self, agent: AgentInterface, call: ToolCall, result: ToolResult
    ) -> str:
        """See `Guard`."""
        return await self.look(call, result)

    async def look(self, call: ToolCall, result: ToolResult) -> str:
        """Return what the model reads about a repetition; empty when there is none.

        Raises `Halted` when it was told before, continued, and no one wants it to.
        """
        repeated = self._watch.add(call, result)
        if not repeated:
            if self._watch.learned:
                self._told = -1
            return ""
        if self._told < 0:
            self._told = self._round
            return (
                f"Note: you have made {repeated}. Repeating it will not change anything. Think"
                " about what you expected and why it did not happen, and do something else; if"
                " there is nothing else to try, say what blocks you."
            )
        if self._told == self._round:
            return ""  # the same answer of the model: it could not read the note yet
        async with self._asking:
            if self._told < 0:  # another call of the same answer has asked
                return ""
            question = Words(
                "“{title}” is in a loop: {repeated}. Continue?",
                title=self._title(),
                repeated=repeated,
            )
            answer = await self._interaction.question(self._node, question, (GO_ON, STOP), STOP)
            self.forget()
            if answer != GO_ON:
                raise Halted("It was in a loop: {repeated}.", repeated=repeated)
        return ""


def _write(call: ToolCall) -> str:
    if call.raw is not None:
        return f"{call.name} {call.raw}"
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)}"


def _fingerprint(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

"""Asking a group of models one question until one of them has answered it.

Models and keys of the group take turns. One that is busy or cannot be reached rests while
others are asked; when all rest, we wait for the first. An answer that broke off is asked again.
What cannot be helped is raised at once.
"""

from __future__ import annotations

import asyncio
import copy
import json
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import (
    AnswerBroken,
    AnswerCut,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelUnreachable,
)
from jarvis_ls.runtime.base.messages import Assistant, FileRef, Finish, ToolCall, Usage
from jarvis_ls.runtime.base.tracing import Span, span
from jarvis_ls.runtime.llm.failure_advice import explained
from jarvis_ls.runtime.llm.platforms.base import (
    Delta,
    FinishDelta,
    ModelInfo,
    Platform,
    ReasoningDelta,
    Request,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageDelta,
)
from jarvis_ls.runtime.llm.providers import Candidate


@dataclass(frozen=True, slots=True)
class Patience:
    """How hard to try."""

    attempts: int = 6
    """Requests sent for one question at most."""
    broken: int = 3
    """Of these, how many may give a broken answer."""
    absent: int = 3
    """Of these, how many may find that nothing listens at an address of this machine: a server
    that is just being started is waited for, one that is not there is soon told."""
    absent_wait: float = 0.5
    """Seconds such a model rests, each time."""
    first_wait: float = 1.0
    """Seconds the first rest lasts; each further one of the same candidate doubles it."""
    longest_wait: float = 60.0
    """Seconds a rest lasts at most; a provider that asks for more is not waited for: the question
    has failed, and the next one is put to it as if it had not asked."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A request goes out; what an earlier attempt streamed no longer counts."""

    label: str
    """`provider/model`."""
    attempt: int
    """From 1."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """All candidates rest."""

    seconds: float
    reason: str
    """In words for the user."""


@dataclass(frozen=True, slots=True)
class Again:
    """An attempt failed, and the next follows at once."""

    label: str
    """Who is asked now; empty for the same `provider/model`."""
    reason: str
    """What was wrong, in words for the user."""


Progress = Begun | Waiting | Again | Delta
Watch = Callable[[Progress], Awaitable[None]]


class CallGuard(ABC):
    """Called before every request of a group: may hold it back, and hears what it cost."""

    @abstractmethod
    async def before(self, request: Request, model: ModelInfo) -> None:
        """Check a request before it is sent to `model`; an error raised here prevents it."""

    @abstractmethod
    def after(self, usage: Usage, answered: bool) -> None:
        """Record the usage that the provider reported for the last request that was let through.

        Also whether any answer arrived, however it ended; called exactly once for each.
        """


@dataclass
class _Rest:
    until: float = 0.0
    times: int = 0
    why: ModelError | None = None
    refused: ModelError | None = None


class ModelGroup:
    """A group of candidates that take turns; keep one as long as the conversation."""

    def __init__(
        self,
        candidates: list[Candidate],
        platform_of: Callable[[Candidate], Platform],
        *,
        patience: Patience | None = None,
    ) -> None:
        """`platform_of` gives the connection to use for a candidate."""
        self._candidates = candidates
        self._platform_of = platform_of
        self._patience = patience or Patience()
        self._rests: dict[int, _Rest] = {i: _Rest() for i in range(len(candidates))}
        self._turn = 0
        self._guard: CallGuard | None = None

    def guarded(self, guard: CallGuard) -> ModelGroup:
        """Return the same group for one asker: every request of it passes `guard`. Who rests is
        known to both.
        """
        other = copy.copy(self)
        other._guard = guard
        return other

    @property
    def preferred(self) -> str:
        """Return the name of the model that is asked first: `provider/model`."""
        return self._candidates[0].label

    @property
    def window(self) -> int:
        """Tokens that fit every model of the group."""
        return min(candidate.model.window for candidate in self._candidates)

    @property
    def native_tools(self) -> bool:
        """Return whether every model of the group calls tools natively."""
        return all(candidate.model.tools for candidate in self._candidates)

    @property
    def sends_reasoning(self) -> bool:
        """Return whether reasoning is part of what some model of the group is sent."""
        return any(candidate.model.reasoning_back for candidate in self._candidates)

    @property
    def takes_files(self) -> bool:
        """Return whether a file that is handed over once can be read by every candidate."""
        first, *others = self._candidates
        same = all((c.provider, c.key) == (first.provider, first.key) for c in others)
        return same and all(candidate.model.upload for candidate in self._candidates)

    @property
    def sees_images(self) -> bool:
        """Return whether every model of the group sees pictures."""
        return all(candidate.model.images for candidate in self._candidates)

    async def upload(self, name: str, data: bytes) -> FileRef:
        """Hand over a file. Raises a `ModelError`."""
        return await self._platform_of(self._candidates[0]).upload(name, data)

    async def ask(self, request: Request, watch: Watch | None = None) -> Assistant:
        """Return the answer of the first candidate that gives one.

        `watch` is called for every request, wait and piece of the answer. Raises the `ModelError`
        of the last attempt when none is left, `ContextTooLong` at once.
        """
        last: ModelError | None = None
        broken = 0
        absent: Counter[int] = Counter()
        spent = Usage()
        asked = ""
        for attempt in range(1, self._patience.attempts + 1):
            number, waited = await self._next(last, watch, told=attempt > 2)
            candidate = self._candidates[number]
            if last is not None and not waited and watch is not None:
                label = "" if candidate.label == asked else candidate.label
                await watch(Again(label, _why(last, attempt > 2)))
            asked = candidate.label
            if self._guard is not None:
                await self._guard.before(request, candidate.model)
            building = _Building()
            try:
                if watch is not None:
                    await watch(Begun(candidate.label, attempt))
                answer = await self._ask_once(candidate, request, building, watch)
                self._rests[number] = _Rest()
                return replace(answer, usage=spent + answer.usage)
            except (ModelBusy, ModelUnreachable) as error:
                last = explained(error, candidate)
                absent[number] += self._rest(number, error)
                if all(absent[n] >= self._patience.absent for n in self._usable()):
                    raise
            except AnswerCut:
                self._rests[number] = _Rest()
                raise  # the same question would be cut at the same place
            except AnswerBroken as error:
                last = explained(error, candidate)
                broken += 1
                if broken >= self._patience.broken:
                    raise
            except ModelRefused as error:
                last = explained(error, candidate)
                self._rests[number].refused = error
                if all(rest.refused for rest in self._rests.values()):
                    raise
            finally:
                if self._guard is not None:
                    self._guard.after(building.usage, building.answered)
            spent = spent + building.usage
        assert last is not None
        raise last

    async def _ask_once(
        self, candidate: Candidate, request: Request, building: _Building, watch: Watch | None
    ) -> Assistant:
        """Ask once, as a span."""
        model = candidate.model
        with span(
            "chat",
            model.name,
            gen_ai__provider__name=candidate.provider.name,
            gen_ai__request__model=model.name,
            gen_ai__request__max_tokens=request.max_output or model.max_output,
            gen_ai__request__temperature=request.temperature,
            server__address=urlsplit(candidate.provider.base or "").hostname,
        ) as asked:
            try:
                return await self._once(candidate, request, building, watch)
            finally:
                asked.set(gen_ai__response__finish_reasons=[building.finish])
                asked.tell(gen_ai__output__messages="".join(building.text))
                describe_usage(asked, building.usage)

    async def _once(
        self, candidate: Candidate, request: Request, building: _Building, watch: Watch | None
    ) -> Assistant:
        platform = self._platform_of(candidate)
        stream = platform.stream(candidate.model, request)
        try:
            async for delta in stream:
                building.add(delta)
                if watch is not None:
                    await watch(delta)
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()
        return building.finished(candidate.label)

    async def _next(
        self, last: ModelError | None, watch: Watch | None, *, told: bool = False
    ) -> tuple[int, bool]:
        """Return the candidate whose turn it is, when it has rested, and whether that was waited
        for;
        `told` when the user knows already what can be done about the fault."""
        loop = asyncio.get_running_loop()
        if not (usable := self._usable()):
            for rest in self._rests.values():  # a key may have been mended since
                rest.refused = None
            usable = self._usable()
        order = sorted(usable, key=lambda n: (n - self._turn) % len(self._candidates))
        awake = next((n for n in order if self._rests[n].until <= loop.time()), None)
        waits = awake is None
        if awake is None:
            awake = min(order, key=lambda n: self._rests[n].until)
            wait = self._rests[awake].until - loop.time()
            if wait <= self._patience.longest_wait:
                if watch is not None:
                    await watch(Waiting(wait, _why(last or self._rests[awake].why, told)))
                await asyncio.sleep(max(0.0, wait))
            elif last is not None:
                raise last
        self._turn = (awake + 1) % len(self._candidates)
        return awake, waits

    def _usable(self) -> list[int]:
        return [n for n, rest in self._rests.items() if rest.refused is None]

    def _rest(self, number: int, error: ModelError) -> bool:
        """Let a candidate rest; whether its server is on this machine and is not there."""
        rest = self._rests[number]
        rest.why = error
        absent = getattr(error, "refused", False) and self._candidates[number].provider.is_here
        asked = getattr(error, "retry_after", None)
        wait = min(self._patience.longest_wait, self._patience.first_wait * 2**rest.times)
        wait = asked if asked is not None else wait * random.uniform(0.75, 1.0)
        if absent:
            wait = min(wait, self._patience.absent_wait)
        else:
            rest.times += 1
        rest.until = asyncio.get_running_loop().time() + wait
        return absent


def describe_usage(of: Span, usage: Usage) -> None:
    """Tell a span what was used."""
    of.set(
        gen_ai__usage__input_tokens=usage.input,
        gen_ai__usage__output_tokens=usage.output,
        gen_ai__usage__cache_read__input_tokens=usage.cached,
    )


def _why(last: ModelError | None, told: bool) -> str:
    if last is None:
        return Words("all models are paused after errors")
    return last.brief if told and last.brief else str(last)


@dataclass
class _Building:
    """An answer as its pieces come in."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: dict[int, ToolCallDelta] = field(default_factory=dict)
    reasoning: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    finish: Finish = "truncated"

    @property
    def answered(self) -> bool:
        """Return whether anything came."""
        return bool(self.text or self.thinking or self.calls)

    def add(self, delta: Delta) -> None:
        if isinstance(delta, TextDelta):
            self.text.append(delta.text)
        elif isinstance(delta, ThinkingDelta):
            self.thinking.append(delta.text)
        elif isinstance(delta, ToolCallDelta):
            self._add_call(delta)
        elif isinstance(delta, ReasoningDelta):
            self.reasoning.append(delta.item)
        elif isinstance(delta, UsageDelta):
            self.usage = delta.usage
        elif isinstance(delta, FinishDelta):
            self.finish = delta.reason

    def finished(self, model: str) -> Assistant:
        """Return the whole answer. Raises `AnswerBroken` for one that is cut off or empty."""
        text, thinking = "".join(self.text), "".join(self.thinking)
        calls = tuple(_call(number, call) for number, call in sorted(self.calls.items()))
        if self.finish == "truncated":
            raise AnswerBroken("The answer was cut off before its end.")
        if self.finish == "length" and calls:
            raise AnswerCut(
                "The answer reached its limit in the middle of a tool call.",
                text=text,
                tool=calls[-1].name,
            )
        if self.finish == "length" and not text.strip():
            raise AnswerCut("The answer reached its limit before it said anything.")
        if not text.strip() and not calls:
            raise AnswerBroken(
                Words("The provider's content filter blocked the answer.")
                if self.finish == "filtered"
                else Words("The model gave an empty answer.")
            )
        return Assistant(
            text,
            thinking,
            calls,
            self.finish,
            model,
            self.usage,
            reasoning=tuple(self.reasoning),
        )

    def _add_call(self, delta: ToolCallDelta) -> None:
        known = self.calls.get(delta.index)
        if known is not None and delta.id and known.id and delta.id != known.id:
            # Some providers put every call at index 0: another id begins another call.
            delta = replace(delta, index=max(self.calls) + 1)
            known = None
        if known is None and not delta.id and not delta.name and self.calls:
            known = self.calls[max(self.calls)]
        self.calls[known.index if known else delta.index] = (
            delta
            if known is None
            else replace(
                known,
                id=known.id or delta.id,
                name=known.name + delta.name,
                arguments=known.arguments + delta.arguments,
            )
        )


def _call(number: int, call: ToolCallDelta) -> ToolCall:
    arguments: Any = {}
    raw = None
    if call.arguments.strip():
        try:
            arguments = json.loads(call.arguments)
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            arguments, raw = {}, call.arguments
    return ToolCall(call.id or f"call_{number}", call.name, arguments, raw)

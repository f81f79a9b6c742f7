"""Anthropic's own protocol, through the `anthropic` SDK.

The compatible endpoint loses thinking, its signatures and the prompt cache; this one keeps them.
How a conversation is written for it is in `anthropic_turns`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable
from contextlib import aclosing
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jarvis_ls.runtime.base.errors import (
    AnswerBroken,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelUnreachable,
)
from jarvis_ls.runtime.base.messages import Finish, Usage
from jarvis_ls.runtime.llm.platforms.anthropic_turns import CACHED, to_anthropic
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
from jarvis_ls.runtime.llm.platforms.faults import (
    cause_of,
    of_status,
    retry_after,
    too_long,
    too_long_said,
    unreachable,
)
from jarvis_ls.runtime.llm.platforms.streaming import LONGEST, Deadlines, Measure, events_of, unsaid

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

LEAST_THINKING = 1024
"""Fewer tokens to think with are refused."""
DEFAULT_OUTPUT = 8192
"""Tokens of an answer where nothing else is said; the protocol wants a number."""
_FINISH: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "filtered",
}
_BUSY = ("overloaded_error", "rate_limit_error", "api_error", "timeout_error")
_FORGOTTEN = re.compile(r"(?i)invalid.{0,20}signature")


class Anthropic(Platform):
    """One endpoint with one key."""

    name = "anthropic"

    def __init__(
        self,
        base_url: str | None,
        api_key: str,
        *,
        deadlines: Deadlines | None = None,
        longest: int = LONGEST,
    ) -> None:
        """`base_url` None means Anthropic's own. An answer of more than `longest` characters
        is given up."""
        self.base_url = base_url
        self._key = api_key
        self._deadlines = deadlines or Deadlines()
        self._longest = longest
        self._client_: AsyncAnthropic | None = None
        self._forgotten: set[str] = set()
        """Models that did not know a signature as theirs any more."""

    def wait(self, seconds: float) -> None:
        """See `Platform`."""
        self._deadlines = Deadlines.patient(seconds)

    async def models(self) -> list[str]:
        """Names of the models the endpoint offers, the newest first. Raises a `ModelError`."""
        try:
            if self._client_ is None:
                await asyncio.to_thread(import_module, "anthropic")
            return [model.id async for model in self._client.models.list()]
        except Exception as error:
            raise as_model_error(error) from error

    async def close(self) -> None:
        """Give up connections."""
        if self._client_ is not None:
            await self._client_.close()
            self._client_ = None

    async def stream(self, model: ModelInfo, request: Request) -> AsyncIterator[Delta]:
        """See `Platform.stream`."""
        answer = _Answer(model)
        measure = Measure(self._longest)
        while True:
            begun = False
            try:
                if self._client_ is None:  # to load the SDK takes its time, not the model's
                    await asyncio.to_thread(import_module, "anthropic")
                events = events_of(lambda: self._begin(model, request), self._deadlines)
                async with aclosing(events):
                    async for event in events:
                        begun = True
                        for delta in answer.take(event):
                            measure.take(delta)
                            yield delta
            except Exception as error:
                if not begun and self._forget(model, error):
                    continue
                raise as_model_error(error) from error
            break
        for block in answer.signed:
            yield ReasoningDelta(block)
        yield FinishDelta(answer.finish or "truncated")

    @property
    def _client(self) -> AsyncAnthropic:
        if self._client_ is None:
            from anthropic import AsyncAnthropic, Timeout

            wait = self._deadlines
            self._client_ = AsyncAnthropic(
                base_url=self.base_url,
                api_key=self._key,
                max_retries=0,  # the model group decides whether and where to try again
                timeout=Timeout(wait.total, connect=wait.connect),
                open_telemetry=False,  # no one is told of our calls but who answers them
            )
        return self._client_

    def _begin(self, model: ModelInfo, request: Request) -> Awaitable[Any]:
        from anthropic import Omit

        begun: Awaitable[Any] = self._client.messages.create(
            **self._parameters(model, request),
            extra_headers={**unsaid(Omit()), **model.headers},
        )
        return begun

    def _parameters(self, model: ModelInfo, request: Request) -> dict[str, Any]:
        known = "" if model.name in self._forgotten else model.name
        said = to_anthropic(request.messages, known)
        extra = {**model.extra, **request.extra}
        limit = request.max_output or model.max_output or DEFAULT_OUTPUT
        if model.reasoning_effort and model.reasoning_effort != "none":
            extra.setdefault("output_config", {"effort": model.reasoning_effort})
        if model.thinking is True and "thinking" not in extra:
            extra["thinking"] = {"type": "adaptive"}
        elif model.thinking and "thinking" not in extra:
            budget = max(LEAST_THINKING, model.thinking)
            extra["thinking"] = {"type": "enabled", "budget_tokens": budget}
            limit += budget  # thinking counts as output
        if said.unsigned:
            extra.pop("thinking", None)  # a turn whose thinking is lost can only continue without
        parameters: dict[str, Any] = {
            "model": model.name,
            "max_tokens": min(limit, model.window),
            "messages": said.messages,
            "stream": True,
        }
        if said.system:
            parameters["system"] = [{"type": "text", "text": said.system, "cache_control": CACHED}]
        if request.tools and model.tools:
            parameters["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters,
                }
                for tool in request.tools
            ]
        if request.temperature is not None and "thinking" not in extra:
            extra["temperature"] = request.temperature
        if extra:
            parameters["extra_body"] = extra
        return parameters

    def _forget(self, model: ModelInfo, error: Exception) -> bool:
        """Return whether a refusal says that a signature is not known, for the first time."""
        is_refusal = getattr(error, "status_code", None) == 400
        if not is_refusal or model.name in self._forgotten or not _FORGOTTEN.search(str(error)):
            return False
        self._forgotten.add(model.name)
        return True


def as_model_error(error: BaseException) -> ModelError:
    """Convert an exception of the SDK or of the connection to what the caller should do."""
    import anthropic

    if isinstance(error, ModelError):
        return error
    if isinstance(error, anthropic.APIStatusError):
        said = error.api_message or error.message
        if error.status_code < 400:  # an error event in the middle of a stream
            return _of_type(error.type or "", said, error.response.headers)
        return of_status(error.status_code, said, error.response.headers)
    if isinstance(error, anthropic.APIConnectionError):
        return unreachable(error)
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return AnswerBroken("The model sent invalid JSON.")
    if isinstance(error, anthropic.APIError):
        return ModelBusy("The model failed in the middle of an answer: {said}", said=error.message)
    if isinstance(error, anthropic.AnthropicError):
        return ModelRefused(str(error))
    if isinstance(error, (TypeError, AttributeError, ValueError, KeyError)):
        return AnswerBroken("The model sent an invalid answer: {why}.", why=error)
    return ModelUnreachable("The connection to the model was lost: {why}.", why=cause_of(error))


@dataclass
class _Answer:
    """An answer as its events come in."""

    model: ModelInfo
    finish: Finish | None = None
    thought: list[dict[str, Any]] = field(default_factory=list)
    """Blocks of thinking, as they must be sent back."""
    calls: list[str] = field(default_factory=list)
    """Names of the tools that are called."""
    _counted: dict[str, int] = field(default_factory=dict)
    _thoughts: dict[int, dict[str, Any]] = field(default_factory=dict)

    def take(self, event: Any) -> list[Delta]:
        """Return the deltas of an event."""
        if event.type == "message_start":
            return self._count(event.message.usage)
        if event.type == "content_block_start":
            return self._start(event.index, event.content_block)
        if event.type == "content_block_delta":
            return self._more(event.index, event.delta)
        if event.type == "message_delta":
            if event.delta.stop_reason:
                self.finish = _FINISH.get(event.delta.stop_reason, "stop")
            return self._count(event.usage)
        return []

    @property
    def signed(self) -> list[dict[str, Any]]:
        """Blocks of thinking that must go back, because tools were called behind them."""
        is_signed = any("signature" in block or "data" in block for block in self.thought)
        return self.thought if self.finish and self.calls and is_signed else []

    def _start(self, index: int, block: Any) -> list[Delta]:
        if block.type == "text" and block.text:
            return [TextDelta(block.text)]
        if block.type == "tool_use":
            self.calls.append(block.name)
            arguments = json.dumps(block.input) if block.input else ""
            return [ToolCallDelta(index, block.id, block.name, arguments)]
        if block.type == "thinking":
            self._think(index, {"type": "thinking", "thinking": block.thinking or ""})
            return [ThinkingDelta(block.thinking)] if block.thinking else []
        if block.type == "redacted_thinking":
            self._think(index, {"type": "redacted_thinking", "data": block.data})
        return []

    def _more(self, index: int, delta: Any) -> list[Delta]:
        if delta.type == "text_delta":
            return [TextDelta(delta.text)]
        if delta.type == "input_json_delta":
            return [ToolCallDelta(index, arguments=delta.partial_json)]
        if delta.type == "thinking_delta":
            self._thoughts[index]["thinking"] += delta.thinking
            return [ThinkingDelta(delta.thinking)]
        if delta.type == "signature_delta":
            self._thoughts[index]["signature"] = delta.signature
        return []

    def _think(self, index: int, block: dict[str, Any]) -> None:
        self._thoughts[index] = block
        self.thought.append(block)

    def _count(self, usage: Any) -> list[Delta]:
        """Numbers are running totals; one that is left out has not changed."""
        if usage is None:
            return []
        for name in (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ):
            value = getattr(usage, name, None)
            if isinstance(value, int):
                self._counted[name] = value
        details = getattr(usage, "output_tokens_details", None)
        reasoning = getattr(details, "thinking_tokens", None)
        if isinstance(reasoning, int):
            self._counted["reasoning"] = reasoning
        count = self._counted.get
        cached = count("cache_read_input_tokens", 0)
        counted = Usage(
            input=count("input_tokens", 0) + cached + count("cache_creation_input_tokens", 0),
            output=count("output_tokens", 0),
            cached=cached,
            reasoning=count("reasoning", 0),
        )
        return [UsageDelta(counted + Usage(cost=self.model.price(counted)))]


def _of_type(kind: str, said: str, headers: Any) -> ModelError:
    if too_long(said):
        return too_long_said(0, said)
    if kind in _BUSY or not kind:
        return ModelBusy(
            "The model failed in the middle of an answer: {said}", retry_after(headers), said=said
        )
    return ModelRefused("The model aborted its answer: {said}", said=said)

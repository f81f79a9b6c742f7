"""Any endpoint that speaks OpenAI's chat completions, through the `openai` SDK.

The SDK neither retries a stream nor notices that one ended early, lets JSON errors of broken
events through, and its time-outs are per read. Here every fault becomes a `ModelError`, an
answer has an idle and a total deadline, and what carries no finish reason is `truncated`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_ls.runtime.errors import (
    AnswerBroken,
    ContextTooLong,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelUnreachable,
)
from jarvis_ls.runtime.messages import Assistant, Finish, Message, System, Usage, User
from jarvis_ls.runtime.platforms.base import (
    Delta,
    FinishDelta,
    ModelInfo,
    Platform,
    Request,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageDelta,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "filtered",
}
_TOO_LONG = ("context_length_exceeded", "context length", "maximum context", "too many tokens",
             "prompt is too long", "input is too long")  # fmt: skip
# What the SDK tells every endpoint about this machine; a model needs none of it.
_UNSAID = ("X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-OS",
           "X-Stainless-Arch", "X-Stainless-Runtime", "X-Stainless-Runtime-Version",
           "X-Stainless-Async", "x-stainless-retry-count",
           "x-stainless-read-timeout")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long to wait for a provider, in seconds."""

    connect: float = 10.0
    """For the connection."""
    first: float = 120.0
    """For the first piece of an answer."""
    idle: float = 60.0
    """Between two pieces."""
    total: float = 1800.0
    """For the whole answer."""


class OpenAICompatible(Platform):
    """One endpoint with one key."""

    name = "openai"

    def __init__(
        self,
        base_url: str | None,
        api_key: str,
        *,
        deadlines: Deadlines | None = None,
        max_bytes: int = 32_000_000,
    ) -> None:
        """`base_url` None means OpenAI's own; local servers take any key. An answer of more
        than `max_bytes` is given up."""
        self.base_url = base_url
        self._key = api_key
        self._deadlines = deadlines or Deadlines()
        self._max_bytes = max_bytes
        self._client_: AsyncOpenAI | None = None

    async def models(self) -> list[str]:
        """Names of the models the endpoint offers. Raises a `ModelError`."""
        try:
            return sorted([model.id async for model in self._client.models.list()])
        except Exception as error:
            raise as_model_error(error) from error

    async def close(self) -> None:
        """Give up connections."""
        if self._client_ is not None:
            await self._client_.close()
            self._client_ = None

    async def stream(self, model: ModelInfo, request: Request) -> AsyncIterator[Delta]:
        """See `Platform.stream`."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._deadlines.total
        stream: Any = None
        received = 0
        finish: Finish | None = None
        try:
            stream = await self._within(
                self._client.chat.completions.create(
                    **_parameters(model, request), extra_headers=_unsaid()
                ),
                min(self._deadlines.first, self._deadlines.total),
                "did not begin to answer",
            )
            events = aiter(stream)
            wait = self._deadlines.first
            while True:
                left = end - loop.time()
                try:
                    event = await self._within(
                        anext(events), min(wait, left), "stopped in the middle of an answer"
                    )
                except StopAsyncIteration:
                    break
                wait = self._deadlines.idle
                for delta in _deltas(event, model):
                    if isinstance(delta, FinishDelta):
                        finish = delta.reason
                    else:
                        received += _size(delta)
                        yield delta
                if received > self._max_bytes:
                    raise AnswerBroken(f"the answer is larger than {self._max_bytes} bytes")
        except Exception as error:
            raise as_model_error(error) from error
        finally:
            if stream is not None:
                await stream.close()
        yield FinishDelta(finish or "truncated")

    @property
    def _client(self) -> AsyncOpenAI:
        if self._client_ is None:
            from openai import AsyncOpenAI, Timeout

            wait = self._deadlines
            self._client_ = AsyncOpenAI(
                base_url=self.base_url,
                api_key=self._key,
                max_retries=0,  # the model group decides whether and where to try again
                timeout=Timeout(wait.total, connect=wait.connect),
            )
        return self._client_

    @staticmethod
    async def _within(awaitable: Any, seconds: float, what: str) -> Any:
        try:
            return await asyncio.wait_for(awaitable, max(0.0, seconds))
        except asyncio.TimeoutError:
            raise ModelUnreachable(f"The model {what} within {seconds:.0f} s.") from None


def as_model_error(error: BaseException) -> ModelError:
    """What the caller should do about an exception of the SDK or of the connection."""
    import openai

    if isinstance(error, ModelError):
        return error
    if isinstance(error, openai.APIStatusError):
        return _of_status(error)
    if isinstance(error, openai.APIConnectionError):
        return ModelUnreachable(f"The model could not be reached: {_cause(error)}.")
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return AnswerBroken("The model sent something that is no JSON.")
    if isinstance(error, openai.APIError):
        if any(words in str(error).lower() for words in _TOO_LONG):
            return ContextTooLong(f"The conversation is too long: {error.message}")
        return ModelBusy(f"The model failed in the middle of an answer: {error.message}")
    if isinstance(error, openai.OpenAIError):
        return ModelRefused(str(error))
    if isinstance(error, (TypeError, AttributeError, ValueError, KeyError)):
        return AnswerBroken(f"The model sent an answer of a wrong shape: {error}.")
    return ModelUnreachable(f"The connection to the model broke: {_cause(error)}.")


def to_openai(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as chat completions takes them."""
    return [_message(message) for message in messages]


def _message(message: Message) -> dict[str, Any]:
    if isinstance(message, System):
        return {"role": "system", "content": message.text}
    if isinstance(message, User):
        if not message.images:
            return {"role": "user", "content": message.text}
        parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}]
        for image in message.images:
            url = f"data:{image.media_type};base64,{image.base64}"
            parts.append({"type": "image_url", "image_url": {"url": url}})
        return {"role": "user", "content": parts}
    if isinstance(message, Assistant):
        said: dict[str, Any] = {"role": "assistant", "content": message.text}
        if message.tool_calls:
            said["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": json.dumps(
                            call.arguments if call.raw is None else {"_raw": call.raw}
                        ),
                    },
                }
                for call in message.tool_calls
            ]
        return said
    return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}


def _parameters(model: ModelInfo, request: Request) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "model": model.name,
        "messages": to_openai(request.messages),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools and model.tools:
        parameters["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
    limit = request.max_output or model.max_output
    if limit is not None:
        parameters["max_tokens"] = limit
    if request.temperature is not None:
        parameters["temperature"] = request.temperature
    if request.extra:
        parameters["extra_body"] = request.extra
    return parameters


def _unsaid() -> dict[str, Any]:
    from openai import Omit

    return dict.fromkeys(_UNSAID, Omit())


def _deltas(event: Any, model: ModelInfo) -> list[Delta]:
    """What one event of the stream says; providers leave out whatever they like."""
    found: list[Delta] = []
    if event.usage is not None:
        found.append(UsageDelta(_usage(event.usage, model)))
    for choice in (event.choices or [])[:1]:
        delta = choice.delta
        if delta is not None:
            extra = delta.model_extra or {}
            thinking = extra.get("reasoning_content") or extra.get("reasoning")
            if isinstance(thinking, str) and thinking:
                found.append(ThinkingDelta(thinking))
            if delta.content:
                found.append(TextDelta(delta.content))
            for call in delta.tool_calls or []:
                function = call.function
                found.append(
                    ToolCallDelta(
                        index=call.index or 0,
                        id=call.id or "",
                        name=(function.name or "") if function else "",
                        arguments=(function.arguments or "") if function else "",
                    )
                )
        if choice.finish_reason:
            found.append(FinishDelta(_FINISH.get(choice.finish_reason, "stop")))
    return found


def _usage(usage: Any, model: ModelInfo) -> Usage:
    prompt, answer = usage.prompt_tokens_details, usage.completion_tokens_details
    counted = Usage(
        input=usage.prompt_tokens or 0,
        output=usage.completion_tokens or 0,
        cached=(prompt.cached_tokens or 0) if prompt else 0,
        reasoning=(answer.reasoning_tokens or 0) if answer else 0,
    )
    return counted + Usage(cost=model.price(counted))


def _size(delta: Delta) -> int:
    if isinstance(delta, (TextDelta, ThinkingDelta)):
        return len(delta.text)
    return len(delta.arguments) if isinstance(delta, ToolCallDelta) else 0


def _of_status(error: Any) -> ModelError:
    status, words = error.status_code, str(error).lower()
    said = error.message
    if any(part in words for part in _TOO_LONG) or error.code == "context_length_exceeded":
        return ContextTooLong(f"The conversation is too long for the model: {said}")
    if status in (408, 409, 425, 429) or status >= 500:
        return ModelBusy(f"The model is busy (HTTP {status}): {said}", _retry_after(error))
    if status in (401, 403):
        return ModelRefused(f"The key was not accepted (HTTP {status}): {said}")
    if status == 404:
        return ModelRefused(f"There is no such model or address (HTTP 404): {said}")
    return ModelRefused(f"The model refused the request (HTTP {status}): {said}")


def _retry_after(error: Any) -> float | None:
    written = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(written))
    except ValueError:
        return None


def _cause(error: BaseException) -> str:
    cause = error.__cause__ or error
    return str(cause).strip() or type(cause).__name__

"""Any endpoint that speaks OpenAI's chat completions, through the `openai` SDK.

The SDK neither retries a stream nor notices that one ended early, lets JSON errors of broken
events through, and its time-outs are per read. Here every fault becomes a `ModelError`, an
answer has an idle and a total deadline, and what carries no finish reason is `truncated`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import aclosing
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jarvis_ls.runtime.base.errors import (
    AnswerBroken,
    ContextTooLong,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelUnreachable,
)
from jarvis_ls.runtime.base.messages import (
    Assistant,
    FileRef,
    Finish,
    Message,
    System,
    Usage,
    User,
    sendable,
)
from jarvis_ls.runtime.llm.platforms.base import (
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
from jarvis_ls.runtime.llm.platforms.faults import (
    cause_of,
    no_credit,
    of_status,
    too_long,
    too_long_said,
    unreachable,
)
from jarvis_ls.runtime.llm.platforms.streaming import (
    LONGEST,
    NO_FILE,
    Deadlines,
    Measure,
    events_of,
    unsaid,
    within,
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


class OpenAICompatible(Platform):
    """One endpoint with one key."""

    name = "openai"

    def __init__(
        self,
        base_url: str | None,
        api_key: str,
        *,
        deadlines: Deadlines | None = None,
        longest: int = LONGEST,
    ) -> None:
        """`base_url` None means OpenAI's own; local servers take any key. An answer of more
        than `longest` characters is given up."""
        self.base_url = base_url
        self._key = api_key
        self._deadlines = deadlines or Deadlines()
        self._longest = longest
        self._client_: AsyncOpenAI | None = None

    def wait(self, seconds: float) -> None:
        """See `Platform`."""
        self._deadlines = Deadlines.patient(seconds)

    async def models(self) -> list[str]:
        """Names of the models the endpoint offers. Raises a `ModelError`."""
        try:
            return sorted([model.id async for model in self._client.models.list()])
        except Exception as error:
            raise as_model_error(error) from error

    async def upload(self, name: str, data: bytes) -> FileRef:
        """See `Platform`."""
        from openai import Omit

        upload = self._client.files.create(
            file=(name, data), purpose="user_data", extra_headers=unsaid(Omit())
        )
        try:
            made = await within(upload, self._deadlines.first, NO_FILE)
            return FileRef(str(made.id), name)
        except Exception as error:
            raise as_model_error(error) from error

    async def close(self) -> None:
        """Give up connections."""
        if self._client_ is not None:
            await self._client_.close()
            self._client_ = None

    async def stream(self, model: ModelInfo, request: Request) -> AsyncIterator[Delta]:
        """See `Platform.stream`."""
        measure = Measure(self._longest)
        finish: Finish | None = None
        try:
            if self._client_ is None:  # to load the SDK takes its time, which is not the model's
                await asyncio.to_thread(import_module, "openai")
            events = events_of(lambda: self._begin(model, request), self._deadlines)
            async with aclosing(events):
                async for event in events:
                    for delta in _deltas(event, model):
                        if isinstance(delta, FinishDelta):
                            finish = delta.reason
                        else:
                            measure.take(delta)
                            yield delta
        except Exception as error:
            raise as_model_error(error) from error
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

    def _begin(self, model: ModelInfo, request: Request) -> Awaitable[Any]:
        from openai import Omit

        begun: Awaitable[Any] = self._client.chat.completions.create(
            **_parameters(model, request), extra_headers=unsaid(Omit())
        )
        return begun


def as_model_error(error: BaseException) -> ModelError:
    """Convert an exception of the SDK or of the connection to what the caller should do."""
    import openai

    if isinstance(error, ModelError):
        return error
    if isinstance(error, openai.APIStatusError):
        if error.code == "context_length_exceeded":
            return too_long_said(error.status_code, error.message)
        if error.code == "insufficient_quota":  # sent as 429, and yet waiting does not help
            return no_credit(error.status_code, error.message)
        return of_status(error.status_code, error.message, error.response.headers)
    if isinstance(error, openai.APIConnectionError):
        return unreachable(error)
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return AnswerBroken("The model sent something that is no JSON.")
    if isinstance(error, openai.APIError):
        if too_long(str(error)):
            return ContextTooLong("The conversation is too long: {said}", said=error.message)
        return ModelBusy("The model failed in the middle of an answer: {said}", said=error.message)
    if isinstance(error, openai.OpenAIError):
        return ModelRefused(str(error))
    if isinstance(error, (TypeError, AttributeError, ValueError, KeyError)):
        return AnswerBroken("The model sent an answer of a wrong shape: {why}.", why=error)
    return ModelUnreachable("The connection to the model broke: {why}.", why=cause_of(error))


def to_openai(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as chat completions takes them."""
    return [_message(sendable(message)) for message in messages]


def _message(message: Message) -> dict[str, Any]:
    if isinstance(message, System):
        return {"role": "system", "content": message.text}
    if isinstance(message, User):
        if not message.images and not message.files:
            return {"role": "user", "content": message.text}
        parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}]
        for image in message.images:
            url = f"data:{image.media_type};base64,{image.base64}"
            parts.append({"type": "image_url", "image_url": {"url": url}})
        parts += [{"type": "file", "file": {"file_id": file.id}} for file in message.files]
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


def _deltas(event: Any, model: ModelInfo) -> list[Delta]:
    """Return the deltas of a stream event; providers may omit any field."""
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
                found.append(TextDelta(_text(delta.content)))
            for call in delta.tool_calls or []:
                function = call.function
                found.append(
                    ToolCallDelta(
                        index=call.index or 0,
                        id=call.id or "",
                        name=(function.name or "") if function else "",
                        arguments=_arguments(function.arguments) if function else "",
                    )
                )
        if choice.finish_reason:
            found.append(FinishDelta(_FINISH.get(choice.finish_reason, "stop")))
    return found


def _text(content: Any) -> Any:
    """Return the text of a delta; some providers send it in parts."""
    if not isinstance(content, list):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _arguments(written: Any) -> Any:
    """Return a call's arguments; some servers send the object itself."""
    return json.dumps(written) if isinstance(written, dict) else written or ""


def _usage(usage: Any, model: ModelInfo) -> Usage:
    prompt, answer = usage.prompt_tokens_details, usage.completion_tokens_details
    counted = Usage(
        input=_count(usage.prompt_tokens),
        output=_count(usage.completion_tokens),
        cached=_count(getattr(prompt, "cached_tokens", 0)),
        reasoning=_count(getattr(answer, "reasoning_tokens", 0)),
    )
    return counted + Usage(cost=model.price(counted))


def _count(told: Any) -> int:
    """Return a number of tokens; what is none must not cost a whole answer."""
    return told if isinstance(told, int) and told > 0 else 0

"""OpenAI's chat completions: how a question is written, and what an answer's events mean.

Reasoning has no place in OpenAI's own form. Others (DeepSeek, Moonshot, MiniMax, Zhipu) send it as
`reasoning_content` and refuse a conversation in which an answer with tool calls comes back without
it. OpenRouter sends `reasoning_details` too (`openai_reasoning`).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from jarvis_ls.runtime.base.messages import (
    Assistant,
    Finish,
    Message,
    ToolResult,
    Usage,
    User,
    sendable,
)
from jarvis_ls.runtime.llm.platforms.base import (
    Delta,
    FinishDelta,
    ModelInfo,
    Request,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageDelta,
)
from jarvis_ls.runtime.llm.platforms.openai_reasoning import details_of, given_ids, thoughts_of

_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "filtered",
}


def to_openai(messages: Sequence[Message], model: ModelInfo) -> list[dict[str, Any]]:
    """Messages as chat completions takes them; reasoning goes back where `model` wants it."""
    given: dict[str, str] = {}
    written = []
    for message in messages:
        if isinstance(message, Assistant):
            given |= given_ids(message, model)
            written.append(_answer(sendable(message), model, given))
        elif isinstance(message, ToolResult):
            call = given.get(message.call_id, message.call_id)
            text = sendable(message).text
            written.append({"role": "tool", "tool_call_id": call, "content": text})
        else:
            written.append(_said(sendable(message)))
    return written


def _said(message: Message) -> dict[str, Any]:
    if not isinstance(message, User):
        return {"role": "system", "content": message.text}
    if not message.images and not message.files:
        return {"role": "user", "content": message.text}
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}]
    for image in message.images:
        url = f"data:{image.media_type};base64,{image.base64}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    parts += [{"type": "file", "file": {"file_id": file.id}} for file in message.files]
    return {"role": "user", "content": parts}


def _answer(message: Message, model: ModelInfo, given: Mapping[str, str]) -> dict[str, Any]:
    """Return an answer as it goes back; `given` are ids of calls by ours."""
    assert isinstance(message, Assistant)
    said: dict[str, Any] = {"role": "assistant", "content": message.text}
    wants = bool(model.reasoning_back) and model.thinking is not False
    if wants and (message.tool_calls or message.thinking):
        said["reasoning_content"] = message.thinking  # empty where none was kept
    if details := details_of(message, model):
        said["reasoning_details"] = details
    if message.tool_calls:
        said["tool_calls"] = [
            {
                "id": given.get(call.id, call.id),
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


def chat_parameters(model: ModelInfo, request: Request) -> dict[str, Any]:
    """Return what is sent to chat completions."""
    parameters: dict[str, Any] = {
        "model": model.name,
        "messages": to_openai(request.messages, model),
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
        name = "max_completion_tokens" if model.max_completion_tokens else "max_tokens"
        parameters[name] = limit
    if request.temperature is not None:
        parameters["temperature"] = request.temperature
    extra: dict[str, Any] = {}
    if model.reasoning_effort:
        extra["reasoning_effort"] = model.reasoning_effort
    if isinstance(model.thinking, bool):
        extra["thinking"] = {"type": "enabled" if model.thinking else "disabled"}
    if extra := {**extra, **model.extra, **request.extra}:
        parameters["extra_body"] = extra
    return parameters


def chat_deltas(event: Any, model: ModelInfo) -> list[Delta]:
    """Return the deltas of a stream event; providers may omit any field."""
    found: list[Delta] = []
    if event.usage is not None:
        found.append(UsageDelta(usage_of(event.usage, model)))
    for choice in (event.choices or [])[:1]:
        delta = choice.delta
        if delta is not None:
            extra = delta.model_extra or {}
            thinking = extra.get("reasoning_content") or extra.get("reasoning")
            thinking = thinking or thoughts_of(extra)
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


class WholeAnswer:
    """The answer of a server that streams nothing, as a stream of one event."""

    def __init__(self, stream: Any) -> None:
        """`stream` is the SDK's, of which only the response is used."""
        self.response = stream.response

    async def __aiter__(self) -> AsyncIterator[Any]:
        """Yield the event. Raises `json.JSONDecodeError` when the answer is no JSON."""
        from openai.types.chat import ChatCompletionChunk

        answer = json.loads(await self.response.aread())
        for choice in answer.get("choices") or ():
            choice["delta"] = choice.pop("message", None) or {}
            for index, call in enumerate(choice["delta"].get("tool_calls") or ()):
                call.setdefault("index", index)
        yield ChatCompletionChunk.model_construct(**answer)

    async def close(self) -> None:
        """Give the connection back."""
        await self.response.aclose()


def _text(content: Any) -> Any:
    """Return the text of a delta; some providers send it in parts."""
    if not isinstance(content, list):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _arguments(written: Any) -> Any:
    """Return a call's arguments; some servers send the object itself."""
    return json.dumps(written) if isinstance(written, dict) else written or ""


def usage_of(usage: Any, model: ModelInfo) -> Usage:
    """Return what was counted, and its cost."""
    prompt, answer = usage.prompt_tokens_details, usage.completion_tokens_details
    counted = Usage(
        input=token_count(usage.prompt_tokens),
        output=token_count(usage.completion_tokens),
        cached=token_count(getattr(prompt, "cached_tokens", 0)),
        reasoning=token_count(getattr(answer, "reasoning_tokens", 0)),
    )
    return counted + Usage(cost=model.price(counted))


def token_count(told: Any) -> int:
    """Return a number of tokens; what is none must not cost a whole answer."""
    return told if isinstance(told, int) and told > 0 else 0

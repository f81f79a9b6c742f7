"""OpenAI's Responses API: how a question is written, and what an answer's events mean.

Nothing is stored at the provider (`store: false`): the whole conversation is sent each time, with
the items of reasoning as they came, encrypted, each before what followed it. What is between
them is kept as marks (`{"type": "message"}`, `{"type": "function_call"}`) in `Assistant.reasoning`,
so that an answer goes back in its order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jarvis_ls.runtime.base.messages import (
    Assistant,
    Finish,
    Message,
    System,
    ToolCall,
    Usage,
    User,
    sendable,
)
from jarvis_ls.runtime.llm.platforms.base import (
    Delta,
    FinishDelta,
    ModelInfo,
    ReasoningDelta,
    Request,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageDelta,
)
from jarvis_ls.runtime.llm.platforms.faults import response_failed
from jarvis_ls.runtime.llm.platforms.openai_chat import token_count

REASONING = "reasoning"
"""Type of the items that hold reasoning."""
_MARKS = ("message", "function_call")
_INCOMPLETE: dict[str, Finish] = {"max_output_tokens": "length", "content_filter": "filtered"}


def response_parameters(model: ModelInfo, request: Request) -> dict[str, Any]:
    """Return what is sent to the Responses API."""
    parameters: dict[str, Any] = {
        "model": model.name,
        "input": to_input(request.messages, model),
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if request.tools and model.tools:
        parameters["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in request.tools
        ]
    limit = request.max_output or model.max_output
    if limit is not None:
        parameters["max_output_tokens"] = limit
    if request.temperature is not None:
        parameters["temperature"] = request.temperature
    if model.reasoning_effort or model.thinking is False:
        parameters["reasoning"] = {"effort": model.reasoning_effort or "none"}
    if extra := {**model.extra, **request.extra}:
        parameters["extra_body"] = extra
    return parameters


def to_input(messages: Sequence[Message], model: ModelInfo) -> list[dict[str, Any]]:
    """Messages as the Responses API takes them; reasoning goes back to the `model` it is of."""
    return [item for message in messages for item in _items(sendable(message), model)]


def _items(message: Message, model: ModelInfo) -> Iterator[dict[str, Any]]:
    if isinstance(message, System):
        yield {"role": "system", "content": message.text}
    elif isinstance(message, User):
        yield {"role": "user", "content": _content(message)}
    elif isinstance(message, Assistant):
        yield from _answer(message, model)
    else:
        yield {
            "type": "function_call_output",
            "call_id": message.call_id,
            "output": message.text,
        }


def _content(message: User) -> str | list[dict[str, Any]]:
    if not message.images and not message.files:
        return message.text
    parts: list[dict[str, Any]] = [{"type": "input_text", "text": message.text}]
    for image in message.images:
        url = f"data:{image.media_type};base64,{image.base64}"
        parts.append({"type": "input_image", "image_url": url})
    return parts + [{"type": "input_file", "file_id": file.id} for file in message.files]


def _answer(message: Assistant, model: ModelInfo) -> Iterator[dict[str, Any]]:
    """Yield the items of an answer in the order in which they came."""
    calls = iter(message.tool_calls)
    text = message.text
    is_its_own = message.model.partition("/")[2] == model.name
    is_sent = is_its_own and model.reasoning_back is not False
    for item in message.reasoning if is_sent else ():
        kind = item.get("type")
        if kind == REASONING:
            yield item
        elif kind == "message" and text:
            yield _message_item(text, item.get("phase"))
            text = ""
        elif kind == "function_call" and (call := next(calls, None)) is not None:
            yield _call_item(call)
    if text:
        yield _message_item(text)
    yield from map(_call_item, calls)


def _message_item(text: str, phase: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **({"phase": phase} if phase else {})}


def _call_item(call: ToolCall) -> dict[str, Any]:
    arguments = call.arguments if call.raw is None else {"_raw": call.raw}
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": json.dumps(arguments),
    }


@dataclass
class Responded:
    """An answer as its events come in."""

    model: ModelInfo
    _called: dict[int, str] = field(default_factory=dict)
    """Arguments that were streamed so far, by the place of the call."""
    _thought: bool = False
    _spoke: bool = False

    def take(self, event: Any) -> list[Delta]:
        """Return the deltas of an event. Raises a `ModelError` for an answer that failed."""
        kind = event.type
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            return [TextDelta(event.delta)]
        if kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            self._thought = True
            return [ThinkingDelta(event.delta)]
        if kind == "response.reasoning_summary_part.added" and self._thought:
            return [ThinkingDelta("\n\n")]
        if kind == "response.output_item.added":
            return self._begin(event.output_index, event.item)
        if kind == "response.function_call_arguments.delta":
            self._called[event.output_index] = (
                self._called.get(event.output_index, "") + event.delta
            )
            return [ToolCallDelta(event.output_index, arguments=event.delta)]
        if kind == "response.output_item.done":
            return self._end(event.output_index, event.item)
        if kind in ("response.completed", "response.incomplete"):
            return self._finish(event.response)
        if kind in ("response.failed", "error"):
            fault = event.response.error if kind == "response.failed" else event
            raise response_failed(getattr(fault, "code", None), getattr(fault, "message", ""))
        return []

    def _begin(self, index: int, item: Any) -> list[Delta]:
        if item.type == "message" and self._spoke:
            return [TextDelta("\n\n")]  # another message of the same answer
        if item.type != "function_call":
            return []
        self._called[index] = ""
        return [ToolCallDelta(index, item.call_id, item.name)]

    def _end(self, index: int, item: Any) -> list[Delta]:
        if item.type == REASONING:
            plain = item.model_dump(mode="json", exclude_none=True, exclude={"status"})
            return [ReasoningDelta(plain)]
        if item.type not in _MARKS:
            return []
        mark: dict[str, Any] = {"type": item.type}
        if phase := getattr(item, "phase", None):
            mark["phase"] = phase
        self._spoke = self._spoke or item.type == "message"
        found: list[Delta] = [ReasoningDelta(mark)]
        if item.type == "function_call" and not self._called.get(index) and item.arguments:
            is_begun = index in self._called
            id, name = ("", "") if is_begun else (item.call_id, item.name)
            found.append(ToolCallDelta(index, id, name, item.arguments))
        return found

    def _finish(self, response: Any) -> list[Delta]:
        found: list[Delta] = []
        if response.usage is not None:
            found.append(UsageDelta(_usage(response.usage, self.model)))
        reason = getattr(response.incomplete_details, "reason", None)
        finish: Finish = "tool_calls" if self._called else "stop"
        if response.status == "incomplete":
            finish = _INCOMPLETE.get(reason or "", "length")
        return [*found, FinishDelta(finish)]


def _usage(usage: Any, model: ModelInfo) -> Usage:
    prompt, answer = usage.input_tokens_details, usage.output_tokens_details
    counted = Usage(
        input=token_count(usage.input_tokens),
        output=token_count(usage.output_tokens),
        cached=token_count(getattr(prompt, "cached_tokens", 0)),
        reasoning=token_count(getattr(answer, "reasoning_tokens", 0)),
    )
    return counted + Usage(cost=model.price(counted))

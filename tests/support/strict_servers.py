"""Servers that refuse as the real ones do: reasoning that is not sent back, parameters of another
time, a protocol that a model does not answer.

The words of the refusals are those of the providers.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.support.model_server import Answer, Asked, ModelServer, ScriptedServer

Decide = Callable[[Asked], Answer | None]

DEEPSEEK = "The reasoning_content in the thinking mode must be passed back to the API."
MOONSHOT = (
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index"
    " {index}"
)
OPENROUTER = (
    "Gemini models require OpenRouter reasoning details to be preserved in each request. Upstream"
    " error: Function call is missing a thought_signature in functionCall parts."
)
MAX_TOKENS = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
    " 'max_completion_tokens' instead."
)
ONLY_RESPONSES = "This model is only supported in v1/responses and not in v1/chat/completions."
NOT_FOLLOWED = "Item '{id}' of type 'reasoning' was provided without its required following item."


def refusal(status: int, message: str, code: str | None = "invalid_request_error") -> Answer:
    """An error as OpenAI's protocol words it."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return Answer(status=status, body=json.dumps({"error": error}).encode())


def wants_reasoning(words: str) -> Decide:
    """Refuse a conversation that lacks the reasoning of an answer with calls, in these words."""

    def decide(asked: Asked) -> Answer | None:
        if asked.body.get("thinking") == {"type": "disabled"}:
            return None
        for index, message in enumerate(asked.body.get("messages", ())):
            if message.get("tool_calls") and not isinstance(message.get("reasoning_content"), str):
                return refusal(400, words.format(index=index))
        return None

    return decide


def wants_details(given: list[list[dict[str, Any]]]) -> Decide:
    """Refuse a conversation whose answers with calls do not hold exactly the `given` details, in
    order, or whose calls are not those that the details speak of.
    """

    def decide(asked: Asked) -> Answer | None:
        answers = [m for m in asked.body.get("messages", ()) if m["role"] == "assistant"]
        wanted = iter(given)
        for answer in (a for a in answers if a.get("tool_calls")):
            details = next(wanted, [])
            calls = {call["id"] for call in answer["tool_calls"]}
            bound = {item["id"] for item in details if item.get("id")}
            if answer.get("reasoning_details", []) != details or not bound <= calls:
                return refusal(400, OPENROUTER)
        results = {m["tool_call_id"] for m in asked.body["messages"] if m["role"] == "tool"}
        every = {call["id"] for answer in answers for call in answer.get("tool_calls", ())}
        return None if results == every else refusal(400, "tool_call_id is not found")

    return decide


def refuses_max_tokens(asked: Asked) -> Answer | None:
    """Refuse the old name of the limit."""
    if "max_tokens" in asked.body:
        return refusal(400, MAX_TOKENS, "unsupported_parameter")
    return None


class ResponsesServer(ScriptedServer):
    """OpenAI's Responses API for a model that has no other; strict about what comes back."""

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[str, dict[str, Any]] = {}
        """Items of reasoning it gave, by id."""
        self.decide = self._check

    def listed(self) -> dict[str, Any]:
        """See `ScriptedServer`."""
        return ModelServer.listed(self)  # type: ignore[arg-type]

    def refuse(
        self,
        status: int,
        headers: dict[str, str] | None = None,
        message: str = "no",
        code: str = "",
    ) -> Answer:
        """See `ScriptedServer`."""
        return self.add(refusal(status, message, code or None))

    def say(self, text: str, *, thinking: str = "") -> Answer:
        """Answer with text."""
        return self.add(Answer(self._events([*self._reasoned(thinking), _message(text)])))

    def call(
        self, name: str, arguments: dict[str, Any], *, thinking: str = "", text: str = ""
    ) -> Answer:
        """Answer with one call, after thinking and words."""
        said = [_message(text)] if text else []
        call = {
            "type": "function_call",
            "id": f"fc_{len(self.answers)}",
            "call_id": f"call_{len(self.given)}_{len(self.answers)}",
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        return self.add(Answer(self._events([*self._reasoned(thinking), *said, call])))

    def cut(self, text: str) -> Answer:
        """Answer with text that reached its limit."""
        events = self._events([_message(text)], "max_output_tokens")
        return self.add(Answer(events))

    def fail(self, code: str, message: str) -> Answer:
        """Fail in the middle of an answer."""
        response = {**_RESPONSE, "status": "failed", "error": {"code": code, "message": message}}
        return self.add(Answer([{"type": "response.failed", "response": response}]))

    def _reasoned(self, thinking: str) -> list[dict[str, Any]]:
        if not thinking:
            return []
        item = {
            "type": "reasoning",
            "id": f"rs_{len(self.given)}",
            "summary": [{"type": "summary_text", "text": thinking}],
            "encrypted_content": f"gAAAA-{len(self.given)}-sk-{'e' * 40}",
        }
        self.given[item["id"]] = item  # type: ignore[index]
        return [item]

    @staticmethod
    def _events(items: list[dict[str, Any]], incomplete: str = "") -> list[dict[str, Any] | bytes]:
        events: list[dict[str, Any] | bytes] = []
        for index, item in enumerate(items):
            at = {"output_index": index, "item_id": item["id"], "sequence_number": 0}
            added = {**item, "arguments": ""} if "arguments" in item else item
            events.append({"type": "response.output_item.added", **at, "item": added})
            events += [{**event, **at} for event in _deltas(item)]
            events.append({"type": "response.output_item.done", **at, "item": item})
        status = "incomplete" if incomplete else "completed"
        details = {"reason": incomplete} if incomplete else None
        response = {**_RESPONSE, "status": status, "incomplete_details": details, "output": items}
        events.append({"type": f"response.{status}", "response": response, "sequence_number": 1})
        return events

    def _check(self, asked: Asked) -> Answer | None:
        if asked.path.endswith("/chat/completions"):
            return refusal(404, ONLY_RESPONSES, None)
        if asked.body.get("store") is not False:
            return refusal(400, "Nothing may be stored here.")
        items = asked.body["input"]
        for item, following in zip(items, [*items[1:], {}], strict=True):
            if item.get("type") != "reasoning":
                continue
            if item != self.given.get(item["id"]):
                return refusal(400, "The encrypted content could not be verified.", "invalid")
            follows = following.get("type") == "function_call" or (
                following.get("role") == "assistant"
            )
            if not follows:
                return refusal(400, NOT_FOLLOWED.format(id=item["id"]))
        return None


def _message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def _deltas(item: dict[str, Any]) -> list[dict[str, Any]]:
    if item["type"] == "reasoning":
        text = item["summary"][0]["text"]
        return [{"type": "response.reasoning_summary_text.delta", "delta": text}]
    if item["type"] == "message":
        text = item["content"][0]["text"]
        return [
            {"type": "response.output_text.delta", "delta": part, "content_index": 0}
            for part in (text[:3], text[3:])
        ]
    kind = "response.function_call_arguments.delta"
    return [
        {"type": kind, "delta": part} for part in (item["arguments"][:5], item["arguments"][5:])
    ]


_RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 64},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 12},
        "total_tokens": 120,
    },
}

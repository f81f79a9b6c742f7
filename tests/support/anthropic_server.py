"""A scripted server that speaks Anthropic's protocol over real HTTP; see `model_server`."""

from __future__ import annotations

import json
from typing import Any

from tests.support.model_server import Answer, ScriptedServer


class AnthropicServer(ScriptedServer):
    """The server; use it as an async context manager."""

    path = ""

    def listed(self) -> dict[str, Any]:
        """See `ScriptedServer`."""
        data = [
            {"id": m, "type": "model", "display_name": m, "created_at": "2026-01-01T00:00:00Z"}
            for m in self.models
        ]
        return {"data": data, "has_more": False, "first_id": None, "last_id": None}

    def say(self, text: str, *, thinking: str = "", pieces: int = 3, **answer: Any) -> Answer:
        """Answer with text, streamed in `pieces`; thinking is signed."""
        blocks: list[list[bytes]] = []
        if thinking:
            blocks.append(thought(len(blocks), thinking))
        blocks.append(said(len(blocks), text, pieces))
        return self.add(Answer(whole(*blocks), **answer))

    def call_all(
        self,
        calls: list[tuple[str, dict[str, Any] | str]],
        text: str = "",
        thinking: str = "",
        **answer: Any,
    ) -> Answer:
        """Answer with several tool calls, arguments in pieces; a string is sent as it is."""
        blocks: list[list[bytes]] = []
        if thinking:
            blocks.append(thought(len(blocks), thinking))
        if text:
            blocks.append(said(len(blocks), text))
        for name, arguments in calls:
            index = len(blocks)
            written = arguments if isinstance(arguments, str) else json.dumps(arguments)
            block = {
                "type": "tool_use",
                "id": f"toolu_{len(self.requests)}_{index}",
                "name": name,
                "input": {},
            }
            deltas = [
                {"type": "input_json_delta", "partial_json": written[i : i + 7]}
                for i in range(0, len(written), 7)
            ]
            blocks.append(content(index, block, deltas))
        return self.add(Answer(whole(*blocks, reason="tool_use"), **answer))

    def refuse(
        self,
        status: int,
        headers: dict[str, str] | None = None,
        message: str = "no",
        code: str = "invalid_request_error",
    ) -> Answer:
        """Answer with an error."""
        error = {"type": "error", "error": {"type": code, "message": message}}
        return self.add(
            Answer(status=status, headers=headers or {}, body=json.dumps(error).encode())
        )


def event(kind: str, **values: Any) -> bytes:
    """One event of a stream."""
    data = json.dumps({"type": kind, **values})
    return f"event: {kind}\ndata: {data}\n\n".encode()


def start(prompt: int = 11, cached: int = 4, stored: int = 3) -> bytes:
    """How every answer begins; it says what the prompt cost."""
    usage = {
        "input_tokens": prompt,
        "output_tokens": 1,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": stored,
    }
    message = {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return event("message_start", message=message)


def content(index: int, block: dict[str, Any], deltas: list[dict[str, Any]]) -> list[bytes]:
    """One block of an answer."""
    return [
        event("content_block_start", index=index, content_block=block),
        *(event("content_block_delta", index=index, delta=delta) for delta in deltas),
        event("content_block_stop", index=index),
    ]


def said(index: int, text: str, pieces: int = 3) -> list[bytes]:
    """A block of text."""
    size = max(1, -(-len(text) // pieces))
    parts = [text[i : i + size] for i in range(0, len(text), size)]
    deltas = [{"type": "text_delta", "text": part} for part in parts]
    return content(index, {"type": "text", "text": ""}, deltas)


def thought(index: int, thinking: str) -> list[bytes]:
    """A block of signed thinking."""
    deltas = [
        {"type": "thinking_delta", "thinking": thinking},
        {"type": "signature_delta", "signature": f"signed {thinking}"},
    ]
    return content(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)


def end(reason: str | None = "end_turn", answer: int = 7) -> list[bytes]:
    """How every answer ends."""
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        event("message_delta", delta=delta, usage={"output_tokens": answer}),
        event("message_stop"),
    ]


def whole(*blocks: list[bytes], reason: str | None = "end_turn") -> list[dict[str, Any] | bytes]:
    """An answer of these blocks."""
    middle = [piece for block in blocks for piece in block]
    return [start(), event("ping"), *middle, *end(reason)]

"""A conversation as Anthropic's protocol takes it.

Rules that our conversations do not know are kept here: turns alternate, results of tools come
first in the turn after the call, no text is empty, ids are plain, and a turn that called tools
while thinking is sent back with its thinking as it was signed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_ls.runtime.base.messages import Assistant, Message, System, User, sendable

_THOUGHT = ("thinking", "redacted_thinking")
CACHED = {"type": "ephemeral"}
"""Marks the end of what the provider may keep for the next question."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as the protocol takes it."""

    system: str
    messages: list[dict[str, Any]]
    unsigned: bool
    """Whether the turn that is going on called tools with thinking that is not known any more."""


def to_anthropic(messages: Sequence[Message], model: str = "") -> Conversation:
    """Messages as the protocol takes them, with the thinking that `model` signed."""
    messages = [sendable(message) for message in messages]
    system = "\n\n".join(m.text for m in messages if isinstance(m, System) and m.text.strip())
    turns: list[dict[str, Any]] = []
    unsigned = False
    for message in messages:
        if isinstance(message, System):
            continue
        role = "assistant" if isinstance(message, Assistant) else "user"
        blocks = _blocks(message, model)
        if isinstance(message, Assistant) and message.tool_calls:
            unsigned = blocks[0]["type"] not in _THOUGHT
        elif isinstance(message, User):
            unsigned = False
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].extend(blocks)
        else:
            turns.append({"role": role, "content": blocks})
    if not turns or turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": "(begin)"}]})
    for turn in turns:
        if turn["role"] == "user":  # a stable sort: results first, the rest as it was said
            turn["content"].sort(key=lambda block: block["type"] != "tool_result")
    last = turns[-1]["content"]
    last[-1] = {**last[-1], "cache_control": CACHED}
    return Conversation(system, turns, unsigned)


def plain_id(call: str) -> str:
    """Return the id of a call in the alphabet the protocol takes."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", call)[:128] or "call"


def _blocks(message: User | Assistant | Message, model: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if isinstance(message, User):
        blocks = [
            {
                "type": "image",
                "source": {
                    "type": "base64",
                    "media_type": image.media_type,
                    "data": image.base64,
                },
            }
            for image in message.images
        ]
        return blocks + _text(message.text)
    if isinstance(message, Assistant):
        is_its_own = model and message.model.partition("/")[2] in ("", model)
        thought = message.reasoning if is_its_own and message.tool_calls else ()
        blocks = [block for block in thought if block.get("type") in _THOUGHT]
        blocks += _text(message.text)
        for call in message.tool_calls:
            arguments = call.arguments if call.raw is None else {"_raw": call.raw}
            blocks.append(
                {
                    "type": "tool_use",
                    "id": plain_id(call.id),
                    "name": call.name,
                    "input": arguments,
                }
            )
        return blocks
    if isinstance(message, System):
        return blocks
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": plain_id(message.call_id)}
    if message.text.strip():
        result["content"] = message.text
    if message.is_error:
        result["is_error"] = True
    return [result]


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text.strip() else []

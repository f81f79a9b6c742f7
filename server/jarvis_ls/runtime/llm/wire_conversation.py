"""The conversation as a provider must be sent it: every call with its result, no result alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jarvis_ls.runtime.base.messages import Assistant, Message, ToolResult, User
from jarvis_ls.runtime.llm.text_tool_calls import as_text

LOST = "There is no result: the work was interrupted. What the call had done is not known."


def sendable(messages: Sequence[Message], native: bool) -> list[Message]:
    """Return the conversation, whole, in the form for models with or without native tool calls."""
    whole = mended(messages)
    return whole if native else as_text(whole)


def mended(messages: Sequence[Message]) -> list[Message]:
    """Return the conversation with one result behind every call, in order; results without a call
    go.
    """
    results = {m.call_id: m for m in messages if isinstance(m, ToolResult)}
    found: list[Message] = []
    for message in messages:
        if isinstance(message, ToolResult):
            continue
        found.append(message)
        if isinstance(message, Assistant):
            for call in message.tool_calls:
                lost = ToolResult(call.id, call.name, LOST, is_error=True)
                found.append(results.get(call.id, lost))
    return found


def without_images(messages: Sequence[Message]) -> list[Message]:
    """Return the conversation for models that see nothing."""
    return [
        replace(m, text=f"{m.text}\n\n({len(m.images)} pictures, which you cannot see)", images=())
        if isinstance(m, User) and m.images
        else m
        for m in messages
    ]


def unanswered(messages: Sequence[Message]) -> list[ToolResult]:
    """Results for the calls that have none: those of a process that was ended."""
    results = {m.call_id for m in messages if isinstance(m, ToolResult)}
    return [
        ToolResult(call.id, call.name, LOST, is_error=True)
        for message in messages
        if isinstance(message, Assistant)
        for call in message.tool_calls
        if call.id not in results
    ]

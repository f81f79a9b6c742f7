"""Tool calls as text, for models that cannot call tools natively: the `TOOL_CALL` form.

    <TOOL_CALL>
    {"want": "see the file", "name": "read_code", "arguments": {"path": "a.c"}}
    </TOOL_CALL>

The conversation is kept in one form for every model; `as_text` writes it for these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jarvis_ls.core.model_json import read_model_json
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.messages import Assistant, Message, ToolCall, ToolResult, User

START, END = "<TOOL_CALL>", "</TOOL_CALL>"
HOW = Words(
    'Write exactly one block: <TOOL_CALL>, one JSON object with "name" and "arguments",'
    " </TOOL_CALL>."
)
END_MISSING = "The end tag </TOOL_CALL> was missing and was added; always write it."

_START = re.compile(r"^[ \t]*(?:```[\w-]*[ \t]*\n[ \t]*)?<TOOL_CALL>", re.MULTILINE)
_END = re.compile(r"</TOOL_CALL>(?:[ \t]*\n[ \t]*```(?=[ \t]*(?:\n|\Z)))?")
_OPEN_FENCE = re.compile(r"\s*```\s*\Z")


@dataclass(frozen=True, slots=True)
class TextToolCall:
    """What an answer's text says about tools."""

    text: str
    """The text without the block."""
    call: ToolCall | None = None
    """The one call, without an id."""
    problem: str = ""
    """Why there is no call although one was meant, told to the model."""
    note: str = ""
    """What the model should be told beside the result."""


def mentions_call(text: str) -> bool:
    """Return whether a block begins somewhere."""
    return _START.search(text) is not None


def read_call(text: str) -> TextToolCall:
    """Return the call that `text` spells, when it is one and complete."""
    start = _START.search(text)
    if start is None:
        return TextToolCall(text)
    before = text[: start.start()].rstrip()
    problem = "The block holds nothing."
    body_from = start.end()
    for end in _END.finditer(text, body_from):
        call, problem = _call(text[body_from : end.start()])
        if call is None:
            continue
        if _START.search(text, end.end()):
            return TextToolCall(
                text, problem=Words("There are several calls; nothing was run. {how}", how=HOW)
            )
        after = text[end.end() :].strip()
        return TextToolCall("\n\n".join(part for part in (before, after) if part), call)
    if END not in text[body_from:]:
        if len(_START.findall(text)) > 1:
            return TextToolCall(
                text, problem=Words("There are several calls; nothing was run. {how}", how=HOW)
            )
        call, problem = _call(_OPEN_FENCE.sub("", text[body_from:]))
        if call is not None:
            return TextToolCall(before, call, note=END_MISSING)
    return TextToolCall(
        text,
        problem=Words(
            "The call could not be parsed; nothing was run. {problem} {how}",
            problem=problem,
            how=HOW,
        ),
    )


def written(call: ToolCall) -> str:
    """Return the block that spells `call`."""
    arguments: Any = call.arguments if call.raw is None else call.raw
    body = json.dumps({"name": call.name, "arguments": arguments}, ensure_ascii=False, indent=2)
    return f"{START}\n{body}\n{END}"


def as_text(messages: Sequence[Message]) -> list[Message]:
    """Return the conversation for a model that knows only text: one call, then its result, and so
    on.
    """
    results = {m.call_id: m for m in messages if isinstance(m, ToolResult)}
    found: list[Message] = []
    for message in messages:
        if isinstance(message, ToolResult):
            continue
        if not isinstance(message, Assistant) or not message.tool_calls:
            found.append(message)
            continue
        said = message.text
        for call in message.tool_calls:
            text = f"{said}\n\n{written(call)}" if said else written(call)
            found.append(replace(message, text=text, tool_calls=()))
            found.append(User(_result(results.get(call.id), call)))
            said = ""
    return found


def _result(result: ToolResult | None, call: ToolCall) -> str:
    if result is None:
        return f"{call.name} gave no result."
    word = "failed" if result.is_error else "gave"
    return f"{result.name} {word}:\n{result.text}"


def _call(body: str) -> tuple[ToolCall | None, str]:
    try:
        value = read_model_json(body)
    except ValueError as error:
        return None, f"It is no JSON object: {error}."
    if not isinstance(value, dict):
        return None, "It is no JSON object."
    name, arguments = value.get("name"), value.get("arguments", {})
    if not isinstance(name, str) or not name.strip():
        return None, 'It has no "name".'
    if isinstance(arguments, str):
        try:
            arguments = read_model_json(arguments)
        except ValueError as error:
            return None, f'Its "arguments" are no JSON object: {error}.'
    if not isinstance(arguments, dict):
        return None, 'Its "arguments" are no JSON object.'
    return ToolCall("", name.strip(), arguments), ""

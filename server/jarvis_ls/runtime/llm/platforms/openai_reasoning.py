"""`reasoning_details`, in which OpenRouter gives the reasoning of every provider behind it.

An answer holds a list of them: texts with a signature, summaries, what only the provider can read.
A conversation in which an answer with tool calls comes back without them, or with others, is
refused. In a stream they come in pieces, which belong together by type and index, or without an
index by standing next to each other. Some are bound to a tool call by its id, so that such a call
goes back under the id that the provider gave it: a mark in `Assistant.reasoning`
(`{"type": "function_call", "index": …, "id": …}`) keeps that.

https://openrouter.ai/docs/guides/best-practices/reasoning-tokens
"""

from __future__ import annotations

from typing import Any

from jarvis_ls.runtime.base.messages import Assistant
from jarvis_ls.runtime.llm.platforms.base import ModelInfo, ReasoningDelta
from jarvis_ls.runtime.llm.platforms.streaming import Measure

_KIND = "reasoning."
_CALL = "function_call"
_FLOWING = ("text", "summary")
"""Fields that come in pieces."""


def details_of(message: Assistant, model: ModelInfo) -> list[dict[str, Any]]:
    """Return the details of an answer, if they are of this model and it takes them back."""
    is_its_own = message.model.partition("/")[2] == model.name
    if not is_its_own or model.reasoning_back is False or model.thinking is False:
        return []
    return [item for item in message.reasoning if _is_detail(item)]


def given_ids(message: Assistant, model: ModelInfo) -> dict[str, str]:
    """Return the ids by which details speak of calls, by the ids that the calls have here."""
    if not details_of(message, model):
        return {}
    calls = message.tool_calls
    marks = [item for item in message.reasoning if item.get("type") == _CALL and "index" in item]
    return {calls[m["index"]].id: m["id"] for m in marks if m["index"] < len(calls)}


def thoughts_of(extra: dict[str, Any]) -> str:
    """Return what can be read in the details of an event."""
    return "".join(
        part
        for detail in _details_in(extra)
        for part in (detail.get("text"), detail.get("summary"))
        if isinstance(part, str)
    )


class Details:
    """The details of an answer as its events come in."""

    def __init__(self, measure: Measure) -> None:
        """`measure` raises when there is too much."""
        self._measure = measure
        self._found: list[dict[str, Any]] = []
        self._calls: list[str] = []

    def take(self, event: Any) -> None:
        """Take what an event of the stream holds. Raises `AnswerBroken` when it is too much."""
        for choice in (event.choices or [])[:1]:
            if choice.delta is None:
                continue
            for piece in _details_in(choice.delta.model_extra or {}):
                self._measure.count(len(str(piece)))
                self._add(piece)
            for call in choice.delta.tool_calls or []:
                if call.id and call.id not in self._calls:
                    self._calls.append(call.id)

    def deltas(self) -> list[ReasoningDelta]:
        """Return all of them, whole."""
        bound = {detail.get("id") for detail in self._found}
        marks = [
            {"type": _CALL, "index": index, "id": call}
            for index, call in enumerate(self._calls)
            if call in bound
        ]
        return [ReasoningDelta(item) for item in (*self._found, *marks)]

    def _add(self, piece: dict[str, Any]) -> None:
        known = self._begun(piece)
        if known is None:
            self._found.append(dict(piece))
            return
        for name, value in piece.items():
            if name in _FLOWING and isinstance(value, str) and isinstance(known.get(name), str):
                known[name] += value
            elif value is not None or name not in known:
                known[name] = value

    def _begun(self, piece: dict[str, Any]) -> dict[str, Any] | None:
        """Return the detail that a piece continues with; None when it begins one."""
        index, name = piece.get("index"), piece.get("id")
        candidates = self._found[-1:] if index is None else self._found
        for known in candidates:
            same = (known["type"], known.get("index")) == (piece["type"], index)
            open_ = index is not None or any(field in piece for field in (*_FLOWING, "signature"))
            if same and open_ and (name is None or known.get("id") in (None, name)):
                return None if index is None and known.get("signature") else known
        return None


def _details_in(extra: dict[str, Any]) -> list[dict[str, Any]]:
    listed = extra.get("reasoning_details")
    return [item for item in listed if _is_detail(item)] if isinstance(listed, list) else []


def _is_detail(item: Any) -> bool:
    return isinstance(item, dict) and str(item.get("type")).startswith(_KIND)

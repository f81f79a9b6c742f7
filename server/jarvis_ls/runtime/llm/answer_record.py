"""What a model answers, as it comes in and without secrets; for the log of calls."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.base.redaction import Flowing, Redactor
from jarvis_ls.runtime.llm.platforms.base import (
    Delta,
    FinishDelta,
    ReasoningDelta,
    TextDelta,
    ThinkingDelta,
    UsageDelta,
)


@dataclass
class Heard:
    """An answer as it comes in, already without secrets."""

    redactor: Redactor
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    arguments: dict[int, list[str]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    usage: Usage | None = None
    finish: str = ""
    first_ms: int | None = None
    chunks: int = 0
    unwritten: int = 0
    """Chunks that did not fit."""
    _flows: dict[str, Flowing] = field(default_factory=dict)

    def add(self, delta: Delta, ms: int) -> dict[str, Any] | None:
        """Return the record of a piece; None when there is nothing to write yet."""
        self.chunks += 1
        if isinstance(delta, UsageDelta):
            self.usage = delta.usage
            return {"kind": "usage", "usage": asdict(delta.usage)}
        if isinstance(delta, FinishDelta):
            self.finish = delta.reason
            return {"kind": "finish", "reason": delta.reason}
        if self.first_ms is None:
            self.first_ms = ms
        if isinstance(delta, ReasoningDelta):  # what only its provider can read says nothing here
            return {"kind": "reasoning", "size": len(str(delta.item))}
        if isinstance(delta, TextDelta):
            return self._wording("text", self.text, delta.text)
        if isinstance(delta, ThinkingDelta):
            return self._wording("thinking", self.thinking, delta.text)
        name = self.redactor.text(delta.name)
        self.names[delta.index] = self.names.get(delta.index, "") + name
        pieces = self.arguments.setdefault(delta.index, [])
        said = self._wording("call", pieces, delta.arguments, str(delta.index))
        if name:
            said = {**(said or {"kind": "call", "text": ""}), "name": name}
        return {**said, "index": delta.index} if said else None

    def answer(self, room: int) -> dict[str, Any]:
        """All of it."""
        for key, flow in self._flows.items():
            kind, _, index = key.partition(" ")
            where = {"text": self.text, "thinking": self.thinking}.get(kind)
            (where if where is not None else self.arguments[int(index)]).append(flow.end())
        return {
            "first_ms": self.first_ms,
            "chunks": self.chunks,
            "unwritten": self.unwritten,
            "text": cut_middle("".join(self.text), room),
            "thinking": cut_middle("".join(self.thinking), room),
            "calls": [
                {
                    "name": self.names.get(index, ""),
                    "arguments": cut_middle("".join(pieces), room // min(4, len(self.arguments))),
                }
                for index, pieces in list(self.arguments.items())[:64]
            ],
            "finish": self.finish,
            "usage": asdict(self.usage) if self.usage is not None else None,
        }

    def _wording(
        self, kind: str, pieces: list[str], text: str, index: str = ""
    ) -> dict[str, Any] | None:
        flow = self._flows.setdefault(f"{kind} {index}", self.redactor.flowing())
        safe = flow.add(text)
        if not safe:
            return None
        pieces.append(safe)
        return {"kind": kind, "text": safe}


def cut_middle(text: str, room: int) -> str:
    """`text`, or its beginning and end when it has more than `room` characters."""
    if len(text) <= room:
        return text
    half = room // 2
    return f"{text[:half]}… {len(text) - 2 * half} characters left out …{text[-half:]}"

"""Answers that a model gave before, read from a folder of the log of calls.

    [model_providers.recorded]
    type = "replay"
    base = "/home/me/.jarvis/sessions/0190…/calls"

A question is answered by the recording whose conversation held the same answers and, where several
do (children that work side by side), the same last message. Results of tools may differ: times and
temporary names do. Recordings of requests that failed are left out, and each is used once. Nothing
is sent anywhere.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.store import read_records
from jarvis_ls.runtime.base.errors import ModelRefused
from jarvis_ls.runtime.base.messages import Usage, to_json
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

_COMPARED = 400
"""Characters of a text or of a call's arguments that are compared: the log cuts long ones."""
_LAST = 200
"""Characters of the last message that are compared."""
Said = tuple[str, tuple[tuple[str, str], ...]]
"""What tells an answer from others: its text and its calls."""


@dataclass
class Recording:
    """One answer, and what it was an answer to."""

    said: tuple[Said, ...]
    """The answers that stood in the conversation."""
    last: str
    """How its last message begins."""
    response: dict[str, Any]
    used: bool = False


class Replay(Platform):
    """The recordings of one folder."""

    name = "replay"

    def __init__(self, base_url: str | None, api_key: str) -> None:
        """`base_url` is the folder; there is no key."""
        self._folder = Path(base_url or "").expanduser()
        self._recordings: list[Recording] | None = None

    async def stream(self, model: ModelInfo, request: Request) -> AsyncIterator[Delta]:
        """See `Platform.stream`."""
        if self._recordings is None:
            self._recordings = await asyncio.to_thread(read_recordings, self._folder)
        found = self._find([to_json(message) for message in request.messages])
        found.used = True
        for delta in _deltas(found.response):
            yield delta

    async def models(self) -> list[str]:
        """See `Platform`."""
        return ["recorded"]

    def _find(self, messages: Sequence[dict[str, Any]]) -> Recording:
        assert self._recordings is not None
        said, last = _answers_in(messages), _last(messages)
        unused = [recording for recording in self._recordings if not recording.used]
        fitting = [r for r in unused if _may_be(r.said, said)]
        fitting.sort(key=lambda r: (r.said != said, r.last != last))
        if not fitting:
            raise ModelRefused(
                "No recorded answer in {folder} fits this conversation ({n} are left).",
                folder=self._folder,
                n=len(unused),
            )
        return fitting[0]


def read_recordings(folder: Path) -> list[Recording]:
    """Return the answers in a folder of the log of calls, the first that was asked for first.

    Raises `ModelRefused` when there are none.
    """
    found = [made for path in sorted(folder.glob("*.jsonl")) if (made := _read(path)) is not None]
    if not found:
        raise ModelRefused("There are no recorded answers in {folder}.", folder=folder)
    return found


def _read(path: Path) -> Recording | None:
    by_kind = {record["is"]: record for record in read_records(path) if isinstance(record, dict)}
    asked, response = by_kind.get("request"), by_kind.get("response")
    if asked is None or response is None or "error" in by_kind or not response.get("finish"):
        return None
    return Recording(_answers_in(asked["messages"]), _last(asked["messages"]), response)


def _answers_in(messages: Sequence[dict[str, Any]]) -> tuple[Said, ...]:
    return tuple(
        (
            message["text"][:_COMPARED],
            tuple(
                (call["name"], (call["raw"] or _as_json(call["arguments"]))[:_COMPARED])
                for call in message["tool_calls"]
            ),
        )
        for message in messages
        if message["kind"] == "assistant"
    )


def _may_be(recorded: tuple[Said, ...], said: tuple[Said, ...]) -> bool:
    """Return whether a recorded conversation, of which the log may lack the middle, can be the one
    that held these answers."""
    if len(recorded) > len(said) or bool(recorded) != bool(said):
        return False
    return not said or recorded[-1] == said[-1]


def _last(messages: Sequence[dict[str, Any]]) -> str:
    return str(messages[-1]["text"])[:_LAST] if messages else ""


def _as_json(arguments: Any) -> str:
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True)


def _deltas(response: dict[str, Any]) -> list[Delta]:
    found: list[Delta] = []
    if response["thinking"]:
        found.append(ThinkingDelta(response["thinking"]))
    if response["text"]:
        found.append(TextDelta(response["text"]))
    found += [
        ToolCallDelta(index, f"call_{index}", call["name"], call["arguments"])
        for index, call in enumerate(response["calls"])
    ]
    if response["usage"]:
        found.append(UsageDelta(Usage(**response["usage"])))
    return [*found, FinishDelta(response["finish"])]

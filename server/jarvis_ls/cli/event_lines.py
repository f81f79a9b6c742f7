"""`jarvis -m … --json`: what happens as JSON, one object a line, for programs.

Version 1. A field or a `type` may be added; none is renamed, removed, or given another meaning.

    {"type": "begin", "version": 1, "session": …, "folder": …, "model": …, "trusted": …}
    {"type": "node", "node": …, "parent": …, "title": …, "state": …, "error": …}
    {"type": "answer", "node": …, "id": …, "text": …, "thinking": …, "model": …, "usage": {…}}
    {"type": "tool", "node": …, "id": …, "name": …, "arguments": …, "state": …, "output": …,
     "reason": …, "seconds": …, "isolation": …, "background": …, "files": […]}
    {"type": "plan", "node": …, "steps": [{"text": …, "state": …}]}
    {"type": "tasks", "state": …, "tasks": [{"id": …, "title": …, "needs": […], "state": …,
     "node": …, "attempts": …, "corrections": [{"cause": …, "kind": …, "text": …}], "error": …}]}
    {"type": "notice", "node": …, "level": …, "text": …}
    {"type": "patch", "state": …, "diff": …, "files": [{"path": …, "change": …, "added": …,
     "deleted": …}], "checks": {"build.cargo": […]}, "losses": […], "commit": …, "reference": …}
    {"type": "end", "status": 0, "state": "completed", "text": …, "value": …, "error": …,
     "rounds": …, "seconds": …, "usage": {…}}

`tasks` come from `jarvis auto`, whenever one of them has changed. A `patch` comes from `jca -r`:
its `state` is `offered`, `accepted`, `refused` or `committed`. `begin` is the first line and `end`
the last, also when no model can be asked. A `tool` comes with each state: `running`, `asked`, then
`done`, `failed`, `denied` or `cancelled`; that of a script that runs on after its call, which
`background` names, when the script has ended. An `answer` comes when it is whole. `usage` has
`input`, `output`, `cached` and `reasoning` tokens and `cost`.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import Any, TextIO

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.runtime.base.events import (
    AnswerEntry,
    Entry,
    EntryPut,
    Event,
    NodeInfo,
    NodePut,
    NoticeEntry,
    PlanEntry,
    TaskGraphEntry,
    ToolEntry,
)
from jarvis_ls.runtime.base.messages import Usage

VERSION = 1


class EventLines:
    """Writes the events of one session."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._begun = time.monotonic()
        self._states: dict[str, str] = {}
        """Last state written of each node and tool call, and the text of each notice."""

    def begin(self, **facts: Any) -> None:
        """Write the first line."""
        self._write("begin", version=VERSION, **facts)

    def show(self, event: Event) -> None:
        """Write what is new in an event."""
        if isinstance(event, NodePut):
            self._put_node(event.node)
        elif isinstance(event, EntryPut):
            self._put_entry(event.node, event.entry)

    def patch(self, **facts: Any) -> None:
        """Write what was changed in a copy, and what became of it."""
        self._write("patch", **facts)

    def end(self, status: ExitStatus, *, usage: Usage, **facts: Any) -> None:
        """Write the last line."""
        seconds = round(time.monotonic() - self._begun, 3)
        self._write("end", status=status, **facts, seconds=seconds, usage=asdict(usage))

    def _put_node(self, node: NodeInfo) -> None:
        if self._is_new(node.id, node.state):
            self._write(
                "node",
                node=node.id,
                parent=node.parent,
                title=node.title,
                state=node.state,
                error=node.error,
            )

    def _put_entry(self, node: str, entry: Entry) -> None:
        if isinstance(entry, AnswerEntry):
            if not entry.streaming:
                self._write(
                    "answer",
                    node=node,
                    id=entry.id,
                    text=entry.text,
                    thinking=entry.thinking,
                    model=entry.model,
                    usage=asdict(entry.usage),
                )
        elif isinstance(entry, ToolEntry):
            if self._is_new(entry.id, entry.state):
                self._put_tool(node, entry)
        elif isinstance(entry, PlanEntry):
            steps = [asdict(step) for step in entry.steps]
            self._write("plan", node=node, steps=steps)
        elif isinstance(entry, TaskGraphEntry):
            self._write("tasks", state=entry.state, tasks=[asdict(task) for task in entry.tasks])
        elif isinstance(entry, NoticeEntry) and self._is_new(entry.id, entry.text):
            self._write("notice", node=node, level=entry.level, text=speak(entry.text))

    def _put_tool(self, node: str, entry: ToolEntry) -> None:
        self._write(
            "tool",
            node=node,
            id=entry.id,
            name=entry.name,
            arguments=entry.arguments,
            state=entry.state,
            output=entry.output,
            reason=speak(entry.reason),
            seconds=entry.seconds,
            isolation=entry.isolation,
            background=entry.background,
            files=[edit.path for edit in entry.edits],
        )

    def _is_new(self, id: str, state: str) -> bool:
        before = self._states.get(id)
        self._states[id] = state
        return before != state

    def _write(self, kind: str, **facts: Any) -> None:
        self._out.write(json.dumps({"type": kind, **facts}) + "\n")
        self._out.flush()

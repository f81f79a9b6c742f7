"""Events of a session as the updates that a client shows."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jarvis_ls.agents.records import ROOT
from jarvis_ls.facade.session_records import (
    AgentShown,
    CallKind,
    CallShown,
    Change,
    ContextShown,
    Location,
    ModeShown,
    PlanShown,
    Speaker,
    Spoken,
    Step,
    StepState,
    TitleShown,
    TreeShown,
    Update,
)
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.event_batch import Batch, shorten_output
from jarvis_ls.runtime.base.events import (
    AnswerEntry,
    EntryGrew,
    EntryPut,
    Event,
    MeterPut,
    NodeGone,
    NodeInfo,
    NodePut,
    NoticeEntry,
    PlanEntry,
    ProposedEdit,
    SessionPut,
    TaskGraphEntry,
    TaskState,
    ToolEntry,
    UserEntry,
)
from jarvis_ls.runtime.base.folders import located
from jarvis_ls.runtime.base.messages import ToolCall
from jarvis_ls.runtime.tools.tool import Action, Tool, actions_of

TITLE = 120
"""Characters of a call's title."""

Tools = Callable[[], Mapping[str, Tool]]


class Updates:
    """What a client is sent of one session."""

    def __init__(
        self,
        session: str,
        roots: Sequence[Path],
        tools: Tools,
        send: Callable[[list[Update]], None],
    ) -> None:
        """`tools` gives the tools of the session by name; `send` gets updates in their order."""
        self._session = session
        self._send = send
        self._calls = _Calls(roots, tools)
        self._batch = Batch(self._send_batch)
        self._nodes: dict[str, NodeInfo] = {}
        self._texts: dict[tuple[str, str], int] = {}
        """Characters that were sent, by entry and part."""
        self._title = self._mode = ""
        self._tree_changed = False

    def observe(self, event: Event) -> None:
        """Take an event of any session; what it changes in this one is sent soon."""
        name = event.session.id if isinstance(event, SessionPut) else event.session
        if name == self._session:
            self._batch.add(shorten_output(event))

    def flush(self) -> None:
        """Send what there is now."""
        self._batch.flush()

    def show_call(self, node: str, entry: ToolEntry) -> CallShown:
        """Return a call as the client knows it."""
        return self._calls.show(self._nodes.get(node), node, entry)

    def start(self, events: Iterable[Event]) -> list[Update]:
        """Take the events that there are of the session; return what they show."""
        shown = [update for event in events for update in self._translate(event, replay=True)]
        tree = [self._show_tree()] if len(self._nodes) > 1 else []
        self._tree_changed = False
        return [*shown, *tree]

    def _send_batch(self, events: Sequence[Event]) -> None:
        updates = [update for event in events for update in self._translate(event, replay=False)]
        if self._tree_changed:
            updates.append(self._show_tree())
            self._tree_changed = False
        if updates:
            self._send(updates)

    def _translate(self, event: Event, *, replay: bool) -> Iterator[Update]:
        if isinstance(event, EntryPut):
            yield from self._translate_entry(event, replay=replay)
        elif isinstance(event, EntryGrew):
            yield from self._translate_growth(event)
        elif isinstance(event, NodePut):
            self._nodes[event.node.id] = event.node
            self._tree_changed = True
        elif isinstance(event, NodeGone):
            self._tree_changed |= self._nodes.pop(event.node, None) is not None
        elif isinstance(event, MeterPut) and event.node == ROOT and event.meter.window > 0:
            yield ContextShown(sum(event.meter.parts.values()), event.meter.window)
        elif isinstance(event, SessionPut):
            info = event.session
            if info.title and info.title != self._title:
                self._title = info.title
                yield TitleShown(info.title)
            if info.mode != self._mode:
                self._mode = info.mode
                yield ModeShown(info.mode)

    def _translate_entry(self, event: EntryPut, *, replay: bool) -> Iterator[Update]:
        entry = event.entry
        if isinstance(entry, ToolEntry):
            yield self.show_call(event.node, entry)
        elif event.node != ROOT:
            return
        elif isinstance(entry, AnswerEntry):
            yield from self._rest(entry.id, "thinking", entry.thinking)
            yield from self._rest(entry.id, "text", entry.text)
        elif isinstance(entry, PlanEntry):
            yield PlanShown(tuple(Step(step.text, step.state) for step in entry.steps))
        elif isinstance(entry, TaskGraphEntry):
            steps = (Step(task.title, _STEPS[task.state]) for task in entry.tasks)
            yield PlanShown(tuple(steps))
        elif isinstance(entry, UserEntry) and replay:
            yield Spoken(entry.id, "user", entry.text)
        elif isinstance(entry, NoticeEntry) and (replay or entry.level != "error"):
            yield from self._rest(entry.id, "notice", entry.text)

    def _translate_growth(self, event: EntryGrew) -> Iterator[Update]:
        if event.part == "output":
            if (known := self._calls.grow(event)) is not None:
                yield self.show_call(event.node, known)
        elif event.node == ROOT:
            sent = self._texts.get((event.entry, event.part), 0)
            piece = event.text[max(0, sent - event.at) :]
            if piece:
                self._texts[event.entry, event.part] = event.at + len(event.text)
                yield Spoken(event.entry, _SPEAKERS[event.part], piece)

    def _rest(self, entry: str, part: str, text: str) -> Iterator[Update]:
        """Yield what was not sent of a text that is known as a whole."""
        sent = min(self._texts.get((entry, part), 0), len(text))
        self._texts[entry, part] = len(text)
        if text[sent:]:
            yield Spoken(entry, _SPEAKERS[part], text[sent:])

    def _show_tree(self) -> TreeShown:
        return TreeShown(tuple(map(_show_agent, self._nodes.values())))


_STEPS: Mapping[TaskState, StepState] = {
    "waiting": "pending",
    "running": "active",
    "done": "done",
    "failed": "dropped",
    "skipped": "dropped",
    "cancelled": "dropped",
}
_SPEAKERS: Mapping[str, Speaker] = {"thinking": "thought", "text": "answer", "notice": "notice"}


def fence(text: str, language: str = "") -> str:
    """Return text as Markdown shows it as it is."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{language}\n{text}\n{ticks}"


def _show_agent(node: NodeInfo) -> AgentShown:
    return AgentShown(
        node.id,
        node.parent,
        node.title,
        node.state,
        node.activity,
        node.subtree.input + node.subtree.output,
        node.subtree.cost,
        node.error,
    )


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What stays the same of a call."""

    kind: CallKind
    arguments: Mapping[str, Any]
    target: str
    locations: tuple[Location, ...]


class _Calls:
    """The calls that were shown."""

    def __init__(self, roots: Sequence[Path], tools: Tools) -> None:
        self._roots = roots
        self._tools = tools
        self._entries: dict[str, ToolEntry] = {}
        """Those whose output may grow."""
        self._meanings: dict[str, _Meaning] = {}

    def grow(self, event: EntryGrew) -> ToolEntry | None:
        """Return the entry with its new output; None when it is not known."""
        known = self._entries.get(event.entry)
        if known is None:
            return None
        grown = replace(known, output=known.output[: event.at] + event.text)
        self._entries[event.entry] = grown
        return grown

    def show(self, node: NodeInfo | None, node_id: str, entry: ToolEntry) -> CallShown:
        """Return a call as it is now."""
        is_new = entry.id not in self._meanings
        if is_new:
            self._meanings[entry.id] = self._read(entry)
        if entry.state in ("asked", "running"):
            self._entries[entry.id] = entry
        else:
            self._entries.pop(entry.id, None)
        meaning = self._meanings[entry.id]
        edits = [edit for edit in entry.edits if edit.root < len(self._roots)]
        return CallShown(
            entry.id,
            node_id,
            _title(node, entry, meaning.target),
            meaning.kind,
            entry.state,
            meaning.arguments,
            _text(entry),
            tuple(change for edit in edits for change in self._changes(edit)),
            tuple(map(self._place, edits)) or meaning.locations,
            is_new,
        )

    def _read(self, entry: ToolEntry) -> _Meaning:
        arguments: Any = {}
        with contextlib.suppress(ValueError, RecursionError):  # long ones are cut
            arguments = json.loads(entry.arguments)
        arguments = arguments if isinstance(arguments, dict) else {}
        known = self._tools().get(entry.name)
        actions: Sequence[Action] = ()
        if known is not None:
            with contextlib.suppress(ToolRetry):
                actions = actions_of(known, ToolCall(entry.id, entry.name, arguments)) or ()
        path = arguments.get("file_path")
        targets = [a.target for a in actions if a.kind in ("read", "write")]
        if not targets and isinstance(path, str) and known is not None and known.proposes:
            targets = [path]
        first = targets[0] if targets else next((a.target for a in actions), "")
        return _Meaning(
            _kind(entry.name, known, actions),
            arguments,
            first,
            tuple(Location(str(located(target, self._roots))) for target in targets if target),
        )

    def _changes(self, edit: ProposedEdit) -> Iterator[Change]:
        path = str(self._roots[edit.root] / edit.path)
        for hunk in edit.hunks:
            before = (*hunk.before, *hunk.old_lines, *hunk.after)
            after = (*hunk.before, *hunk.new_lines, *hunk.after)
            old = None if edit.change == "create" else "\n".join(before)
            yield Change(path, old, "\n".join(after))

    def _place(self, edit: ProposedEdit) -> Location:
        line = edit.hunks[0].new_start if edit.hunks else None
        return Location(str(self._roots[edit.root] / edit.path), line)


def _kind(name: str, known: Tool | None, actions: Iterable[Action]) -> CallKind:
    kinds = {action.kind for action in actions}
    if known is not None and (known.script is not None or "execute" in kinds):
        return "execute"
    if "write" in kinds or (known is not None and known.proposes):
        return "edit"
    if "connect" in kinds:
        return "fetch"
    if name.startswith("search_"):
        return "search"
    return "read" if "read" in kinds else "other"


def _title(node: NodeInfo | None, entry: ToolEntry, target: str) -> str:
    whose = f"{node.title}: " if node is not None and node.parent is not None else ""
    first, *more = (target or (entry.asked[0].target if entry.asked else "")).splitlines() or [""]
    title = f"{whose}{entry.name} {first}{' …' if more else ''}".rstrip()
    return title if len(title) <= TITLE else f"{title[: TITLE - 1]}…"


def _text(entry: ToolEntry) -> str:
    """Return what there is to read of a call, as Markdown."""
    parts = []
    if entry.script is not None:
        parts.append(fence(entry.script.text, entry.script.language))
    if entry.state == "asked":
        parts += [f"{asked.kind}: {asked.target}" for asked in entry.asked]
    parts.append(entry.reason)
    if entry.output:
        parts.append(fence(entry.output))
    return "\n\n".join(part for part in parts if part)

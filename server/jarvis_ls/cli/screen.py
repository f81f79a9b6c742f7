"""What agents do, as text in a terminal: answers as they stream, tool calls in two lines each.

Answers of the root go to `out`; all else (tools, notices, other agents) goes to `aside`, so that
`jarvis -m … | less` shows the answer alone. An answer that goes to no terminal is written when it
is whole: of an attempt that failed nothing can be taken back there. Where one answer is wanted,
what the model says on the way to it goes to `aside` too.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from jarvis_ls.cli.language import speak
from jarvis_ls.cli.markdown_blocks import MarkdownBlocks
from jarvis_ls.cli.tool_verbs import subject, verb
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import (
    AnswerEntry,
    CorrectionKind,
    Entry,
    EntryGrew,
    EntryPut,
    Event,
    NodeInfo,
    NodePut,
    NoticeEntry,
    PlanEntry,
    ProposedEdit,
    ScriptRun,
    TaskGraphEntry,
    TaskShown,
    TaskState,
    ToolEntry,
    UserEntry,
)

STATES = {"done": "✓", "failed": "✗", "denied": "⊘", "cancelled": "■"}
STEPS = {"pending": "[ ]", "active": "[>]", "done": "[x]", "dropped": "[-]"}
TASKS: Mapping[TaskState, str] = {
    "waiting": "[ ]",
    "running": "[>]",
    "done": "[x]",
    "failed": "[!]",
    "skipped": "[-]",
    "cancelled": "[-]",
}
CORRECTIONS: Mapping[CorrectionKind, Words] = {
    "wait": Words("“{title}” makes no progress; it is given more time. {text}"),
    "redirect": Words("“{title}” was told to go on differently: {text}"),
    "adjust": Words("“{title}” was told that its tool calls fail: {text}"),
    "restart": Words("“{title}” starts over: {text}"),
    "retry": Words("“{title}” is tried again: {text}"),
    "give_up": Words("“{title}” is given up: {text}"),
}
"""What was done about a task in trouble."""
COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
ARGUMENT_SHOWN = 100
ARGUMENT_OF_RESULT = 60
"""Characters of the arguments that tell calls apart which ran at the same time."""
OUTPUT_LINES = 3

_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")


class Screen:
    """Writes the events of one session."""

    def __init__(
        self,
        out: TextIO,
        aside: TextIO,
        *,
        colour: bool,
        thinking: bool = False,
        only_last: bool = False,
    ) -> None:
        """`thinking` also shows what models reason; with `only_last` an answer is written when it
        was the last (`release`)."""
        self._out = out
        self._only_last = only_last
        self._held = ""
        """The answer that may be the last."""
        self._streams = out.isatty() and not only_last
        """Whether answers are written as they come."""
        self._blocks = MarkdownBlocks(out) if colour and self._streams else None
        """Renders answers; elsewhere they are written as the model wrote them."""
        self._aside = aside
        self._colour = colour
        self._thinking = thinking
        self._nodes: dict[str, NodeInfo] = {}
        self._root = ""
        self._said: dict[str, str] = {}
        """What was written of each answer, by its id."""
        self._tools: dict[str, str] = {}
        """Last state written of each tool call."""
        self._behind: set[str] = set()
        """The calls of which it was written that their scripts run in the background."""
        self._notices: dict[str, str] = {}
        self._expects = False
        """Whether the last notice may be what a command answers."""
        self._latest: tuple[NoticeEntry, str] | None = None
        """The last notice, with its line, while it is not known whether it is an answer."""
        self.whole = False
        """Whether all that tools put out is written: the user ran the tool."""
        self._last_call = ""
        """The tool call whose line was written last, while it runs."""
        self._plan: tuple[Any, ...] = ()
        self._tasks: dict[str, dict[str, TaskShown]] = {}
        """The tasks of auto mode as they were written, by their entry."""
        self._open = False
        """Whether the line of `out` is not ended."""
        self._reasoning = False

    def know(self, events: Sequence[Event]) -> None:
        """Take what happened before as known; nothing of it is written."""
        for event in events:
            if isinstance(event, NodePut):
                self._put_node(event.node, quiet=True)
            elif isinstance(event, EntryPut):
                self._know_entry(event.entry)

    def show(self, event: Event) -> None:
        """Write what is new in an event."""
        if isinstance(event, NodePut):
            self._put_node(event.node)
        elif isinstance(event, EntryPut):
            self._put_entry(event.node, event.entry)
        elif isinstance(event, EntryGrew):
            self._grow(event)

    def say(self, text: str, colour: str = "") -> None:
        """Write a line beside the answer, in the user's language."""
        self._break_line()
        self._aside.write(self._paint(speak(text), colour) + "\n")
        self._aside.flush()

    def say_script(self, script: ScriptRun) -> None:
        """Write a script that waits for approval as a block, with where it runs and what it can
        reach.
        """
        self.say(Words("? Run this {language} script?", language=script.language), "bold")
        for line in script.text.strip("\n").split("\n"):
            self.say(f"    {visible(line)}", "yellow")
        network = Words("network allowed" if script.network else "no network")
        sandbox = sandbox_in_words(script.isolation)
        where = Words("folder: {folder}", folder=script.folder)
        self.say(f"    {speak(where)} · {speak(network)} · {speak(sandbox)}", "dim")

    @contextlib.contextmanager
    def expecting(self) -> Iterator[Callable[[], None]]:
        """Return what is called when the last words of a command were the answer; other notices
        are beside it, as always.
        """

        def answered() -> None:
            latest, self._latest = self._latest, None
            if latest is not None:
                self.answer(latest[0].text)

        self._expects = True
        try:
            yield answered
        finally:
            self._expects = False
            self._put_latest()

    def release(self, *, answered: bool) -> None:
        """Write the answer that was the last, or beside it when it is no answer."""
        held, self._held = self._held, ""
        if held and answered:
            self.answer(held)
        elif held:
            self.say(visible(held), "dim")

    def drop(self) -> None:
        """Forget the answer that was held: another form of it is written."""
        self._held = ""

    def answer(self, text: str) -> None:
        """Write a whole answer."""
        self.end_line()
        self._write(text.rstrip("\n") + "\n")
        self.end_line()

    def end_line(self) -> None:
        """Write all that was kept back of an answer, and begin a new line, when one is open."""
        if self._blocks is not None:
            self._blocks.end()
        self._break_line()

    def _break_line(self) -> None:
        if self._open:
            self._out.write("\n")
            self._out.flush()
            self._open = False
        if self._reasoning:
            self._aside.write("\n")
            self._reasoning = False

    # -- below: one kind after the other -------------------------------------------------------

    def _put_node(self, node: NodeInfo, *, quiet: bool = False) -> None:
        before = self._nodes.get(node.id)
        self._nodes[node.id] = node
        if node.parent is None:
            self._root = node.id
        elif not quiet and (before is None or before.state != node.state):
            detail = f": {node.error}" if node.error else ""
            state = speak(Words(node.state))
            self.say(f"◆ {node.title} {state}{detail}", "cyan")

    def _know_entry(self, entry: Entry) -> None:
        if isinstance(entry, AnswerEntry):
            self._said[entry.id] = entry.text
        elif isinstance(entry, ToolEntry):
            self._tools[entry.id] = entry.state
        elif isinstance(entry, NoticeEntry):
            self._notices[entry.id] = entry.text
        elif isinstance(entry, TaskGraphEntry):
            self._tasks[entry.id] = {task.id: task for task in entry.tasks}

    def _put_entry(self, node: str, entry: Entry) -> None:
        if isinstance(entry, AnswerEntry):
            self._put_answer(node, entry)
        elif isinstance(entry, ToolEntry):
            self._put_tool(node, entry)
        elif isinstance(entry, NoticeEntry):
            if self._notices.get(entry.id) != entry.text:
                self._notices[entry.id] = entry.text
                self._put_latest()
                self._latest = (entry, f"{self._of(node)}· {visible(entry.text)}")
                if not self._expects or entry.level != "info":
                    self._put_latest()
        elif isinstance(entry, PlanEntry):
            if entry.steps != self._plan:
                self._plan = entry.steps
                for step in entry.steps:
                    self.say(f"  {STEPS[step.state]} {visible(step.text)}", "dim")
        elif isinstance(entry, TaskGraphEntry):
            self._put_tasks(entry)
        elif isinstance(entry, UserEntry) and entry.queued:
            self.say(Words("(queued: sent before the next answer)"), "dim")

    def _put_tasks(self, graph: TaskGraphEntry) -> None:
        """Write the tasks when they are planned, and what is done about one in trouble."""
        titles = {task.id: task.title for task in graph.tasks}
        is_new = graph.id not in self._tasks
        known = self._tasks.setdefault(graph.id, {})
        for task in graph.tasks:
            if is_new:
                needs = ", ".join(titles.get(need, need) for need in task.needs)
                after = f" ({speak(Words('after {tasks}', tasks=needs))})" if needs else ""
                self.say(f"  {TASKS[task.state]} {visible(task.title + after)}", "dim")
            before = known.get(task.id)
            known[task.id] = task
            for done in task.corrections[len(before.corrections) if before else 0 :]:
                line = Words(
                    CORRECTIONS[done.kind], title=visible(task.title), text=visible(done.text)
                )
                self.say(line, "yellow")
            if task.state == "skipped" and (before is None or before.state != "skipped"):
                self.say(f"  {TASKS['skipped']} {visible(task.title)}: {task.error}", "yellow")

    def _put_latest(self) -> None:
        if self._latest is not None:
            entry, line = self._latest
            self._latest = None
            self.say(line, {"error": "red", "warning": "yellow"}.get(entry.level, "dim"))

    def _put_answer(self, node: str, entry: AnswerEntry) -> None:
        if node != self._root or (entry.streaming and not self._streams):
            return
        said = self._said.get(entry.id, "")
        if not entry.text.startswith(said):  # an attempt that failed is said again
            if self._blocks is not None:
                self._blocks.drop()
            self.end_line()
            said = ""
        self._said[entry.id] = entry.text
        if self._only_last:
            if said:
                self._held = ""  # it is the same answer, said again
            self.release(answered=False)
            self._held = entry.text
            return
        self._write(entry.text[len(said) :])
        if not entry.streaming:
            self.end_line()

    def _grow(self, event: EntryGrew) -> None:
        if event.node != self._root:
            return
        if event.part == "text" and self._streams and event.entry in self._said:
            said = self._said[event.entry]
            fresh = event.text[max(0, len(said) - event.at) :]
            self._said[event.entry] = said[: event.at] + event.text
            self._write(fresh)
        elif event.part == "thinking" and self._thinking:
            self._aside.write(self._paint(visible(event.text), "dim"))
            self._aside.flush()
            self._reasoning = True

    def _write(self, text: str) -> None:
        if not text:
            return
        if self._reasoning:
            self._break_line()
        if self._blocks is not None:
            self._blocks.feed(visible(text))
            return
        self._out.write(visible(text))
        self._out.flush()
        self._open = not text.endswith("\n")

    def _put_tool(self, node: str, entry: ToolEntry) -> None:
        before = self._tools.get(entry.id)
        self._tools[entry.id] = entry.state
        if before is None:
            self.say(f"{self._of(node)}● {call_line(entry)}", "cyan")
            self._last_call = entry.id
        if entry.background and entry.id not in self._behind:
            self._behind.add(entry.id)
            self.say(Words("  … {id} runs in the background", id=entry.background), "dim")
        if entry.state == before or entry.state not in STATES:
            return
        mark = STATES[entry.state]
        colour = {"done": "green", "denied": "yellow"}.get(entry.state, "red")
        facts = [f"{entry.seconds:.1f} s"] if entry.seconds else []
        facts += [entry.isolation] if entry.isolation else []
        told = entry.reason if entry.state in ("denied", "cancelled") else entry.output
        lines = [line for line in visible(told).strip().splitlines() if line.strip()]
        if self._last_call != entry.id:  # others began or ended since: say whose result it is
            whose = call_line(entry)[:ARGUMENT_OF_RESULT]
            facts.insert(0, f"{self._of(node)}{whose}".strip())
        self._last_call = ""
        self.say(f"  {mark} {' · '.join([*facts, *lines[:1]])}"[:400], colour)
        for line in lines[1:] if self.whole else lines[1:OUTPUT_LINES]:
            self.say(f"    {line}"[:400], "" if self.whole else "dim")
        if len(lines) > OUTPUT_LINES and not self.whole:
            self.say(Words("    … {n} more lines", n=len(lines) - OUTPUT_LINES), "dim")

    def _of(self, node: str) -> str:
        known = self._nodes.get(node)
        return f"[{known.title}] " if known is not None and known.parent is not None else ""

    def _paint(self, text: str, colour: str) -> str:
        return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if colour and self._colour else text


def sandbox_in_words(isolation: str) -> Words:
    """Return what confines scripts: a kind of sandbox, `none`, or nothing where it is not known."""
    if isolation == "none":
        return Words("NO sandbox")
    return Words("sandbox: {name}", name=isolation or Words("unknown"))


def diff_lines(edit: ProposedEdit) -> list[tuple[str, str]]:
    """One edit as a diff: each line with its colour."""
    lines = [(f"{edit.change} {visible(edit.path)}", "bold")]
    for hunk in edit.hunks:
        lines.append((f"@@ {hunk.index + 1}: line {hunk.old_start} @@", "cyan"))
        lines += [(f"  {visible(line)}", "") for line in hunk.before]
        lines += [(f"- {visible(line)}", "red") for line in hunk.old_lines]
        lines += [(f"+ {visible(line)}", "green") for line in hunk.new_lines]
        lines += [(f"  {visible(line)}", "") for line in hunk.after]
    return lines


def call_line(entry: ToolEntry) -> str:
    """Return a call in one short line: in words, `Read src/a.c`, or its name and arguments."""
    known = verb(entry.name)
    if known is None:
        return f"{entry.name} {arguments_line(entry.arguments)}".strip()
    return f"{speak(known)} {_short(subject(entry.arguments))}".strip()


def arguments_line(arguments: str) -> str:
    """Arguments of a call in one short line."""
    try:
        values = json.loads(arguments)
    except ValueError:
        values = None
    if isinstance(values, dict):
        parts = [
            f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in values.items()
        ]
        arguments = " ".join(parts)
    return _short(arguments)


def _short(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= ARGUMENT_SHOWN else line[: ARGUMENT_SHOWN - 1] + "…"


def visible(text: str) -> str:
    """`text` without what would steer the terminal instead of being shown."""
    return _CONTROL.sub(lambda match: f"<{ord(match[0]):02X}>", text)


def wants_colour(stream: TextIO) -> bool:
    """Return whether a stream is a terminal on which colours are welcome."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()

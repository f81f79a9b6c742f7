"""What can be asked in the panel and at the terminal without any model: `/scan`, `/findings`, …

A command reads its argument and gives Markdown. What it examines (the editor's findings, or
files on disk) is a `Project`, so that panel and terminal have the same commands.
"""

from __future__ import annotations

import difflib
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_ls.core.finding import SEVERITIES, Finding
from jarvis_ls.runtime.base.events import AnswerEntry, NoticeEntry, SessionInfo

if TYPE_CHECKING:
    from jarvis_ls.jsec.engine.rule_pages import RulePage
    from jarvis_ls.lsp.user_messages import Messages
    from jarvis_ls.runtime.agent.user_input import Command, InputContext
    from jarvis_ls.runtime.memory.memory import Memory as AllMemories

SHOWN = 50
"""Findings that one answer lists."""

Report = Callable[[int, int], None]
"""Told how many files of how many are done."""


@dataclass(frozen=True, slots=True)
class Located:
    """A finding that nothing hides, and where its file is."""

    root: int
    """Which of the workspace's folders."""
    finding: Finding


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan did."""

    files: int
    skipped: int
    seconds: float
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory, as far as a list shows it."""

    kind: str
    id: str
    text: str
    tags: tuple[str, ...]


class Project(ABC):
    """What the commands look at."""

    @abstractmethod
    async def scan(self, report: Report) -> Scanned:
        """Scan all of it."""

    @abstractmethod
    async def findings(self) -> list[Located]:
        """Return the findings of the last scan that nothing hides."""

    @abstractmethod
    async def pages(self) -> dict[str, RulePage]:
        """Every rule by id."""

    @abstractmethod
    async def sessions(self, words: str) -> Sequence[SessionInfo]:
        """Sessions that hold these words, the last used first."""

    @abstractmethod
    async def memories(self, words: str) -> Sequence[Memory]:
        """Memories that hold these words."""

    @abstractmethod
    def link(self, root: int, path: str, line: int) -> str:
        """Return a place in a file, as Markdown."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """One command."""

    name: str
    """With its slash."""
    title: str
    """What it does; the English text, which is the key of its translation."""
    argument: str
    """What it takes, or nothing."""
    run: Callable[[str, Project, Messages, Report], Awaitable[str]]
    """Called with what follows the name; gives Markdown."""


def find_command(text: str) -> tuple[BuiltIn, str] | None:
    """Return the command a line begins with, and its argument; None when it is none of these."""
    name, _, argument = text.strip().partition(" ")
    known = next((command for command in COMMANDS if command.name == name.lower()), None)
    return (known, argument.strip()) if known is not None else None


def as_commands(project: Project, say: Messages) -> list[Command]:
    """Those that a conversation has not itself."""
    own = ("/help", "/sessions", "/memory")
    return [_as_command(command, project, say) for command in COMMANDS if command.name not in own]


async def listed_memories(memory: AllMemories, words: str, session: str = "") -> list[Memory]:
    """Return the memories that contain all these words, the newest first."""
    wanted = words.casefold().split()
    found = []
    for head in await memory.heads(session=session):
        text = " ".join((head.title, head.summary, *head.tags, *head.words)).casefold()
        if all(word in text for word in wanted):
            kind = head.kind.removesuffix("_long_term")
            found.append(Memory(kind, head.id, head.summary or head.title, head.tags))
    return found


def _as_command(command: BuiltIn, project: Project, say: Messages) -> Command:
    from jarvis_ls.runtime.agent.agent_view import new_id
    from jarvis_ls.runtime.agent.user_input import Command

    async def run(rest: str, place: InputContext) -> str:
        notice = new_id()

        def report(done: int, total: int) -> None:
            text = say("{done} of {total} files", done=done, total=total)
            place.showing.put(NoticeEntry(notice, "info", text), settled=False)

        text = await command.run(rest, project, say, report)
        place.showing.put(AnswerEntry(new_id(), text))
        return ""

    return Command(command.name[1:], say(command.title), run, command.argument)


async def _help(_words: str, _project: Project, say: Messages, _report: Report) -> str:
    lines = [f"**{say('Commands that work without a model')}**", ""]
    for command in COMMANDS:
        usage = f"{command.name} {command.argument}".strip()
        lines.append(f"- `{usage}` {say(command.title)}")
    lines += ["", say("Anything else is sent to the model. Use `@` to mention a file.")]
    return "\n".join(lines)


async def _scan(_words: str, project: Project, say: Messages, report: Report) -> str:
    done = await project.scan(report)
    found = await project.findings()
    seconds = f"{done.seconds:.1f}"
    head = say("Files scanned: {files}, in {seconds} s.", files=done.files, seconds=seconds)
    if done.cancelled:
        head = say("Scan cancelled after {files} files.", files=done.files)
    if done.skipped:
        head += " " + say("Files skipped: {n}.", n=done.skipped)
    return f"{head}\n\n{_findings_list(found, project, say, limit=10)}"


async def _findings(words: str, project: Project, say: Messages, _report: Report) -> str:
    found = await project.findings()
    wanted = words.lower().split()
    chosen = [
        located
        for located in found
        if all(word in _searchable_text(located.finding) for word in wanted)
    ]
    if wanted and not chosen:
        return say("No findings match: {words}", words=words)
    return _findings_list(chosen, project, say, limit=SHOWN)


async def _explain(words: str, project: Project, say: Messages, _report: Report) -> str:
    pages = await project.pages()
    if not words:
        return say("Name a rule: `/explain double-free`. There are {n} rules.", n=len(pages))
    page = pages.get(words.lower())
    if page is None:
        near = difflib.get_close_matches(words.lower(), pages, 3)
        text = say("Unknown rule '{rule}'.", rule=words)
        return text + (" " + say("Did you mean:") + " " + _codes(near) if near else "")
    cwe = ", ".join(f"CWE-{number}" for number in page.cwe)
    facts = " · ".join(part for part in (f"`{page.id}`", page.category, cwe, page.severity) if part)
    body = page.page.partition("\n")[2].strip()
    return f"### {say(page.title)}\n\n{facts}\n\n{body}"


async def _sessions(words: str, project: Project, say: Messages, _report: Report) -> str:
    infos = await project.sessions(words)
    if not infos:
        return say("No sessions.")
    lines = [
        "| " + " | ".join((say("Session"), say("Used"), say("Tokens"), "Id")) + " |",
        "| --- | --- | ---: | --- |",
    ]
    for info in infos[:20]:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
        tokens = info.usage.input + info.usage.output
        title = _cell(info.title or say("Untitled"))
        lines.append(f"| {title} | {used} | {tokens} | `{info.id}` |")
    return "\n".join(lines)


async def _memory(words: str, project: Project, say: Messages, _report: Report) -> str:
    memories = await project.memories(words)
    if not memories:
        return say("No memories.")
    lines = []
    for memory in memories[:SHOWN]:
        tags = " ".join(f"`{tag}`" for tag in memory.tags)
        first = memory.text.strip().partition("\n")[0]
        lines.append(f"- **{memory.kind}** {tags} {_cell(first)}".replace("  ", " "))
    return "\n".join(lines)


COMMANDS: tuple[BuiltIn, ...] = (
    BuiltIn("/scan", "Scan the workspace for security flaws", "", _scan),
    BuiltIn("/findings", "List findings (optional filter)", "[WORDS]", _findings),
    BuiltIn("/explain", "Explain a rule", "RULE", _explain),
    BuiltIn("/sessions", "List sessions (optional filter)", "[WORDS]", _sessions),
    BuiltIn("/memory", "List memories (optional filter)", "[WORDS]", _memory),
    BuiltIn("/help", "List the commands", "", _help),
)
"""In the order they are offered."""


def _findings_list(found: Sequence[Located], project: Project, say: Messages, limit: int) -> str:
    if not found:
        return say("No findings.")
    counts = Counter(located.finding.severity for located in found)
    total = say("1 finding") if len(found) == 1 else say("{n} findings", n=len(found))
    parts = [f"{counts[severity]} {say(severity)}" for severity in SEVERITIES if counts[severity]]
    lines = [f"**{total}**: {', '.join(parts)}", ""]
    for located in sorted(found, key=order_by_score)[:limit]:
        finding = located.finding
        place = project.link(located.root, finding.file, finding.span.line)
        text = _cell(say.text(finding.message))
        lines.append(f"- **{say(finding.severity)}** {place} `{finding.rule}` {text}")
    if len(found) > limit:
        lines.append(f"- {say('and {n} more; `/findings` lists them', n=len(found) - limit)}")
    return "\n".join(lines)


def order_by_score(located: Located) -> tuple[float, int, str, int]:
    """Return what findings are sorted by: the gravest first, then by their place."""
    finding = located.finding
    return -finding.score, located.root, finding.file, finding.span.line


def _searchable_text(finding: Finding) -> str:
    cwe = " ".join(f"cwe-{number}" for number in finding.cwe)
    parts = (
        finding.rule,
        finding.file,
        finding.category,
        finding.severity,
        cwe,
        str(finding.message),
    )
    return " ".join(parts).lower()


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _cell(text: str) -> str:
    """Text that stays on its line and in its cell."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")

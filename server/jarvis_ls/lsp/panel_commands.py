"""What can be asked in the panel and at the terminal without any model: `/scan`, `/findings`, …

A command reads its argument and gives Markdown. What it looks at (the editor's findings, or
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
from jarvis_ls.runtime.events import AnswerEntry, NoticeEntry, SessionInfo

if TYPE_CHECKING:
    from jarvis_ls.jsec.pages import RulePage
    from jarvis_ls.lsp.messages import Messages
    from jarvis_ls.runtime.inputs import Command, Place
    from jarvis_ls.runtime.memory import Memory as AllMemories

SHOWN = 50
"""Findings that one answer lists."""

Report = Callable[[int, int], None]
"""Told how many files of how many are done."""


@dataclass(frozen=True, slots=True)
class Located:
    """A finding that nothing hides, and where its file lies."""

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
        """What the last scan found and nothing hides."""

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
        """A place in a file, as Markdown."""


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
    """The command a line begins with, and its argument; None when it is none of these."""
    name, _, argument = text.strip().partition(" ")
    known = next((one for one in COMMANDS if one.name == name.lower()), None)
    return (known, argument.strip()) if known is not None else None


def as_commands(project: Project, say: Messages) -> list[Command]:
    """Those that a conversation has not itself."""
    own = ("/help", "/sessions", "/memory")
    return [_as_command(one, project, say) for one in COMMANDS if one.name not in own]


async def listed_memories(memory: AllMemories, words: str, session: str = "") -> list[Memory]:
    """What is remembered and holds all these words, the newest first."""
    wanted = words.casefold().split()
    found = []
    for head in await memory.heads(session=session):
        text = " ".join((head.title, head.summary, *head.tags, *head.words)).casefold()
        if all(word in text for word in wanted):
            kind = head.kind.removesuffix("_long_term")
            found.append(Memory(kind, head.id, head.summary or head.title, head.tags))
    return found


def _as_command(one: BuiltIn, project: Project, say: Messages) -> Command:
    from jarvis_ls.runtime.inputs import Command
    from jarvis_ls.runtime.showing import new_id

    async def run(rest: str, place: Place) -> str:
        notice = new_id()

        def report(done: int, total: int) -> None:
            text = say("{done} of {total} files", done=done, total=total)
            place.showing.put(NoticeEntry(notice, "info", text), settled=False)

        text = await one.run(rest, project, say, report)
        place.showing.put(AnswerEntry(new_id(), text))
        return ""

    return Command(one.name[1:], say(one.title), run, one.argument)


async def _help(_words: str, _project: Project, say: Messages, _report: Report) -> str:
    lines = [f"**{say('Commands that need no model')}**", ""]
    for one in COMMANDS:
        usage = f"{one.name} {one.argument}".strip()
        lines.append(f"- `{usage}` {say(one.title)}")
    lines += ["", say("Everything else you write goes to the model; `@` names a file.")]
    return "\n".join(lines)


async def _scan(_words: str, project: Project, say: Messages, report: Report) -> str:
    done = await project.scan(report)
    found = await project.findings()
    seconds = f"{done.seconds:.1f}"
    head = say("Files scanned: {files}, in {seconds} s.", files=done.files, seconds=seconds)
    if done.cancelled:
        head = say("The scan was stopped after {files} files.", files=done.files)
    if done.skipped:
        head += " " + say("Files skipped: {n}.", n=done.skipped)
    return f"{head}\n\n{_listed(found, project, say, limit=10)}"


async def _findings(words: str, project: Project, say: Messages, _report: Report) -> str:
    found = await project.findings()
    wanted = words.lower().split()
    chosen = [one for one in found if all(word in _searched(one.finding) for word in wanted)]
    if wanted and not chosen:
        return say("No finding holds these words: {words}", words=words)
    return _listed(chosen, project, say, limit=SHOWN)


async def _explain(words: str, project: Project, say: Messages, _report: Report) -> str:
    pages = await project.pages()
    if not words:
        return say("Name a rule: `/explain double-free`. There are {n} rules.", n=len(pages))
    page = pages.get(words.lower())
    if page is None:
        near = difflib.get_close_matches(words.lower(), pages, 3)
        text = say("There is no rule '{rule}'.", rule=words)
        return text + (" " + say("Is one of these meant?") + " " + _codes(near) if near else "")
    cwe = ", ".join(f"CWE-{number}" for number in page.cwe)
    facts = " · ".join(part for part in (f"`{page.id}`", page.category, cwe, page.severity) if part)
    body = page.page.partition("\n")[2].strip()
    return f"### {say(page.title)}\n\n{facts}\n\n{body}"


async def _sessions(words: str, project: Project, say: Messages, _report: Report) -> str:
    infos = await project.sessions(words)
    if not infos:
        return say("There are no sessions.")
    lines = ["| " + " | ".join((say("Session"), say("Used"), say("Tokens"), "Id")) + " |",
             "| --- | --- | ---: | --- |"]  # fmt: skip
    for info in infos[:20]:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
        tokens = info.usage.input + info.usage.output
        title = _cell(info.title or say("Untitled"))
        lines.append(f"| {title} | {used} | {tokens} | `{info.id}` |")
    return "\n".join(lines)


async def _memory(words: str, project: Project, say: Messages, _report: Report) -> str:
    memories = await project.memories(words)
    if not memories:
        return say("There are no memories.")
    lines = []
    for one in memories[:SHOWN]:
        tags = " ".join(f"`{tag}`" for tag in one.tags)
        first = one.text.strip().partition("\n")[0]
        lines.append(f"- **{one.kind}** {tags} {_cell(first)}".replace("  ", " "))
    return "\n".join(lines)


COMMANDS: tuple[BuiltIn, ...] = (
    BuiltIn("/scan", "Scan the workspace for flaws", "", _scan),
    BuiltIn("/findings", "List findings; with words, those that hold them", "[WORDS]", _findings),
    BuiltIn("/explain", "Show the page of a rule", "RULE", _explain),
    BuiltIn("/sessions", "List sessions; with words, those that hold them", "[WORDS]", _sessions),
    BuiltIn("/memory", "List memories; with words, those that hold them", "[WORDS]", _memory),
    BuiltIn("/help", "List the commands", "", _help),
)
"""In the order they are offered."""


def _listed(found: Sequence[Located], project: Project, say: Messages, limit: int) -> str:
    if not found:
        return say("No findings.")
    counts = Counter(one.finding.severity for one in found)
    total = say("1 finding") if len(found) == 1 else say("{n} findings", n=len(found))
    parts = [f"{counts[severity]} {say(severity)}" for severity in SEVERITIES if counts[severity]]
    lines = [f"**{total}**: {', '.join(parts)}", ""]
    for one in sorted(found, key=_gravest)[:limit]:
        finding = one.finding
        place = project.link(one.root, finding.file, finding.span.line)
        text = _cell(say.text(finding.message))
        lines.append(f"- **{say(finding.severity)}** {place} `{finding.rule}` {text}")
    if len(found) > limit:
        lines.append(f"- {say('and {n} more; `/findings` lists them', n=len(found) - limit)}")
    return "\n".join(lines)


def _gravest(one: Located) -> tuple[float, int, str, int]:
    finding = one.finding
    return -finding.score, one.root, finding.file, finding.span.line


def _searched(finding: Finding) -> str:
    cwe = " ".join(f"cwe-{number}" for number in finding.cwe)
    parts = (finding.rule, finding.file, finding.category, finding.severity, cwe,
             str(finding.message))  # fmt: skip
    return " ".join(parts).lower()


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _cell(text: str) -> str:
    """Text that stays on its line and in its cell."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")

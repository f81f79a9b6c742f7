"""What the user types before a model sees it: commands, `!shell`, `@file`.

A chain of handlers; each passes the input on, changed or not, or is done with it: then no model
is asked, and what it says is shown.
"""

from __future__ import annotations

import asyncio
import base64
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.interaction import Interaction
from jarvis_ls.runtime.messages import Image, ToolCall, ToolResult, User
from jarvis_ls.runtime.permissions import Asked, Permissions, inside
from jarvis_ls.runtime.running import running
from jarvis_ls.runtime.showing import Showing, new_id
from jarvis_ls.runtime.textfile import note_seen, read_text
from jarvis_ls.runtime.tool import Action, ToolContext, Toolset, cap

if TYPE_CHECKING:
    from jarvis_ls.runtime.agent import Agent

SHELL_TOOL = "execute_script"
FILE_CHARACTERS = 60_000
"""Of one file that are handed over; a longer one keeps its first and last lines."""
IMAGE_BYTES = 5_000_000
MAX_FILES = 20
"""Files of one message that are handed over."""
MAX_ENTRIES = 200
"""Entries of a folder that are listed."""
_IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
           ".webp": "image/webp"}  # fmt: skip
_COMMAND = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?\Z", re.DOTALL)
_MENTION = re.compile(r'(?<![\w@/.])@(?:"([^"\n]+)"((?::\d+(?:-\d+)?)?)|([^\s"@<>|]+))')
_LINES = re.compile(r":(\d+)(?:-(\d+))?\Z")
_AFTER = ",;.!?)]}'\"`:，。；：！？）」"
"""What may stand behind a path without being part of it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where input is read: what handlers need of a conversation, with or without a model."""

    context: ToolContext
    toolset: Toolset
    showing: Showing
    interaction: Interaction
    agent: Agent | None = None
    """None when no model is configured."""


@dataclass(frozen=True, slots=True)
class Input:
    """What was said, on its way through the handlers."""

    text: str
    """For the model; or, when it is done, what the user is shown."""
    images: tuple[Image, ...] = ()
    done: bool = False
    """Whether nothing more is to be done with it."""


class InputHandler(ABC):
    """One step of the chain."""

    @abstractmethod
    async def handle(self, said: Input, place: Place) -> Input:
        """The input for the next step. Raises `JarvisError` with words for the user."""


class Inputs:
    """The chain."""

    def __init__(self, handlers: Iterable[InputHandler]) -> None:
        self.handlers = list(handlers)

    async def handle(self, text: str, images: Sequence[Image], place: Place) -> Input:
        """Pass input through the handlers until one is done with it.

        What a handler raises for the user is what the user is shown, and no model is asked.
        """
        said = Input(text, tuple(images))
        for handler in self.handlers:
            try:
                said = await handler.handle(said, place)
            except JarvisError as error:
                return Input(str(error), done=True)
            if said.done:
                break
        return said


Run = Callable[[str, Place], "Awaitable[str | Input] | str | Input"]
"""Gets what stands behind the command; gives what the user is shown, or input for the model."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something the user can do with `/name`."""

    name: str
    description: str
    """One line."""
    run: Run
    hint: str = ""
    """What may stand behind it, such as `<rule>`."""


class Commands(InputHandler):
    """The built-in commands; others add theirs."""

    def __init__(self, commands: Iterable[Command] = ()) -> None:
        self._commands: dict[str, Command] = {}
        self.add(Command("help", Words("List the commands"), self._help))
        for command in commands:
            self.add(command)

    def add(self, command: Command) -> None:
        """Offer another. Raises `ValueError` when there is one of this name."""
        if command.name in self._commands:
            raise ValueError(f"there are two commands /{command.name}")
        self._commands[command.name] = command

    def all(self) -> list[Command]:
        """All of them, by name."""
        return [self._commands[name] for name in sorted(self._commands)]

    def find(self, text: str) -> tuple[Command, str] | None:
        """The command that `text` names and what stands behind it; None when it names none.

        `/path/to/file` and `/ word` are no commands. Raises `JarvisError` for one that is not
        known.
        """
        match = _COMMAND.match(text.strip())
        if match is None:
            return None
        command = self._commands.get(match[1].lower())
        if command is None:
            known = ", ".join(f"/{name}" for name in sorted(self._commands))
            raise JarvisError(
                "There is no command /{name}. There are {known}.", name=match[1], known=known
            )
        return command, (match[2] or "").strip()

    async def handle(self, said: Input, place: Place) -> Input:
        """See `InputHandler`."""
        found = self.find(said.text) if said.text.lstrip().startswith("/") else None
        if found is None:
            return said
        command, rest = found
        given: Any = command.run(rest, place)
        if isinstance(given, Awaitable):
            given = await given
        return given if isinstance(given, Input) else Input(given, done=True)

    def _help(self, rest: str, place: Place) -> str:
        lines = [
            Words(
                "- `/{name}`: {what}",
                name=f"{c.name} {c.hint}".strip(),
                what=Words(c.description),
            )
            for c in self.all()
        ]
        more = Words(
            '`!command` runs a shell command, `@path`, `@path:10-20` and `@"path with blanks"`'
            " hand over a file, a part of it, a folder or a picture."
        )
        return together([Words("Commands:"), *lines, "", more], "\n")


class Shell(InputHandler):
    """`!command` runs it through the tool and its gate; the model reads the output next time."""

    async def handle(self, said: Input, place: Place) -> Input:
        """See `InputHandler`."""
        command = said.text.strip()
        if not command.startswith("!"):
            return said
        command = command[1:].strip()
        if not command:
            return Input(
                Words("Write the command behind the exclamation mark: `!git status`"), done=True
            )
        if SHELL_TOOL not in place.toolset.tools():
            return Input(Words("Commands cannot be run here: there is no sandbox tool."), done=True)
        result = await _call(ToolCall(new_id(), SHELL_TOOL, {"script": command}), place)
        words = "failed" if result.is_error else "gave"
        text = f"The user ran `{command}` in the shell. It {words}:\n{result.text}"
        place.showing.session.append(place.showing.node.id, User(text, id=new_id()))
        return Input("", done=True)


class Files(InputHandler):
    """`@path` hands over a file of the workspace, a part of it, a folder or a picture."""

    def __init__(self, permissions: Permissions | None = None) -> None:
        """What `permissions` forbid to read is not handed over."""
        self._permissions = permissions

    async def handle(self, said: Input, place: Place) -> Input:
        """See `InputHandler`."""
        parts: list[str] = []
        images = list(said.images)
        seen: list[Mention] = []
        for mention in mentions(said.text, place.context.roots):
            if mention in seen:
                continue
            seen.append(mention)
            if len(seen) > MAX_FILES:
                parts.append(f"(Only the first {MAX_FILES} files were handed over.)")
                break
            if why := await self._refusal(mention.path, place):
                parts.append(f"({mention.path} was not handed over: {why})")
                continue
            given = await read_mention(mention, place.context)
            if isinstance(given, Image):
                images.append(given)
                if place.agent is not None and not place.agent.group.sees_images:
                    parts.append(f"({mention.path} is a picture; the model may not see it.)")
            else:
                parts.append(given)
        text = "\n\n".join([said.text, *parts]) if parts else said.text
        return replace(said, text=text, images=tuple(images))

    async def _refusal(self, path: str, place: Place) -> str:
        if self._permissions is None:
            return ""
        decision = self._permissions.decide("read_code", [Action("read", path)], place.context)
        if decision.effect == "ask":
            asked = Asked("read_code", decision.actions, decision.reason, {"path": path})
            answer = await place.interaction.permit(place.showing.node.id, "", asked)
            return "" if answer.allowed else answer.note or "it was not allowed."
        return decision.reason if decision.effect == "deny" else ""


async def _call(call: ToolCall, place: Place) -> ToolResult:
    """Run a tool in the user's name, shown like any other call."""
    shown_call = place.showing.call(call)
    context = place.context
    try:
        with running(shown_call):
            result = await place.toolset.run(call, context)
    except asyncio.CancelledError:
        place.showing.ended(shown_call, state="cancelled", asked=())
        raise
    state = shown_call.entry.state
    if state != "denied":
        state = "failed" if result.is_error else "done"
    place.showing.ended(shown_call, state=state, output=result.text, asked=())
    return result


@dataclass(frozen=True, slots=True)
class Mention:
    """A file, folder or picture of the workspace that was named with `@`."""

    path: str
    """As it was written."""
    real: Path
    first: int = 0
    """First line, from 1; 0 means all."""
    last: int = 0
    """Last line."""


def mentions(text: str, roots: Iterable[Path]) -> list[Mention]:
    """What a text names with `@` and is there; anything else behind an `@` is just text."""
    folders = tuple(roots)
    found = []
    for match in _MENTION.finditer(text):
        quoted, lines, bare = match.groups()
        mention = mention_of(quoted, lines, folders) if quoted else _bare(bare, folders)
        if mention is not None:
            found.append(mention)
    return found


def _bare(written: str, roots: tuple[Path, ...]) -> Mention | None:
    """A path without quotes: what stands behind it may not belong to it."""
    while written:
        lines = _LINES.search(written)
        for path, part in ((written, ""), (_LINES.sub("", written), lines[0] if lines else "")):
            if (mention := mention_of(path, part, roots)) is not None:
                return mention
        if written[-1] not in _AFTER:
            return None
        written = written[:-1]
    return None


def mention_of(path: str, lines: str, roots: Iterable[Path]) -> Mention | None:
    """What is there at `path`, and which lines (`:3`, `:3-7`) of it; None when nothing is, or it
    lies outside the workspace."""
    real = inside(path, roots)
    if not path or real is None or not real.exists():
        return None
    part = _LINES.fullmatch(lines)
    first = int(part[1]) if part else 0
    return Mention(path, real, first, int(part[2]) if part and part[2] else first)


async def read_mention(mention: Mention, context: ToolContext) -> str | Image:
    """What is handed over of one file, folder or picture."""
    path, real, first = mention.path, mention.real, mention.first
    try:
        if real.is_dir():
            return await asyncio.to_thread(_listing, path, real)
        if (kind := _IMAGES.get(real.suffix.lower())) is not None:
            data = await asyncio.to_thread(read_regular, real, limit=IMAGE_BYTES)
            return Image(kind, base64.b64encode(data).decode())
        file = await read_text(path, context)
    except (JarvisError, OSError) as error:
        return f"({path} was not handed over: {error})"
    note_seen(context, file)
    lines = file.lines
    start = max(1, first)
    end = min(len(lines), mention.last) if first else len(lines)
    if first and end < start:
        return f"({path} has {len(lines)} lines; there is nothing at line {first}.)"
    numbered = "\n".join(f"{n}\t{line}" for n, line in enumerate(lines[start - 1 : end], start))
    where = f' lines="{start}-{end}"' if first else ""
    return f'<file path="{path}"{where}>\n{cap(numbered, FILE_CHARACTERS)}\n</file>'


def _listing(path: str, real: Path) -> str:
    entries = sorted(f"{e.name}/" if e.is_dir() else e.name for e in real.iterdir())
    left_out = len(entries) - MAX_ENTRIES
    more = f"\n… {left_out} more" if left_out > 0 else ""
    return f'<folder path="{path}">\n' + "\n".join(entries[:MAX_ENTRIES]) + f"{more}\n</folder>"

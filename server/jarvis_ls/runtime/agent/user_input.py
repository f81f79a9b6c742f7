"""What the user types before a model sees it: commands, `!shell`, `@file`.

A chain of handlers; each passes the input on, changed or not, or is done with it: then no model
is asked, and what it says is shown.
"""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.words import Words, mapped, together
from jarvis_ls.runtime.agent.agent_view import Showing, new_id
from jarvis_ls.runtime.agent.interface import AgentInterface
from jarvis_ls.runtime.base.messages import Image, ToolCall, ToolResult, User
from jarvis_ls.runtime.context.mentions import Mention, mentions, not_found, read_mention
from jarvis_ls.runtime.tools.approval import consented
from jarvis_ls.runtime.tools.current_call import running
from jarvis_ls.runtime.tools.interaction import Interaction
from jarvis_ls.runtime.tools.permissions import Asked, Permissions, shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, Toolset

SHELL_TOOL = "execute_script"
MAX_FILES = 20
"""Files of one message that are handed over."""
_COMMAND = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class InputContext:
    """Where input is read: what handlers need of a conversation, with or without a model."""

    context: ToolContext
    toolset: Toolset
    showing: Showing
    interaction: Interaction
    agent: AgentInterface | None = None
    """None when no model is configured."""


@dataclass(frozen=True, slots=True)
class Input:
    """What was said, on its way through the handlers."""

    text: str
    """For the model; or, when it is done, what the user is shown."""
    images: tuple[Image, ...] = ()
    done: bool = False
    """Whether nothing more is to be done with it."""
    failed: bool = False
    """Whether what was asked for could not be done, or was done without success."""


class InputHandler(ABC):
    """One step of the chain."""

    @abstractmethod
    async def handle(self, said: Input, place: InputContext) -> Input:
        """Return the input for the next step. Raises `JarvisError` with words for the user."""


class Inputs:
    """The chain."""

    def __init__(self, handlers: Iterable[InputHandler]) -> None:
        self.handlers = list(handlers)

    async def handle(self, text: str, images: Sequence[Image], place: InputContext) -> Input:
        """Pass input through the handlers until one is done with it.

        What a handler raises for the user is what the user is shown, and no model is asked.
        """
        said = Input(text, tuple(images))
        for handler in self.handlers:
            try:
                said = await handler.handle(said, place)
            except JarvisError as error:
                return Input(str(error), done=True, failed=True)
            if said.done:
                break
        return said


Run = Callable[[str, InputContext], "Awaitable[str | Input] | str | Input"]
"""Gets what is behind the command; gives what the user is shown, or input for the model."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something the user can do with `/name`."""

    name: str
    description: str
    """One line."""
    run: Run
    hint: str = ""
    """What may be behind it, such as `<rule>`."""


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
        """Return the command that `text` names and what is behind it; None when it names none.

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
                "Unknown command /{name}. Commands: {known}.", name=match[1], known=known
            )
        return command, (match[2] or "").strip()

    async def handle(self, said: Input, place: InputContext) -> Input:
        """See `InputHandler`."""
        found = self.find(said.text) if said.text.lstrip().startswith("/") else None
        if found is None:
            return said
        command, rest = found
        given: Any = command.run(rest, place)
        if isinstance(given, Awaitable):
            given = await given
        return given if isinstance(given, Input) else Input(given, done=True)

    def _help(self, rest: str, place: InputContext) -> str:
        lines = [
            Words(
                "- `/{name}`: {what}",
                name=f"{c.name} {c.hint}".strip(),
                what=Words(c.description),
            )
            for c in self.all()
        ]
        more = Words(
            '`!command` runs a shell command; `@path`, `@path:10-20` and `@"path with '
            'blanks"` attach a file, a part of it, a folder or an image.'
        )
        return together([Words("Commands:"), *lines, "", more], "\n")


class Shell(InputHandler):
    """`!command` runs it through the tool and its gate; the model reads the output next time.

    Who types a command has consented to it: the gate does not ask again. What a rule denies, and
    an untrusted workspace, stay closed; the sandbox and the showing of what it changed stay.
    """

    def __init__(self, typed: str = "") -> None:
        """`typed` is what the person wrote: other text (a predefined task of the workspace) that
        begins like a command is asked about."""
        self._typed = typed

    async def handle(self, said: Input, place: InputContext) -> Input:
        """See `InputHandler`."""
        command = said.text.strip()
        if not command.startswith("!"):
            return said
        command = command[1:].strip()
        if not command:
            raise UsageError("Write the command after the exclamation mark: `!git status`")
        if SHELL_TOOL not in place.toolset.tools():
            raise UsageError("Commands cannot be run here: there is no sandbox tool.")
        call = ToolCall(new_id(), SHELL_TOOL, {"script": command})
        if said.text == self._typed:
            place = replace(place, context=consented(place.context, call))
        result, succeeded = await _call(call, place)
        words = "failed" if result.is_error else "gave"
        text = f"The user ran `{command}` in the shell. It {words}:\n{result.text}"
        place.showing.session.append(place.showing.node.id, User(text, id=new_id()))
        return Input("", done=True, failed=not succeeded)


class Files(InputHandler):
    """`@path` hands over a file of the workspace, a part of it, a folder or a picture."""

    def __init__(self, permissions: Permissions | None = None) -> None:
        """Create the handler; files that `permissions` forbid to read are not handed over."""
        self._permissions = permissions

    async def handle(self, said: Input, place: InputContext) -> Input:
        """See `InputHandler`."""
        parts: list[str] = []
        problems: list[str] = []
        images = list(said.images)
        roots = place.context.roots
        found = list(dict.fromkeys(mentions(said.text, roots)))
        for mention in found[:MAX_FILES]:
            try:
                given = await self._read_mention(mention, place)
            except JarvisError as error:
                problems.append(str(error))
                continue
            if isinstance(given, Image):
                images.append(given)
                if place.agent is not None and not place.agent.group.sees_images:
                    parts.append(f"({mention.path} is a picture; the model may not see it.)")
            else:
                parts.append(given)
        if len(found) > MAX_FILES:
            problems.append(Words("Only the first {n} files were attached.", n=MAX_FILES))
        if names := not_found(said.text, roots):
            listed = ", ".join(f"`{shown(name)}`" for name in names[:MAX_FILES])
            problems.append(
                Words("Not found in the workspace, so not attached: {names}", names=listed)
            )
        if problems:
            place.showing.notice("warning", together(problems, "\n"))
        parts += [f"({problem})" for problem in problems]
        text = "\n\n".join([said.text, *parts]) if parts else said.text
        return replace(said, text=text, images=tuple(images))

    async def _read_mention(self, mention: Mention, place: InputContext) -> str | Image:
        if why := await self._refusal(mention.path, place):
            raise JarvisError("{path} was not attached: {why}", path=mention.path, why=why)
        return await read_mention(mention, place.context)

    async def _refusal(self, path: str, place: InputContext) -> str:
        if self._permissions is None:
            return ""
        decision = self._permissions.decide("read_code", [Action("read", path)], place.context)
        if decision.effect == "ask":
            asked = Asked("read_code", decision.actions, decision.reason, {"path": path})
            answer = await place.interaction.permit(place.showing.node.id, "", asked)
            return "" if answer.allowed else answer.note or Words("it was not allowed.")
        return decision.reason if decision.effect == "deny" else ""


async def _call(call: ToolCall, place: InputContext) -> tuple[ToolResult, bool]:
    """Run a tool in the user's name, shown like any other call: what it gave, and whether it
    succeeded."""
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
        state = "failed" if result.is_error or shown_call.failed else "done"
    output = mapped(result.text, shown)
    place.showing.ended(shown_call, state=state, output=output, asked=())
    return result, state == "done"

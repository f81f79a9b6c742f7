"""Sessions of agents for a client that is no editor of ours: opened, prompted, steered, listed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.assembly.bootstrap import Assembly, build
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.words import Words
from jarvis_ls.facade.session_questions import ClientInteraction
from jarvis_ls.facade.session_records import (
    CallShown,
    Client,
    CommandOffered,
    CommandsShown,
    Named,
    Picture,
    SessionListed,
    Spent,
    Spoken,
    ToolServer,
    TurnEnded,
    Update,
)
from jarvis_ls.facade.session_updates import Updates, fence
from jarvis_ls.runtime.agent.agent_view import new_id
from jarvis_ls.runtime.agent.user_input import Command
from jarvis_ls.runtime.base.events import ToolEntry
from jarvis_ls.runtime.base.folders import below, mention
from jarvis_ls.runtime.base.messages import Image
from jarvis_ls.runtime.session.session import Session
from jarvis_ls.runtime.session.store import SessionStore
from jarvis_ls.runtime.tools.interaction import Interaction
from jarvis_ls.runtime.tools.mode import MODES, NAMES

PAGE = 50
"""Sessions that are listed at a time."""
UNTRUSTED = Words(
    "This folder is not trusted: agents read it, but write and run nothing. To trust it, run"
    " `jarvis` there once, or start `jarvis acp --trust`."
)

Commands = Callable[[Path, SessionStore], Sequence[Command]]
"""Gives the commands of a folder that need no model, such as `/scan`."""
Send = Callable[[str, Sequence[Update]], None]
"""Called with what to show of a session, in order; must not wait."""


class Sessions:
    """The sessions that one client has opened."""

    def __init__(
        self,
        client: Client,
        send: Send,
        *,
        trusts: Callable[[Path], bool],
        commands: Commands,
        say: Callable[[str], str],
    ) -> None:
        """`trusts` says whether the user trusts a folder; `say` translates."""
        self._client = client
        self._send = send
        self._trusts = trusts
        self._commands = commands
        self._say = say
        self._assembly: Assembly = build()
        self._open: dict[str, OpenSession] = {}

    async def open(
        self,
        folders: Sequence[str],
        servers: Sequence[ToolServer] = (),
        *,
        session: str | None = None,
    ) -> OpenSession:
        """Begin a session, or continue the one with an id. One that is open already is returned.

        Raises `UsageError` for folders that are not there, `SessionMissing`, and `JarvisError`
        when another process has the session open or it cannot be written.
        """
        if session is not None and session in self._open:
            return self._open[session]
        roots = [_check_folder(folder) for folder in folders]
        trusted = all(self._trusts(root) for root in roots)
        if not trusted:
            for root in roots:
                leave_out(root)
        opened: list[OpenSession] = []

        def interact(stored: Session) -> Interaction:
            opened.append(OpenSession(stored.id, roots, self._send, self._say))
            return ClientInteraction(stored.id, self._client, opened[0].show_call, self._say)

        conversation = await self._assembly.start(
            session,
            roots,
            interact,
            trusted=trusted,
            additions=Additions(
                self._commands(roots[0], self._assembly.sessions),
                servers=_as_settings(servers),
            ),
            say=self._say,
        )
        if why := conversation.session.read_only:
            await conversation.close()
            raise UsageError(
                "The session is open elsewhere: {why}. Close it there, or begin a new one.", why=why
            )
        opened[0].attach(conversation)
        self._open[conversation.id] = opened[0]
        return opened[0]

    def find(self, session: str) -> OpenSession:
        """Return a session that is open. Raises `UsageError`."""
        try:
            return self._open[session]
        except KeyError:
            raise UsageError("The session {session} is not open.", session=session) from None

    async def list_page(
        self, folder: str | None, skip: int
    ) -> tuple[Sequence[SessionListed], int | None]:
        """Return a page of the sessions on disk (of a folder), the last used first, and where the
        next page starts. Raises `UsageError`."""
        if folder and "\0" in folder:
            raise UsageError("{folder} is not an absolute path.", folder=folder)
        wanted = os.path.realpath(folder) if folder else None
        found = await asyncio.to_thread(self._assembly.sessions.list, wanted)
        end = skip + PAGE
        page = [
            SessionListed(info.id, info.folder, info.title, info.updated)
            for info in found[skip:end]
        ]
        return page, end if end < len(found) else None

    async def close_session(self, session: str) -> None:
        """End what works in a session and let others open it. Raises `UsageError`."""
        opened = self.find(session)
        del self._open[session]
        await opened.close()

    async def close(self) -> None:
        """End everything."""
        for session in list(self._open):
            await self.close_session(session)
        await self._assembly.close()


class OpenSession:
    """One session at work."""

    def __init__(
        self, session: str, roots: Sequence[Path], send: Send, say: Callable[[str], str]
    ) -> None:
        """For `Sessions.open`; it is used after `attach`."""
        self.id = session
        self._roots = roots
        self._say = say
        self._send: Callable[[Sequence[Update]], None] = lambda updates: send(session, updates)
        self._conversation: Conversation
        self._updates = self._new_updates()
        self._prompts: set[asyncio.Task[Any]] = set()
        self._stopping: asyncio.Task[None] | None = None
        """Ends what works; a prompt that was cancelled is answered after it."""
        self._stop_observing: Callable[[], None] = lambda: None
        self._warned = False

    def attach(self, conversation: Conversation) -> None:
        """Follow a conversation from now on."""
        self._conversation = conversation
        self._updates.start(conversation.feed.snapshot(self.id))
        self._stop_observing = conversation.feed.observe(self._updates.observe)

    # -- looking ---------------------------------------------------------------------------------

    @property
    def mode(self) -> str:
        """Return how much agents may do without being asked."""
        return self._conversation.mode

    @property
    def modes(self) -> list[Named]:
        """Return the modes there are."""
        return [Named(mode, self._say(NAMES[mode])) for mode in MODES]

    @property
    def model(self) -> str:
        """Return the group of models that answers."""
        return self._conversation.tree.root.info.group

    @property
    def models(self) -> list[Named]:
        """Return the groups and models that can be chosen."""
        assembly = self._conversation.assembly
        groups = {name: assembly.models.groups[name] for name in assembly.groups()}
        single = dict.fromkeys(model for models in groups.values() for model in models)
        found = {name: f"{name} ({', '.join(models)})" for name, models in groups.items()}
        found |= {name: name for name in single if name not in found}
        found.setdefault(self.model, self.model)
        return [Named(id, name) for id, name in found.items()]

    def show_commands(self) -> None:
        """Send what a prompt can begin with."""
        commands = (
            CommandOffered(command.name, self._say(command.description), command.hint)
            for command in self._conversation.commands.all()
        )
        self._send([CommandsShown(tuple(commands))])

    def replay(self) -> None:
        """Send all that was said until now."""
        self._send(self._new_updates().start(self._conversation.feed.snapshot(self.id)))

    # -- talking ---------------------------------------------------------------------------------

    def mention(self, path: str) -> str:
        """Return how a prompt names a file, so that the agent is given it; one outside of the
        session's folders is only named."""
        if any(character in path for character in '"\n\0'):
            return path
        place = below(Path(os.path.realpath(path)), self._roots)
        if place is None:
            return path
        return mention(place[1], place[0], self._roots)

    @staticmethod
    def quote(path: str, text: str) -> str:
        """Return how a prompt holds the text of something that the client has attached."""
        return f"{path}\n{fence(text)}"

    async def prompt(self, text: str, pictures: Sequence[Picture] = ()) -> TurnEnded:
        """Say something and wait until the work on it has ended. Raises `JarvisError`."""
        if not text.strip() and not pictures:
            raise UsageError("The prompt is empty.")
        if not self._conversation.place.trusted and not self._warned:
            self._warned = True
            self._send([Spoken(new_id(), "notice", self._say(UNTRUSTED))])
        images = [Image(picture.media_type, picture.base64) for picture in pictures]
        task = asyncio.ensure_future(self._conversation.ask(text, images))
        self._prompts.add(task)
        try:
            await asyncio.wait({task})
        finally:
            self._prompts.discard(task)
            task.cancel()
        if self._stopping is not None:
            await asyncio.wait({self._stopping})
        self._updates.flush()
        if task.cancelled():
            return TurnEnded("cancelled", "", self._read_spent())
        ending = task.result()
        state = ending.state if ending.state in ("completed", "cancelled") else "failed"
        return TurnEnded(state, self._say(ending.error), self._read_spent())

    async def cancel(self) -> None:
        """End what works; when this returns nothing of it runs."""
        for task in self._prompts:
            task.cancel()
        self._stopping = asyncio.ensure_future(self._conversation.stop())
        await self._stopping

    def set_mode(self, mode: str) -> None:
        """Choose how much agents may do without being asked. Raises `UsageError`."""
        wanted = next((known for known in MODES if known == mode), None)
        if wanted is None:
            raise UsageError("There are the modes {names}.", names=", ".join(MODES))
        self._conversation.set_mode(wanted)
        self._updates.flush()

    def pick_model(self, group: str) -> None:
        """Use other models from the next turn on. Raises `JarvisError`."""
        self._conversation.pick_model(group)

    async def close(self) -> None:
        """End everything and let others open the session."""
        await self.cancel()
        self._stop_observing()
        await self._conversation.close()

    def show_call(self, node: str, entry: ToolEntry) -> CallShown:
        """Return a call as the client knows it, when it has been sent what was shown before."""
        self._updates.flush()
        return self._updates.show_call(node, entry)

    def _new_updates(self) -> Updates:
        tools = lambda: self._conversation.sources.toolset.tools()  # noqa: E731 - after `attach`
        return Updates(self.id, self._roots, tools, self._send)

    def _read_spent(self) -> Spent:
        usage = self._conversation.tree.root.info.subtree
        return Spent(usage.input, usage.output, usage.cached, usage.reasoning)


def _check_folder(folder: str) -> Path:
    """Return the real path of a folder. Raises `UsageError`."""
    if "\0" in folder or not Path(folder).is_absolute():
        raise UsageError("{folder} is not an absolute path.", folder=folder)
    if not Path(folder).is_dir():
        raise UsageError("{folder}: no such folder.", folder=folder)
    return Path(os.path.realpath(folder))


def _as_settings(servers: Sequence[ToolServer]) -> Mapping[str, Any]:
    """Return tool servers as they are written in settings."""
    found: dict[str, Any] = {}
    for server in servers:
        if server.url:
            found[server.name] = {"url": server.url, "headers": dict(server.headers)}
        else:
            environment = dict(server.environment)
            found[server.name] = {"command": list(server.command), "env": environment}
    return found

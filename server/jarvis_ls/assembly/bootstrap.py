"""What is read once: settings, models, sessions, connections; conversations are started on it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.assembly.shared import SharedState
from jarvis_ls.assembly.workplace import Additions, Workplace
from jarvis_ls.core.files import user_folder
from jarvis_ls.runtime.agent.agent_view import Say
from jarvis_ls.runtime.base import tracing
from jarvis_ls.runtime.base.events import Feed
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.session.session import Session
from jarvis_ls.runtime.tools.interaction import Interaction


def build(
    *,
    home: Path | None = None,
    environment: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    feed: Feed | None = None,
    file: Path | None = None,
) -> Assembly:
    """Read the settings, from `file` when it is given; `arguments` are agent options that win over
    them.

    `home` is `$JARVIS_HOME` or `~/.jarvis` when it is not given. Settings that cannot be
    understood do not keep it from being built: what can be used is, and `problems` says the rest.
    """
    environment = os.environ if environment is None else environment
    return Assembly(home or user_folder(), environment, arguments or {}, feed or Feed(), file)


class Assembly(SharedState):
    """What conversations share, and the conversations."""

    def __init__(
        self,
        home: Path,
        environment: Mapping[str, str],
        arguments: Mapping[str, Any],
        feed: Feed,
        file: Path | None = None,
    ) -> None:
        """See `build`."""
        super().__init__(home, environment, arguments, feed, file)
        self._conversations: dict[str, Conversation] = {}

    async def start(
        self,
        session: str | None,
        roots: Sequence[Path],
        interaction: Interaction | Callable[[Session], Interaction],
        *,
        trusted: bool = False,
        options: AgentOptions | None = None,
        additions: Additions | None = None,
        say: Say | None = None,
    ) -> Conversation:
        """Begin a conversation (None), or continue with the session of this id.

        `say` translates what the runtime says into the user's language. A session that is open
        here already is returned as it is. Raises `SessionMissing`, and `JarvisError` when it
        cannot be written.
        """
        if session is not None and session in self._conversations:
            return self._conversations[session]
        added = additions or Additions()
        folders = tuple(Path(os.path.realpath(root)) for root in roots)
        opened = await asyncio.to_thread(self._open, session, folders)
        try:
            who = interaction if isinstance(interaction, Interaction) else interaction(opened)
            place = Workplace(
                folders,
                trusted,
                who,
                dict(added.services),
                options or self.options,
                tuple(added.commands),
                tuple(added.rules),
                tuple(added.tools),
                added.parallel,
                say,
                tuple(added.guards),
                added.project,
                added.note,
                added.servers if trusted else {},
                tuple(added.inputs),
            )
            conversation = await Conversation.begin(self, opened, place)
        except BaseException:
            opened.close()
            raise
        self._conversations[opened.id] = conversation
        return conversation

    def conversation(self, session: str) -> Conversation | None:
        """Return the conversation of a session that is open here."""
        return self._conversations.get(session)

    def forget(self, session: str) -> None:
        """See `SharedState`."""
        self._conversations.pop(session, None)
        super().forget(session)

    async def close(self) -> None:
        """End all conversations and connections."""
        for conversation in list(self._conversations.values()):
            await conversation.close()
        await self.registry.close()
        await asyncio.to_thread(tracing.close)

    def _open(self, session: str | None, folders: Sequence[Path]) -> Session:
        if session is not None:
            return self.sessions.open(session)
        return self.sessions.create(folders[0] if folders else Path.cwd())

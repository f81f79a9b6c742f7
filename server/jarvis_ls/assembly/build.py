"""What is read once: settings, models, sessions, connections; conversations are started on it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.agents.node import TreeSettings
from jarvis_ls.agents.settings import read_tree_settings
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.assembly.settings import read_settings, section, unknown_sections
from jarvis_ls.assembly.workplace import Workplace
from jarvis_ls.core.errors import ConfigError, JarvisError
from jarvis_ls.core.files import shown_folder, user_folder
from jarvis_ls.runtime.asking import ModelGroup
from jarvis_ls.runtime.events import Feed
from jarvis_ls.runtime.inputs import Command
from jarvis_ls.runtime.interaction import Interaction
from jarvis_ls.runtime.models import GROUPS, SETTINGS, Models, read_models
from jarvis_ls.runtime.options import AgentOptions, read_options
from jarvis_ls.runtime.permissions import PermissionRule
from jarvis_ls.runtime.platforms.registry import PlatformRegistry
from jarvis_ls.runtime.redaction import Redactor, secrets_of
from jarvis_ls.runtime.sandbox.base import SandboxSettings
from jarvis_ls.runtime.sandbox.ladder import Ladder
from jarvis_ls.runtime.sandbox.reading import read_sandbox
from jarvis_ls.runtime.session import Session
from jarvis_ls.runtime.session_store import SessionStore
from jarvis_ls.runtime.showing import Say


def build(
    *,
    home: Path | None = None,
    environment: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    feed: Feed | None = None,
) -> Assembly:
    """Read the settings; `arguments` are agent options that win over them.

    `home` is `$JARVIS_HOME` or `~/.jarvis` when it is not given. Settings that cannot be
    understood do not keep it from being built: what can be used is, and `problems` says the rest.
    """
    environment = os.environ if environment is None else environment
    return Assembly(home or user_folder(), environment, arguments or {}, feed or Feed())


class Assembly:
    """Everything that conversations share."""

    def __init__(
        self,
        home: Path,
        environment: Mapping[str, str],
        arguments: Mapping[str, Any],
        feed: Feed,
    ) -> None:
        """See `build`."""
        self.home = home
        self.environment = environment
        self.feed = feed
        self.problems: list[str] = []
        """What of the settings could not be used, in words for the user."""
        self.settings: dict[str, Any] = {}
        self.models = Models()
        self.options = AgentOptions()
        self.sandbox = Ladder(home)
        self._arguments = arguments
        self._redactor = Redactor.of_environment(environment)
        self.registry = PlatformRegistry(home, self._redactor)
        self.sessions = SessionStore(home, self._redactor)
        self._agents: dict[str, Any] = {}
        self._groups: dict[str, ModelGroup] = {}
        self._conversations: dict[str, Conversation] = {}
        self.reload()

    def reload(self) -> None:
        """Read the settings anew; conversations that run go on with their models."""
        self.problems = [f"{b.file}: {b.reason}" for b in self.registry.broken]
        self._groups.clear()
        self.settings = self._tried(lambda: read_settings(self.home), {})
        wrong = self.problems[len(self.registry.broken) :]  # of the file as a whole
        self.models = read_models(
            self.settings, self.environment, file=shown_folder(self.home / SETTINGS), wrong=wrong
        )
        self.problems += [one for one in wrong if one not in self.problems]
        self.problems += unknown_sections(self.home, self.settings)
        self.options = self._tried(
            lambda: read_options(
                self._arguments,
                settings=section(self.settings, "agent"),
                environment=self.environment,
            ),
            AgentOptions(),
        )
        self._agents = self._tried(self._read_agents, {})
        sandbox = self._tried(
            lambda: read_sandbox(section(self.settings, "sandbox")), SandboxSettings()
        )
        if sandbox != self.sandbox.settings:  # a proof of what has not changed still holds
            self.sandbox = Ladder(self.home, sandbox)

    def set_environment(self, environment: Mapping[str, str]) -> None:
        """Use other keys, such as those of the editor's secret storage, from now on."""
        self.environment = environment
        self._redactor.learn(secrets_of(environment))
        self.reload()

    def group(self, name: str) -> ModelGroup:
        """A group of models, an alias, or one `provider/model`; the same object each time.

        Raises `ModelMissing`, which says what to set, and `ConfigError`.
        """
        if name not in self._groups:
            candidates = self.models.candidates(name, self.environment)
            self._groups[name] = ModelGroup(candidates, self.registry.platform_for)
        return self._groups[name]

    def groups(self) -> list[str]:
        """Names of the groups that are configured."""
        return [name for name in GROUPS if self.models.groups.get(name)]

    def missing_model(self, name: str = "") -> str:
        """Why a group cannot be asked and what to set; empty when it can."""
        try:
            self.group(name or self.options.model_group)
        except JarvisError as error:
            return str(error)
        return ""

    async def start(
        self,
        session: str | None,
        roots: Sequence[Path],
        interaction: Interaction | Callable[[Session], Interaction],
        *,
        trusted: bool = False,
        commands: Iterable[Command] = (),
        services: Mapping[str, Any] | None = None,
        options: AgentOptions | None = None,
        rules: Iterable[PermissionRule] = (),
        say: Say | None = None,
    ) -> Conversation:
        """Begin a conversation (None), or go on with the session of this id.

        `commands` are offered besides the built-in ones; `services` are handed to tools, such as
        `buffers` (unsaved texts of an editor); `rules` are the user's for this time only; `say`
        puts what the runtime says into the user's language. A session that is open here already
        is given as it is. Raises `SessionMissing`, and `JarvisError` when it cannot be written.
        """
        if session is not None and session in self._conversations:
            return self._conversations[session]
        folders = tuple(Path(os.path.realpath(root)) for root in roots)
        opened = await asyncio.to_thread(self._open, session, folders)
        try:
            who = interaction if isinstance(interaction, Interaction) else interaction(opened)
            place = Workplace(
                folders, trusted, who, dict(services or {}), options or self.options,
                tuple(commands), tuple(rules), say,
            )  # fmt: skip
            conversation = await Conversation.begin(self, opened, place)
        except BaseException:
            opened.close()
            raise
        self._conversations[opened.id] = conversation
        return conversation

    def conversation(self, session: str) -> Conversation | None:
        """The conversation of a session that is open here."""
        return self._conversations.get(session)

    def forget(self, session: str) -> None:
        """For `Conversation.close`."""
        self._conversations.pop(session, None)
        self.feed.forget(session)

    async def close(self) -> None:
        """End all conversations and connections."""
        for conversation in list(self._conversations.values()):
            await conversation.close()
        await self.registry.close()

    def tree_settings(self, group: str) -> TreeSettings:
        """How a tree may grow and spend: `[agents]`; `group` was chosen for its session."""
        return read_tree_settings(self._agents, group)

    def _read_agents(self) -> dict[str, Any]:
        table = section(self.settings, "agents")
        read_tree_settings(table)
        return table

    def _open(self, session: str | None, folders: Sequence[Path]) -> Session:
        if session is not None:
            return self.sessions.open(session)
        return self.sessions.create(folders[0] if folders else Path.cwd())

    def _tried(self, read: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return read()
        except ConfigError as error:
            self.problems.append(str(error))
            return otherwise

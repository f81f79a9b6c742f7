"""What is read once: settings, models, sessions, connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jarvis_ls.agents.node import TreeSettings
from jarvis_ls.agents.settings import read_tree_settings
from jarvis_ls.assembly.settings import unknown_sections
from jarvis_ls.assembly.settings_file import read_settings, section
from jarvis_ls.core.errors import ConfigError, JarvisError
from jarvis_ls.core.files import shown_folder
from jarvis_ls.runtime.base import tracing
from jarvis_ls.runtime.base.events import Feed
from jarvis_ls.runtime.base.options import AgentOptions, read_options
from jarvis_ls.runtime.base.redaction import Redactor, secrets_of
from jarvis_ls.runtime.base.tracing import read_telemetry
from jarvis_ls.runtime.llm.model_group import ModelGroup
from jarvis_ls.runtime.llm.providers import GROUPS, SETTINGS, Models, read_models
from jarvis_ls.runtime.llm.registry import PlatformRegistry
from jarvis_ls.runtime.llm.stored_keys import read_keys
from jarvis_ls.runtime.sandbox.base import SandboxSettings
from jarvis_ls.runtime.sandbox.ladder import Ladder
from jarvis_ls.runtime.sandbox.reading import read_sandbox
from jarvis_ls.runtime.session.store import SessionStore


class SharedState:
    """Settings, models, sessions and connections that conversations share."""

    def __init__(
        self,
        home: Path,
        environment: Mapping[str, str],
        arguments: Mapping[str, Any],
        feed: Feed,
        file: Path | None = None,
    ) -> None:
        """See `bootstrap.build`."""
        self._file = file
        self.home = home
        self.environment = environment
        """Variables, with the keys that are kept below them."""
        self.feed = feed
        self.problems: list[str] = []
        """What of the settings could not be used, in words for the user."""
        self.settings: dict[str, Any] = {}
        self.models = Models()
        self.options = AgentOptions()
        self.sandbox = Ladder(home)
        self._given = environment
        self._arguments = arguments
        self._redactor = Redactor.of_environment(environment)
        self.registry = PlatformRegistry(home, self._redactor)
        self.sessions = SessionStore(home, self._redactor)
        self._agents: dict[str, Any] = {}
        self._groups: dict[str, ModelGroup] = {}
        self.reload()

    def reload(self) -> None:
        """Read the settings again; conversations that run continue with their models."""
        self.problems = [f"{b.file}: {b.reason}" for b in self.registry.broken]
        self._groups.clear()
        kept = self._try(lambda: read_keys(self.home), {})
        self._redactor.learn(kept.values())
        self.environment = {**kept, **self._given}
        before = len(self.problems)
        self.settings = self._try(lambda: read_settings(self.home, self._file), {})
        wrong = self.problems[before:]  # of the file as a whole
        self.models = read_models(
            self.settings, self.environment, file=shown_folder(self.home / SETTINGS), wrong=wrong
        )
        self.problems += [problem for problem in wrong if problem not in self.problems]
        self.problems += unknown_sections(self.home, self.settings)
        self.options = self._try(
            lambda: read_options(
                self._arguments,
                settings=section(self.settings, "agent"),
                environment=self.environment,
            ),
            AgentOptions(),
        )
        self._agents = self._try(self._read_agents, {})
        sandbox = self._try(
            lambda: read_sandbox(section(self.settings, "sandbox")), SandboxSettings()
        )
        self._try(
            lambda: tracing.configure(
                read_telemetry(section(self.settings, "telemetry"), self.environment)
            ),
            None,
        )
        if sandbox != self.sandbox.settings:  # a proof of what has not changed still holds
            self.sandbox = Ladder(self.home, sandbox)

    def use_models(self, models: Models) -> None:
        """Ask these models and no others, until the settings are read again."""
        self._groups.clear()
        self.models = models

    def set_environment(self, environment: Mapping[str, str]) -> None:
        """Use other keys, such as those of the editor's secret storage, from now on."""
        self._given = environment
        self._redactor.learn(secrets_of(environment))
        self.reload()

    def group(self, name: str) -> ModelGroup:
        """Return a group of models, an alias, or one `provider/model`; the same object each time.

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
        """Return why a group cannot be used and what to set; empty when it can."""
        return str(self.missing(name) or "")

    def missing(self, name: str = "") -> JarvisError | None:
        """Return the error of a group that cannot be used."""
        try:
            self.group(name or self.options.model_group)
        except JarvisError as error:
            return error
        return None

    def forget(self, session: str) -> None:
        """Drop what is kept of a session that was closed."""
        self.feed.forget(session)
        self.sandbox.forget(session)

    def tree_settings(self, group: str) -> TreeSettings:
        """Return the limits of a tree from `[agents]`, for a session with the group `group`."""
        return read_tree_settings(self._agents, group)

    def _read_agents(self) -> dict[str, Any]:
        table = section(self.settings, "agents")
        read_tree_settings(table)
        return table

    def _try(self, read: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return read()
        except ConfigError as error:
            self.problems.append(str(error))
            return otherwise

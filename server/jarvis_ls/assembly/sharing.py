"""What a team shares: rules, tools, methodologies from its repository; the user's own go there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.assembly.settings_file import section
from jarvis_ls.core.errors import ConfigError, JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.context.central import RULES_CLONE, Central, is_address, read_central
from jarvis_ls.runtime.context.rules_files import RulesSettings
from jarvis_ls.runtime.memory.entry import from_file, head_of
from jarvis_ls.runtime.memory.memory import METHODOLOGY
from jarvis_ls.runtime.tools.consent import Consents, Pending, key_of
from jarvis_ls.runtime.tools.tool import Action

logger = logging.getLogger(__name__)

_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Shareable:
    """A file of the user's that the team does not have."""

    part: str
    """`rules`, `tools` or `methodologies`."""
    name: str
    """What it is called: its file's name, or the problem that a methodology is for."""
    path: Path


class Team:
    """The team's repository, as conversations and the command use it."""

    def __init__(
        self, home: Path, settings: Mapping[str, Any], environment: Mapping[str, str]
    ) -> None:
        """Keep settings that cannot be understood in `problems`."""
        self._home = home
        self.problems: list[str] = []
        self.central: Central | None = None
        """None when no repository is named."""
        self._rules: Central | None = None
        try:
            if found := read_central(section(settings, "central"), environment):
                self.central = Central(home, found)
        except ConfigError as error:
            self.problems.append(str(error))

    def rules(self, settings: RulesSettings) -> str:
        """Return the folder of the rules that win over others; empty when there is none."""
        if settings.central and is_address(settings.central):
            self._rules = Central(self._home, settings.central, clone=RULES_CLONE)
            below = self._rules.part("rules")
            return str(below if below.is_dir() else self._rules.folder)
        if settings.central:
            return settings.central
        return str(self.central.part("rules")) if self.central is not None else ""

    def part(self, name: str) -> Path | None:
        """Return the folder of one part; None without a repository."""
        return self.central.part(name) if self.central is not None else None

    def refresh(self, tell: Callable[[str], None]) -> asyncio.Task[None] | None:
        """Bring clones up to date that were not today, beside all else; `tell` is given the reason
        when that fails."""
        due = [each for each in (self.central, self._rules) if each is not None and each.is_due()]
        return asyncio.create_task(_refresh(due, tell)) if due else None

    # -- sharing -----------------------------------------------------------------------------------

    def shareables(self) -> list[Shareable]:
        """Return the user's own rules, tools and methodologies that the team does not have.

        Those of projects and of configured folders are not the user's to share. Blocks.
        """
        found: list[Shareable] = []
        for part, end in (("rules", ""), ("tools", ".py")):
            theirs = {path.name for path in _files(self._need().part(part))}
            found += [
                Shareable(part, path.name, path)
                for path in _files(self._home / part)
                if path.name.endswith(end) and path.name not in theirs
            ]
        known = {
            said for path in _files(self._need().part("methodologies")) if (said := _said(path))
        }
        for path in _files(self._home / "memory"):
            if (said := _said(path)) and said not in known and said[2] == METHODOLOGY:
                found.append(Shareable("methodologies", said[0], path))
        return found

    def find(self, names: Sequence[str]) -> list[Shareable]:
        """Return what is meant by these names. Raises `UsageError`. Blocks."""
        offered = self.shareables()
        found = []
        for name in names:
            matching = [
                each
                for each in offered
                if name.casefold() in (each.name.casefold(), each.path.stem.casefold())
            ]
            if not matching:
                raise UsageError(
                    "You have no {name} that could be shared; `jarvis share` lists what can be.",
                    name=name,
                )
            found += matching
        return found

    async def share(self, wanted: Sequence[Shareable]) -> None:
        """Move files to the team's repository. Raises `JarvisError`; they then stay."""
        names = ", ".join(each.name for each in wanted)
        files = [(each.path, f"{each.part}/{each.path.name}") for each in wanted]
        tools = {each.path.name for each in wanted if each.part == "tools"}
        await self._need().publish(files, f"Share {names}"[:200])
        for name in tools:
            self.allow(name)

    async def update(self) -> None:
        """Bring the clone up to date now. Raises `JarvisError`."""
        if not await self._need().refresh():
            raise JarvisError("Another process brings it up to date.")

    # -- tools of others ---------------------------------------------------------------------------

    def is_allowed(self, path: Path) -> bool:
        """Return whether the user has allowed exactly this file of a tool. Blocks."""
        pending = self._pending(path)
        return pending is not None and Consents(self._home).given(pending.key)

    def tool(self, name: str) -> Pending:
        """Return a tool of the team to be allowed, with all its text. Raises `UsageError`."""
        for path in _files(self._need().part("tools")):
            if name in (path.name, path.stem) and (pending := self._pending(path)) is not None:
                return pending
        raise UsageError("The team has no tool {name}.", name=name)

    def allow(self, name: str) -> None:
        """Let agents use a tool of the team, as it is now. Raises `JarvisError`."""
        Consents(self._home).give(self.tool(name))

    def _pending(self, path: Path) -> Pending | None:
        try:
            text = read_regular(path, limit=_LARGEST).decode("utf-8", "replace")
        except SkippedFile:
            return None
        return Pending(
            key=key_of("central-tool", path.name, text),
            kind="central-tool",
            name=path.name,
            what=Words("Tool {name} of the team, which runs with your rights", name=path.name),
            detail=text,
            action=Action("execute", f"tool:{path.name}"),
        )

    def _need(self) -> Central:
        if self.central is None:
            raise UsageError(
                "No repository is named: set repository in [central] of {file}.",
                file=self._home / "config.toml",
            )
        return self.central


async def _refresh(due: Sequence[Central], tell: Callable[[str], None]) -> None:
    for each in due:
        try:
            await each.refresh()
        except JarvisError as error:
            tell(Words("The team's repository is not up to date: {why}", why=error))
        except Exception:
            logger.exception("the team's repository could not be brought up to date")


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(
            path
            for path in folder.iterdir()
            if not path.name.startswith(".") and not path.is_symlink() and path.is_file()
        )
    except OSError:
        return []


def _said(path: Path) -> tuple[str, str, str] | None:
    """Return what a note says, whatever its file is called: title, digest of the text, category."""
    try:
        entry = from_file(read_regular(path, limit=_LARGEST), path.stem, "global_long_term")
    except (SkippedFile, ValueError):
        return None
    return entry.title, head_of(entry).digest, entry.category

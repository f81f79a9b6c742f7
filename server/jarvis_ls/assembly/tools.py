"""The tools of a conversation, and what is around them.

From the inside out: the tools; `Reviewed`, which shows file changes before they are written;
`Approved`, the gate that every call passes. Each agent adds `Nearby`, which tells it the rules of
a folder it first touches, and the choice of tools it may use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_ls.assembly.sharing import Team
from jarvis_ls.assembly.workplace import Workplace
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.edits.review import Reviewed
from jarvis_ls.runtime.tools.approval import Approved
from jarvis_ls.runtime.tools.consent import Consents, Pending
from jarvis_ls.runtime.tools.interaction import asking
from jarvis_ls.runtime.tools.permissions import Permissions
from jarvis_ls.runtime.tools.tool import Joined, Tools, Toolset

if TYPE_CHECKING:
    from jarvis_ls.runtime.mcp.toolset import McpServers
    from jarvis_ls.runtime.skills.skills import Skills

LOOKING = (
    "read_code",
    "read_symbols",
    "search_in_project",
    "list_project_files",
    "get_dependencies",
    "definition",
    "references",
    "callers",
    "callees",
)
"""Tools that only look; one that is not there is left out."""


@dataclass
class ToolSources:
    """Where the tools of a conversation come from."""

    toolset: Toolset
    """All of them, guarded."""
    skills: Skills
    servers: McpServers
    problems: list[str] = field(default_factory=list)
    """What could not be loaded, in words for the user."""

    def pending(self) -> list[Pending]:
        """Return what waits for the user's consent."""
        return [*self.skills.pending(), *self.servers.pending()]

    def refresh(self) -> None:
        """Use what was consented to since."""
        self.servers.refresh()

    async def close(self) -> None:
        """Disconnect tool servers and end their processes."""
        await self.servers.close()


async def join_tools(
    home: Path,
    place: Workplace,
    settings: Mapping[str, Any],
    environment: Mapping[str, str],
    permissions: Permissions,
    consents: Consents,
    team: Team,
) -> ToolSources:
    """Load everything that offers tools; what cannot be loaded is named in `problems`."""
    from jarvis_ls.runtime.skills.skills import Skills

    mode = settings.get("skills", {})
    mode = mode.get("mode", "compact") if isinstance(mode, dict) else ""
    skills = Skills(
        home,
        place.roots,
        trusted=place.trusted,
        consents=consents,
        mode="full" if mode == "full" else "compact",
    )
    await skills.scan()
    known = skills.toolset() if skills.skills else Tools(())
    load = _Loading(home, place, settings, environment, consents, known, team)
    toolset, servers, problems = await asyncio.to_thread(load.run)
    await servers.start()
    reviewed = Reviewed(
        toolset, place.interaction, permissions, accept=lambda: permissions.mode() == "edits"
    )
    approved = Approved(reviewed, permissions, asking(place.interaction))
    if mode not in ("compact", "full"):
        problems.append(
            Words('The setting skills.mode must be "compact" or "full"; compact is used.')
        )
    return ToolSources(approved, skills, servers, [*problems, *skills.problems])


@dataclass
class _Loading:
    home: Path
    place: Workplace
    settings: Mapping[str, Any]
    environment: Mapping[str, str]
    consents: Consents
    skills: Toolset
    team: Team

    def run(self) -> tuple[Toolset, McpServers, list[str]]:
        """All tools without anything around them, the tool servers among them, problems."""
        from jarvis_ls.agents import tools as agent_tools
        from jarvis_ls.runtime.context.script_tools import scripted_toolset
        from jarvis_ls.runtime.context.user_tools import user_toolset
        from jarvis_ls.runtime.mcp.toolset import mcp_servers
        from jarvis_ls.tools.discover import builtin_tools, tools_of
        from jarvis_ls.tools.search_web import has_search_server

        roots, trusted = self.place.roots, self.place.trusted
        builtin = [
            replace(known, offered=known.offered and has_search_server())
            if known.spec.name == "search_web"
            else known
            for known in builtin_tools()
        ]
        own = Tools([*builtin, *tools_of(agent_tools), *self.place.tools])
        taken = {*own.tools(), *self.skills.tools()}
        users = user_toolset(
            self.home,
            roots,
            trusted=trusted,
            taken=taken,
            central=self.team.part("tools"),
            allowed=self.team.is_allowed,
        )
        taken |= set(users.tools())
        scripted = scripted_toolset(
            self.home,
            roots,
            trusted=trusted,
            taken=taken,
            settings=self.settings.get("scripted_tools"),
        )
        servers = mcp_servers(
            self.home,
            roots,
            trusted=trusted,
            consents=self.consents,
            settings=self._servers(),
            environment=self.environment,
        )
        problems = [*users.problems, *scripted.problems, *servers.problems]
        return Joined([own, self.skills, users, scripted, servers]), servers, problems

    def _servers(self) -> Any:
        """Return the servers of the settings, and those of who has started the conversation."""
        known = self.settings.get("mcp_servers")
        if not self.place.servers or not (known is None or isinstance(known, dict)):
            return known
        return {**self.place.servers, **(known or {})}

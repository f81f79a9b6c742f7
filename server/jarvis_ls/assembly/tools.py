"""The tools of a conversation, and what stands around them.

From the inside out: the tools; `Reviewed`, which shows file changes before they are written;
`Approved`, the gate that every call passes; `Nearby`, which tells the rules of a folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.runtime.interaction import Interaction, asking
from jarvis_ls.runtime.permissions import Approved, Permissions
from jarvis_ls.runtime.proposals import Reviewed
from jarvis_ls.runtime.rules_files import Nearby
from jarvis_ls.runtime.tool import Joined, Tools, Toolset


@dataclass
class ToolSources:
    """Where the tools of a conversation come from."""

    toolset: Toolset
    """All of them, guarded."""
    nearby: Nearby
    """Tells rules of folders; told again after a summary."""
    problems: list[str] = field(default_factory=list)
    """What could not be loaded, in words for the user."""
    closing: list[Any] = field(default_factory=list)
    """Things with `close` that belong to the conversation."""


async def join_tools(
    home: Path,
    roots: Sequence[Path],
    trusted: bool,
    settings: Mapping[str, Any],
    environment: Mapping[str, str],
    permissions: Permissions,
    interaction: Interaction,
) -> ToolSources:
    """Load everything that offers tools; what cannot be loaded is named in `problems`."""
    loaded = await asyncio.to_thread(_load, home, roots, trusted, settings, environment)
    reviewed = Reviewed(loaded.toolset, interaction, permissions)
    nearby = Nearby(Approved(reviewed, permissions, asking(interaction)))
    return ToolSources(nearby, nearby, loaded.problems, loaded.closing)


@dataclass
class _Loaded:
    toolset: Toolset
    problems: list[str]
    closing: list[Any]


def _load(
    home: Path,
    roots: Sequence[Path],
    trusted: bool,
    settings: Mapping[str, Any],
    environment: Mapping[str, str],
) -> _Loaded:
    from jarvis_ls.agents import tools as agent_tools
    from jarvis_ls.runtime.mcp import mcp_servers
    from jarvis_ls.runtime.user_tools import user_toolset
    from jarvis_ls.tools.discover import builtin_tools, tools_of

    own = [*builtin_tools(), *tools_of(agent_tools)]
    users = user_toolset(home, roots, trusted=trusted, taken={t.spec.name for t in own})
    servers = mcp_servers(
        home, roots, trusted=trusted, settings=settings.get("mcp_servers"), environment=environment
    )
    problems = [*users.problems, *servers.problems]
    return _Loaded(Joined([Tools(own), users, servers]), problems, [servers])

"""Where a conversation takes place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.runtime.agent.agent_view import Say
from jarvis_ls.runtime.agent.guard import Guard
from jarvis_ls.runtime.agent.user_input import Command, InputHandler
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.tools.interaction import Interaction
from jarvis_ls.runtime.tools.permissions import PermissionRule
from jarvis_ls.runtime.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a conversation takes place, and with whom."""

    roots: tuple[Path, ...]
    """Workspace folders, links resolved."""
    trusted: bool
    interaction: Interaction
    services: Mapping[str, Any]
    """What tools are handed besides the built-in ones."""
    options: AgentOptions
    commands: tuple[Command, ...] = ()
    rules: tuple[PermissionRule, ...] = ()
    """Permission rules of the user's that hold for this time."""
    tools: tuple[Tool, ...] = ()
    """Tools of who has started the conversation, besides the built-in ones."""
    parallel: int = 0
    """Children of one agent that run at the same time; 0 takes what the user has set."""
    say: Say | None = None
    """Puts what the runtime says into the user's language."""
    guards: tuple[Guard, ...] = ()
    """Asked at every step of every agent, besides the built-in ones."""
    project: Path | None = None
    """Folder that the workspace is a copy of; None when the workspace is the user's own."""
    note: str = ""
    """A note in the system prompt about the folder."""
    servers: Mapping[str, Any] = field(default_factory=dict)
    """Tool servers of who has started the conversation, as in the settings; none without trust."""
    inputs: tuple[InputHandler, ...] = ()
    """Read what the user says to the root, after the built-in ones."""

    @property
    def homes(self) -> tuple[Path, ...]:
        """Return the folders whose `.jarvis` holds: rules, permissions, memory, agents."""
        return self.roots if self.project is None else (self.project,)


@dataclass(frozen=True, slots=True)
class Additions:
    """What the one who starts a conversation adds to it."""

    commands: Sequence[Command] = ()
    """Offered besides the built-in ones."""
    services: Mapping[str, Any] = field(default_factory=dict)
    """Handed to tools, such as `buffers`: the unsaved texts of an editor."""
    rules: Sequence[PermissionRule] = ()
    """Permission rules of the user's for this time only."""
    tools: Sequence[Tool] = ()
    """Offered besides the built-in ones."""
    parallel: int = 0
    """Children of one agent that run at the same time; 0 takes what the user has set."""
    guards: Sequence[Guard] = ()
    """Asked at every step of every agent, besides the built-in ones."""
    project: Path | None = None
    """Folder that the workspace is a copy of, whose rules, permissions and memory hold."""
    note: str = ""
    """A note in the system prompt about the folder."""
    servers: Mapping[str, Any] = field(default_factory=dict)
    """Tool servers besides those of the settings, written as they are; none without trust."""
    inputs: Sequence[InputHandler] = ()
    """Read what the user says to the root, after the built-in ones."""

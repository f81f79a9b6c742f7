"""Where a conversation takes place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.runtime.agent.agent_view import Say
from jarvis_ls.runtime.agent.user_input import Command
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.tools.interaction import Interaction
from jarvis_ls.runtime.tools.permissions import PermissionRule


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
    say: Say | None = None
    """Puts what the runtime says into the user's language."""


@dataclass(frozen=True, slots=True)
class Additions:
    """What the one who starts a conversation adds to it."""

    commands: Sequence[Command] = ()
    """Offered besides the built-in ones."""
    services: Mapping[str, Any] = field(default_factory=dict)
    """Handed to tools, such as `buffers`: the unsaved texts of an editor."""
    rules: Sequence[PermissionRule] = ()
    """Permission rules of the user's for this time only."""

"""Where a conversation takes place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.runtime.inputs import Command
from jarvis_ls.runtime.interaction import Interaction
from jarvis_ls.runtime.options import AgentOptions
from jarvis_ls.runtime.permissions import PermissionRule
from jarvis_ls.runtime.showing import Say


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

"""The permission rules of a conversation: the user's, what was granted, the workspace's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jarvis_ls.assembly.settings import Granted, workspace_rules
from jarvis_ls.assembly.workplace import Workplace
from jarvis_ls.core.errors import ConfigError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import Mode
from jarvis_ls.runtime.tools.permissions import PermissionRule, Permissions, read_rules

UNTRUSTED = Words("The workspace is not trusted: nothing is written or run in it.")


def read_permissions(
    settings: Mapping[str, Any], home: Path, place: Workplace, mode: Callable[[], Mode]
) -> tuple[Permissions, list[str]]:
    """Return the user's rules and what was granted before; the workspace's own only tighten.

    A file that cannot be read makes everything be asked: nothing is allowed by mistake. The
    second result says so, in words for the user.
    """
    granted = Granted(home, place.roots)
    problems: list[str] = []
    user: list[PermissionRule] = []
    workspace: list[PermissionRule] = []
    try:
        user = read_rules(settings.get("permissions", []), str(home / "config.toml"))
        user += [*granted.rules(), *place.rules]
        workspace = workspace_rules(place.roots)
    except ConfigError as error:
        problems.append(Words("{why} Until then every action needs approval.", why=error))
        user, workspace = [], [PermissionRule("ask")]
    closed = "" if place.trusted else UNTRUSTED
    permissions = Permissions(
        user, workspace, remember=granted.remember, read_only=closed, mode=mode
    )
    return permissions, problems

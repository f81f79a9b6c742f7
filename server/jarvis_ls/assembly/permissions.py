"""The permission rules of a conversation: the user's, what was granted, the workspace's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.assembly.settings import Granted, workspace_rules
from jarvis_ls.assembly.workplace import Workplace
from jarvis_ls.core.errors import ConfigError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import Mode
from jarvis_ls.runtime.base.folders import below
from jarvis_ls.runtime.llm.stored_keys import FILE as KEYS
from jarvis_ls.runtime.tools.permissions import PermissionRule, Permissions, read_rules

UNTRUSTED = Words("The workspace is not trusted: nothing is written or run in it.")


def read_permissions(
    settings: Mapping[str, Any], home: Path, place: Workplace, mode: Callable[[], Mode]
) -> tuple[Permissions, list[str]]:
    """Return the user's rules and what was granted before; the workspace's own only tighten.

    A file that cannot be read makes everything be asked: nothing is allowed by mistake. The
    second result says so, in words for the user.
    """
    granted = Granted(home, place.homes)
    problems: list[str] = []
    user: list[PermissionRule] = []
    workspace: list[PermissionRule] = []
    try:
        user = [
            *_rules_for_keys(home, place.roots),
            *read_rules(settings.get("permissions", []), str(home / "config.toml")),
        ]
        user += [*granted.rules(), *place.rules]
        workspace = workspace_rules(place.homes)
    except ConfigError as error:
        problems.append(Words("{why} Until then every action needs approval.", why=error))
        user, workspace = [], [PermissionRule("ask")]
    closed = "" if place.trusted else UNTRUSTED
    permissions = Permissions(
        user, workspace, remember=granted.remember, read_only=closed, mode=mode
    )
    return permissions, problems


def _rules_for_keys(home: Path, roots: Sequence[Path]) -> list[PermissionRule]:
    """Return the rules that hide saved keys from agents where the user's own folder is part of
    the workspace, as it is for who opens the home folder; elsewhere they are out of reach."""
    found = below(Path(os.path.realpath(home)) / KEYS, roots)
    if found is None:
        return []
    number, path = found
    target = f"{roots[number].name}/{path}" if number else path
    return [PermissionRule("deny", kind=kind, target=target) for kind in ("read", "write")]

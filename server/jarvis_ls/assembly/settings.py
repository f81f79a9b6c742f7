"""The user's settings file, and rules a user granted for longer than a session."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jarvis_ls.assembly.settings_file import FILE, read_tables
from jarvis_ls.core.errors import ConfigError, SkippedFile
from jarvis_ls.core.files import STATE, read_regular, replace_file, shown_folder
from jarvis_ls.core.lock import hold
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.agent.command_hooks import CommandHook, read_hooks
from jarvis_ls.runtime.tools.permissions import PermissionRule, Scope, read_rules
from jarvis_ls.runtime.tools.workspace_extras import with_state

GRANTED = "granted.json"
_LIMIT = 1_000_000
SECTIONS = frozenset(
    "agent agents auto central hooks mcp_servers model_groups model_providers models permissions "
    "rules sandbox scripted_tools search skills telemetry tool_groups".split()
)
"""Of the settings file, anyone who reads them."""


def unknown_sections(home: Path, settings: Mapping[str, Any]) -> list[str]:
    """Return a warning for each section that is never read: most are misspelt."""
    said: list[str] = []
    for name in sorted(set(settings) - SECTIONS):
        parts: list[str] = [
            Words(
                "Unknown section [{name}] in {file}.",
                file=shown_folder(home / FILE),
                name=name,
            )
        ]
        if near := difflib.get_close_matches(name, SECTIONS, 1):
            parts.append(Words("Did you mean [{name}]?", name=near[0]))
        said.append(together(parts, " "))
    return said


def workspace_rules(roots: Sequence[Path]) -> list[PermissionRule]:
    """Permission rules of the folders' own `.jarvis/config.toml`; they can only tighten.

    Raises `ConfigError`: a rule that cannot be read must not be left out silently.
    """
    rules: list[PermissionRule] = []
    for root in roots:
        path = root / STATE / FILE
        if (settings := read_tables(path, root).get("permissions")) is not None:
            rules += read_rules(settings, str(path))
    return rules


def read_all_hooks(
    settings: Mapping[str, Any], home: Path, roots: Sequence[Path]
) -> list[CommandHook]:
    """Return the user's hooks, then those of folders, which must be trusted.

    Raises `ConfigError`: a hook that cannot be read must not be left out silently.
    """
    found = read_hooks(settings.get("hooks", []), str(home / FILE), sandboxed=False)
    for root in with_state(roots, home):
        path = root / STATE / FILE
        found += read_hooks(read_tables(path, root).get("hooks", []), str(path), sandboxed=True)
    return found


class Granted:
    """Rules granted for a workspace, or for everything, kept in the user's folder."""

    def __init__(self, home: Path, roots: Sequence[Path]) -> None:
        self._path = home / GRANTED
        self._lock = home / "granted.lock"
        self._workspace = str(roots[0]) if roots else ""

    def rules(self) -> list[PermissionRule]:
        """Those that hold here. Raises `ConfigError` for a damaged file."""
        kept = self._read()
        tables = [*kept["user"], *kept["workspaces"].get(self._workspace, [])]
        return read_rules(tables, str(self._path))

    def remember(self, scope: Scope, rules: list[PermissionRule]) -> None:
        """Keep rules of scope `workspace` or `user`. Raises `JarvisError` when it cannot."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with hold(self._lock, str(self._path)):
            kept = self._read()
            place = kept["user"]
            if scope == "workspace":
                place = kept["workspaces"].setdefault(self._workspace, [])
            place += [asdict(rule) for rule in rules if asdict(rule) not in place]
            data = json.dumps(kept, ensure_ascii=False, indent=2).encode()
            replace_file(self._path, data + b"\n", mode=0o600)

    def _read(self) -> dict[str, Any]:
        if not os.path.lexists(self._path):
            return {"user": [], "workspaces": {}}
        try:
            kept = json.loads(read_regular(self._path, limit=_LIMIT))
            if not isinstance(kept["user"], list) or not isinstance(kept["workspaces"], dict):
                raise TypeError
        except SkippedFile as error:
            raise ConfigError("{path}: {why}.", path=self._path, why=error.reason) from None
        except (ValueError, KeyError, TypeError):
            raise ConfigError("{path} is corrupt; repair or remove it.", path=self._path) from None
        return {"user": kept["user"], "workspaces": kept["workspaces"]}

"""What the tools of a server were when they were accepted.

A server's tools are offered as they were described when the server was first used, from a file
of the user's (`~/.jarvis/mcp-definitions/`), so that a session needs no connection to know them.
A tool that is later described otherwise, or is new, is held back until the user has seen it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.tools.consent import key_of
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.schema_tools import usable_schema

MAX_TOOLS = 128
MAX_DESCRIPTION = 4_000
_LIMIT = 20_000_000
_ODD = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class Definition:
    """One tool of a server."""

    name: str
    """As the server calls it."""
    description: str
    schema: dict[str, Any]

    @property
    def key(self) -> str:
        """Equal only for the same tool described in the same way."""
        return key_of(self.name, self.description, self.schema)

    def offered_as(self, prefix: str) -> str:
        """`server__tool`, of the characters and length every provider takes, one for one."""
        plain = _ODD.sub("_", self.name)
        whole = f"{prefix}__{plain}"
        if plain == self.name and plain and len(whole) <= 64:
            return whole
        mark = hashlib.sha256(self.name.encode("utf-8", "replace")).hexdigest()[:8]
        return f"{whole[:55]}_{mark}"


Definitions = Mapping[str, Definition]
"""Tools by the server's own names."""


def read_definitions(listed: Iterable[tuple[Any, Any, Any]]) -> tuple[Definitions, list[str]]:
    """Return a server's definitions (name, description, schema) and those left out."""
    found: dict[str, Definition] = {}
    problems: list[str] = []
    for name, description, schema in listed:
        seen = shown(str(name))[:80]
        if not isinstance(name, str) or not name.strip() or len(name) > 200:
            problems.append(Words("a tool is skipped: {seen} is not a valid name", seen=repr(seen)))
        elif name in found:
            problems.append(Words("tool {seen} is skipped: two tools have this name", seen=seen))
        elif len(found) >= MAX_TOOLS:
            problems.append(
                Words("tool {seen} is skipped: more than {what} tools", seen=seen, what=MAX_TOOLS)
            )
        else:
            text = description if isinstance(description, str) else ""
            visible = "\n".join(shown(line) for line in text.split("\n"))
            if len(visible) > MAX_DESCRIPTION:
                problems.append(Words("the description of tool {seen} is truncated", seen=seen))
            try:
                checked = usable_schema(schema)
            except ValueError as error:
                problems.append(Words("tool {seen} is skipped: {why}", seen=seen, why=error))
                continue
            found[name] = Definition(name, visible[:MAX_DESCRIPTION].strip(), checked)
    return found, problems


class Accepted:
    """The accepted definitions of one server, on disk."""

    def __init__(self, home: Path, prefix: str, server_key: str) -> None:
        """`server_key` tells how the server is started; another start is another server."""
        self._path = home / "mcp-definitions" / f"{prefix}-{server_key[:16]}.json"
        self._server_key = server_key

    def read(self) -> Definitions | None:
        """Return the definitions, or None when none were accepted yet."""
        try:
            data = json.loads(read_regular(self._path, limit=_LIMIT))
            if data["server"] != self._server_key:
                return None
            return {
                tool["name"]: Definition(tool["name"], tool["description"], tool["schema"])
                for tool in data["tools"]
            }
        except (SkippedFile, ValueError, KeyError, TypeError, RecursionError):
            return None

    def write(self, definitions: Definitions) -> None:
        """Accept these from now on. Raises `JarvisError` when that cannot be written."""
        tools = [
            {"name": d.name, "description": d.description, "schema": d.schema}
            for d in definitions.values()
        ]
        text = json.dumps({"server": self._server_key, "tools": tools}, indent=2)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise JarvisError(
                "cannot create {folder}: {why}", folder=self._path.parent, why=error.strerror
            ) from None
        replace_file(self._path, text.encode("utf-8", "replace"), mode=0o600)


def differences(accepted: Definitions, now: Definitions) -> str:
    """Describe the changed definitions in words for the user; empty when none changed."""
    parts = []
    for name, new in now.items():
        old = accepted.get(name)
        if old is None:
            parts.append(f"New tool {shown(name)}:\n{new.description}\n{_schema(new)}")
        elif old.key != new.key:
            parts.append(
                f"Changed tool {shown(name)}.\nBefore:\n{old.description}\n{_schema(old)}\n"
                f"Now:\n{new.description}\n{_schema(new)}"
            )
    return "\n\n".join(parts)


def _schema(definition: Definition) -> str:
    return shown(json.dumps(definition.schema, ensure_ascii=False))

"""What the user has examined and allowed: skills, tool servers, tools of a workspace.

A consent holds for exactly what was shown: it is kept by a hash of it, and what changes is
unknown again. Consents are the user's own state (`~/.jarvis/consents.json`); nothing in a
workspace can give one.

To join: collect the `Pending` of every part (`skills.pending()`, `servers.pending()`, …), show
`what` and `detail` word for word, and call `consents.give(pending)` for what the user allows, or
let `settle` ask through the session's `Interaction`.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.lock import hold
from jarvis_ls.core.words import together
from jarvis_ls.runtime.tools.interaction import Interaction
from jarvis_ls.runtime.tools.permissions import Asked
from jarvis_ls.runtime.tools.tool import Action

_LIMIT = 10_000_000


@dataclass(frozen=True, slots=True)
class Pending:
    """Something that is not used before the user allows it."""

    key: str
    """Hash of all that would be allowed."""
    kind: str
    """`skill`, `mcp-server`, `mcp-tools` or `scripted-tool`."""
    name: str
    what: str
    """In one sentence, for the user."""
    detail: str
    """All of it that matters, uncut: the exact command, the new definitions, the audit."""
    action: Action
    """What the permission dialogue shows."""


class Consents:
    """What was allowed, shared by all processes of the user."""

    def __init__(self, home: Path) -> None:
        self._path = home / "consents.json"
        self._lock = home / "consents.lock"
        self._kept: tuple[tuple[int, ...], dict[str, dict[str, str]]] = ((), {})

    def given(self, key: str) -> bool:
        """Return whether exactly this was allowed."""
        return key in self._read()

    def give(self, pending: Pending) -> None:
        """Allow it from now on. Raises `JarvisError` when that cannot be written."""
        with hold(self._lock, str(self._path)):
            known = self._read()
            known[pending.key] = {
                "kind": pending.kind,
                "name": pending.name,
                "what": pending.what,
                "given_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            }
            self._write(known)

    def withdraw(self, key: str) -> None:
        """Allow it no longer. Raises `JarvisError` when that cannot be written."""
        with hold(self._lock, str(self._path)):
            known = self._read()
            if known.pop(key, None) is not None:
                self._write(known)

    def all(self) -> dict[str, dict[str, str]]:
        """Everything allowed, by key: kind, name, what and when."""
        return self._read()

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            status = self._path.stat()
        except OSError:
            return {}
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if self._kept[0] != stamp:
            self._kept = (stamp, self._parse())
        return dict(self._kept[1])

    def _parse(self) -> dict[str, dict[str, str]]:
        try:
            known: Any = json.loads(read_regular(self._path, limit=_LIMIT))
        except (SkippedFile, ValueError, RecursionError):
            return {}  # nothing is allowed that cannot be read
        if not isinstance(known, dict):
            return {}
        return {key: value for key, value in known.items() if isinstance(value, dict)}

    def _write(self, known: dict[str, dict[str, str]]) -> None:
        text = json.dumps(known, ensure_ascii=False, indent=2)
        replace_file(self._path, (text + "\n").encode("utf-8", "replace"), mode=0o600)


async def settle(
    pending: Iterable[Pending], consents: Consents, interaction: Interaction, node: str = ""
) -> list[Pending]:
    """Ask for each and keep what is allowed; gives what was not."""
    refused = []
    for consent in pending:
        asked = Asked(
            consent.kind,
            (consent.action,),
            together([consent.what, consent.detail], "\n"),
            {"name": consent.name},
        )
        answer = await interaction.permit(node, "", asked)
        if answer.allowed:
            consents.give(consent)
        else:
            refused.append(consent)
    return refused


def key_of(*parts: Any) -> str:
    """Return a hash of plain values; equal only when all of them are."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()

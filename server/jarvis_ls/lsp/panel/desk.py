"""What all of the panel's tabs need of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.assembly.bootstrap import Assembly
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.lsp.panel.editor import EditorFiles
from jarvis_ls.lsp.server import Server
from jarvis_ls.lsp.user_messages import Messages


@dataclass(frozen=True, slots=True)
class Desk:
    """The panel, as its tabs see it."""

    server: Server
    assembly: Assembly
    editor: EditorFiles
    conversation: Callable[[str | None], Awaitable[Conversation]]
    """The conversation of a session, opened when it is not; None begins a new one."""
    named: Callable[[str], str]
    """The session that is meant: without a name the one that is shown."""

    @property
    def say(self) -> Messages:
        """In the user's language."""
        return self.server.say

    @property
    def trusted(self) -> bool:
        """Return whether the user trusts the workspace."""
        return self.server.trusted

    def roots(self) -> list[Path]:
        """Return the folders of the workspace."""
        return [Path(folder.path) for folder in self.server.folders]

"""The side panel: chat with agents, their tree, what they touched, memory, settings.

Nothing of the agent runtime is loaded before the panel is first used.
"""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.lsp.missing_packages import ask_for_packages
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import PanelAskParams, PanelKeysParams
from jarvis_ls.lsp.pygls_fixes.lean import load_tls
from jarvis_ls.lsp.server import Server

if TYPE_CHECKING:
    from jarvis_ls.lsp.panel.bridge import Panel

OLDEST = (3, 11)
"""Python for which a packaged extension brings what agents need."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}\Z")


def register(server: Server) -> None:
    """Answer `jarvis/panel/ask` and `jarvis/panel/keys`."""
    feature = _PanelFeature(server)
    server.answer(extensions.PANEL_ASK, feature.ask)
    server.answer(extensions.PANEL_KEYS, feature.keys)
    server.closing.append(feature.close)


class _PanelFeature:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._keys: dict[str, str] = {}
        self._panel: Panel | None = None

    async def ask(self, params: PanelAskParams) -> dict[str, Any]:
        try:
            return await self._load().answer(params.ask)
        except ModuleNotFoundError as error:
            raise ask_for_packages(error, self._server.say) from error

    async def keys(self, params: PanelKeysParams) -> bool:
        """Keys go nowhere but into the runtime's own environment."""
        if not all(_VARIABLE.match(name) for name in params.keys):
            raise UsageError(self._server.say("The name of a key must be an environment variable."))
        before, self._keys = self._keys, {name: key for name, key in params.keys.items() if key}
        self._server.model_keys = self._keys
        if self._panel is not None and self._keys != before:
            self._panel.use_keys(self._keys)
        if self._panel is not None or params.trial:
            self._load().onboarding.trial = params.trial or ""
        return True

    async def close(self) -> None:
        """End the agents, so that their sessions are whole on disk."""
        if self._panel is not None:
            await self._panel.close()

    def _load(self) -> Panel:
        if self._panel is None:
            if sys.version_info < OLDEST and "bundled" in Path(__file__).parts:
                raise JarvisError(
                    self._server.say(
                        "Agents need Python 3.11 or newer, but Jarvis runs on Python {version}."
                        " Choose another with the setting jarvisLs.interpreter.",
                        version=f"{sys.version_info.major}.{sys.version_info.minor}",
                    )
                )
            load_tls()
            from jarvis_ls.lsp.panel.bridge import Panel

            self._panel = Panel(self._server, self._keys)
            # A long session is thousands of records and no cycle: what was loaded is not looked
            # through again for each of them.
            gc.freeze()
            gc.set_threshold(50_000, 20, 50)
        return self._panel

"""Log records to the client's output channel; before it listens, and when it is gone, to stderr."""

from __future__ import annotations

import logging
import sys

from lsprotocol import types
from pygls.lsp.server import LanguageServer

_LEVELS = (
    (logging.ERROR, types.MessageType.Error),
    (logging.WARNING, types.MessageType.Warning),
    (logging.INFO, types.MessageType.Info),
    (logging.NOTSET, types.MessageType.Log),
)
_MAX_MESSAGE = 4000


class ClientHandler(logging.Handler):
    """Sends records by ``window/logMessage``."""

    def __init__(self, server: LanguageServer) -> None:
        super().__init__()
        self._server = server
        self.ready = False
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record; what cannot be sent goes to stderr."""
        text = self.format(record)[:_MAX_MESSAGE]
        if not self.ready:
            print(text, file=sys.stderr)
            return
        kind = next(kind for level, kind in _LEVELS if record.levelno >= level)
        self._server.window_log_message(types.LogMessageParams(type=kind, message=text))


def install(server: LanguageServer) -> ClientHandler:
    """Route the package's records to the client, and pygls's from WARNING on: at INFO it
    writes the body of every message."""
    handler = ClientHandler(server)
    for name, level in (
        ("jarvis_ls", logging.INFO),
        ("pygls", logging.WARNING),
        ("asyncio", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.handlers = [handler]
        logger.propagate = False
    return handler

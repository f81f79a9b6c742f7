"""Work-done progress that the user can cancel.

Replaces ``pygls.progress.Progress`` (2.1.1), which never forgets a token.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

logger = logging.getLogger(__name__)

_REPORT_EVERY = 0.1
_CREATE_TIMEOUT = 20.0
"""Seconds a client that can show progress has to say that it will: an editor that has just started
is slow, and work that no one sees cannot be cancelled by who sees it."""


class Work:
    """One piece of work shown as progress, or not when the client cannot show any."""

    def __init__(self, server: LanguageServer, token: types.ProgressToken | None) -> None:
        self._server = server
        self._token = token
        self._last = 0.0
        self._on_cancel: list[Callable[[], object]] = []
        self._stopped = asyncio.Event()
        self.cancelled = False

    def on_cancel(self, action: Callable[[], object]) -> None:
        """Have ``action`` called when the user cancels."""
        self._on_cancel.append(action)

    async def stopped(self) -> None:
        """Wait until the user cancels."""
        await self._stopped.wait()

    def cancel(self) -> None:
        """Cancel the work for the user."""
        if self.cancelled:
            return
        self.cancelled = True
        self._stopped.set()
        for action in self._on_cancel:
            action()

    def report(self, done: int, total: int, message: str, *, at_once: bool = False) -> None:
        """Tell how far it is; at most ten times a second, but for what must be told `at_once`."""
        now = time.monotonic()
        if now - self._last < _REPORT_EVERY and not at_once:
            return
        self._last = now
        percentage = min(100, done * 100 // total) if total else 0
        self._notify(types.WorkDoneProgressReport(message=message, percentage=percentage))

    def _notify(self, value: object) -> None:
        if self._token is not None:
            self._server.protocol.notify(
                types.PROGRESS, types.ProgressParams(token=self._token, value=value)
            )


class Progress:
    """All work that is going on, by its token."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._running: dict[types.ProgressToken, Work] = {}

    def cancel(self, token: types.ProgressToken) -> None:
        """Cancel the work with this token; one that has ended is no mistake of the client."""
        work = self._running.get(token) if isinstance(token, int | str) else None
        if work is not None:
            work.cancel()

    @asynccontextmanager
    async def work(
        self, title: str, token: types.ProgressToken | None = None
    ) -> AsyncIterator[Work]:
        """Show ``title`` until the block ends; ``token`` is the client's when it gave one."""
        token = token if token is not None else await self._create()
        work = Work(self._server, token)
        if token is not None:
            self._running[token] = work
        work._notify(types.WorkDoneProgressBegin(title=title, cancellable=True, percentage=0))
        try:
            yield work
        finally:
            if token is not None:
                self._running.pop(token, None)
            work._notify(types.WorkDoneProgressEnd())

    async def _create(self) -> types.ProgressToken | None:
        window = self._server.client_capabilities.window
        if window is None or not window.work_done_progress:
            return None
        token = str(uuid.uuid4())
        create = self._server.window_work_done_progress_create_async(
            types.WorkDoneProgressCreateParams(token=token)
        )
        try:
            await asyncio.wait_for(create, _CREATE_TIMEOUT)
        except (asyncio.TimeoutError, JsonRpcException) as error:
            logger.info("the client shows no progress: %r", error)
            return None
        return token

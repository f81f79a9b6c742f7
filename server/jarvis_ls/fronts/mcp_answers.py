"""How answers of the Model Context Protocol tell progress and errors."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.facade.project import Report

_SECONDS_BETWEEN = 0.25


@contextlib.asynccontextmanager
async def tell_errors() -> AsyncIterator[None]:
    """Give the reason to the model: of other exceptions it hears only that there was one."""
    try:
        yield
    except JarvisError as error:
        raise ToolError(str(error)) from error


@contextlib.asynccontextmanager
async def tell_missing() -> AsyncIterator[None]:
    """Give the reason why there is no such resource."""
    try:
        yield
    except JarvisError as error:
        raise ResourceNotFoundError(str(error)) from error


@contextlib.asynccontextmanager
async def tell_progress(context: Context) -> AsyncIterator[Report]:
    """Give a function that notes progress, and send the last that was noted now and then."""
    noted = sent = (0, 0)

    def note(done: int, total: int) -> None:
        nonlocal noted
        noted = done, total

    async def send() -> None:
        nonlocal sent
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN)
            if noted != sent:
                sent = noted
                await context.report_progress(*sent)

    sender = asyncio.create_task(send())
    try:
        yield note
    finally:
        sender.cancel()
        await asyncio.wait({sender})

"""The editor at the other end of a connection: shown updates, and asked for its user's answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import acp
from acp import schema

from jarvis_ls.facade.session_records import Client, Question, Update
from jarvis_ls.fronts.acp_updates import question_to_acp, to_acp

logger = logging.getLogger(__name__)


class EditorClient(Client):
    """The editor; updates are sent one after the other, before any question about them."""

    def __init__(self) -> None:
        self.can_write = False
        """Whether it has a field for answers in words."""
        self._queue: asyncio.Queue[tuple[str, Update]] = asyncio.Queue()
        self._sender: asyncio.Task[None] | None = None
        self._connection: Any = None

    def connect(self, connection: Any) -> None:
        """Send over this connection from now on."""
        self._connection = connection
        self._sender = asyncio.get_running_loop().create_task(self._send_updates())

    async def flush(self) -> None:
        """Wait until everything is sent."""
        await self._queue.join()

    async def close(self) -> None:
        """Send nothing any more."""
        if self._sender is not None:
            self._sender.cancel()
            await asyncio.wait({self._sender})

    def send(self, session: str, updates: Sequence[Update]) -> None:
        """Send updates of a session, in their order; does not wait."""
        for update in updates:
            self._queue.put_nowait((session, update))

    async def choose(self, question: Question) -> str:
        """See `Client`."""
        call = question.call
        if call.is_new:  # it is about no call of the session
            self.send(question.session, [call])
        await self._queue.join()  # the client knows the call before it is asked about it
        try:
            answer = await self._connection.request_permission(
                question.session, *question_to_acp(question)
            )
        except (acp.RequestError, ConnectionError):
            return ""
        finally:
            if call.is_new:
                done = replace(call, state="done", is_new=False)
                self.send(question.session, [done])
        outcome = answer.outcome
        return outcome.option_id if isinstance(outcome, schema.AllowedOutcome) else ""

    async def write(self, session: str, text: str) -> str:
        """See `Client`; a client that has no field for it is not asked."""
        if not self.can_write:
            return ""
        await self._queue.join()
        field = schema.ElicitationStringPropertySchema(type="string", title=text)
        wanted = schema.ElicitationSchema(properties={"answer": field}, required=["answer"])
        mode = schema.ElicitationFormSessionMode(session_id=session, requested_schema=wanted)
        try:
            answer = await self._connection.create_elicitation(text, mode)
        except (acp.RequestError, ConnectionError):
            return ""
        content = getattr(answer, "content", None)
        return str(content.get("answer", "")) if isinstance(content, dict) else ""

    async def _send_updates(self) -> None:
        while True:
            session, update = await self._queue.get()
            try:
                await self._connection.session_update(session, to_acp(update))
            except ConnectionError:
                pass  # the client has left; its sessions are closed soon
            except Exception:
                logger.exception("an update was not sent: %s", type(update).__name__)
            finally:
                self._queue.task_done()

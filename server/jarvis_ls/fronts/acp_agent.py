"""Sessions of our agents over the Agent Client Protocol, for Zed, Neovim and other editors.

Everything is asked of `facade.sessions`; here are only names and the protocol. The protocol knows
one agent a session: the tree of agents is in `_meta`, as `_jarvis/tree`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import acp
from acp import schema

from jarvis_ls import __version__
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.facade.session_records import Client, Question, Update
from jarvis_ls.fronts.acp_input import MODEL, choices, model_option, read_prompt, read_server
from jarvis_ls.fronts.acp_updates import question_to_acp, to_acp

if TYPE_CHECKING:
    from jarvis_ls.facade.sessions import OpenSession, Sessions

logger = logging.getLogger(__name__)

INVALID, FAILED = -32602, -32603
"""Codes of JSON-RPC: wrong parameters; an error while it worked."""

MakeSessions = Callable[[Client, Callable[[str, Sequence[Update]], None]], "Sessions"]


class AcpAgent(Client):
    """The agent's side of one connection."""

    def __init__(self, make_sessions: MakeSessions, say: Callable[[str], str]) -> None:
        """`say` translates what an error says."""
        self._say = say
        self._make_sessions = make_sessions
        self._loaded: Sessions | None = None
        self._queue: asyncio.Queue[tuple[str, Update]] = asyncio.Queue()
        self._sender: asyncio.Task[None] | None = None
        self._can_write = False
        self._client: Any = None

    def on_connect(self, conn: Any) -> None:
        """Take the connection."""
        self._client = conn
        self._sender = asyncio.get_running_loop().create_task(self._send_updates())

    async def close(self) -> None:
        """End all sessions."""
        if self._loaded is not None:
            await self._loaded.close()
        if self._sender is not None:
            self._sender.cancel()
            await asyncio.wait({self._sender})

    # -- what the client asks ----------------------------------------------------------------------

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **_: Any,
    ) -> schema.InitializeResponse:
        """Say what this agent can do."""
        fields = client_capabilities.elicitation if client_capabilities is not None else None
        self._can_write = fields is not None and fields.form is not None
        return schema.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_info=schema.Implementation(name="jarvis", title="Jarvis", version=__version__),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                    additional_directories=schema.SessionAdditionalDirectoriesCapabilities(),
                ),
            ),
        )

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
        **_: Any,
    ) -> schema.NewSessionResponse:
        """Begin a session."""
        opened = await self._open_session(cwd, additional_directories, mcp_servers, None)
        return schema.NewSessionResponse(session_id=opened.id, **choices(opened))

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[Any] | None = None,
        additional_directories: list[str] | None = None,
        **_: Any,
    ) -> schema.LoadSessionResponse:
        """Continue a session, and send what was said in it."""
        opened = await self._open_session(cwd, additional_directories, mcp_servers, session_id)
        opened.replay()
        await self._queue.join()
        return schema.LoadSessionResponse(**choices(opened))

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
        **_: Any,
    ) -> schema.ResumeSessionResponse:
        """Continue a session that the client has already."""
        opened = await self._open_session(cwd, additional_directories, mcp_servers, session_id)
        return schema.ResumeSessionResponse(**choices(opened))

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> schema.ListSessionsResponse:
        """List the sessions on disk (of a folder), a page at a time."""
        with self._errors():
            if cursor and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
                raise UsageError("There is no page {cursor}.", cursor=cursor)
            found, end = await self._sessions.list_page(cwd, int(cursor or 0))
        return schema.ListSessionsResponse(
            sessions=[
                schema.SessionInfo(
                    session_id=session.id,
                    cwd=session.folder,
                    title=session.title or None,
                    updated_at=datetime.fromtimestamp(session.updated, timezone.utc).isoformat(),
                )
                for session in found
            ],
            next_cursor=None if end is None else str(end),
        )

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        """End what works in a session, and let others open it."""
        with self._errors():
            await self._sessions.close_session(session_id)
        return schema.CloseSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        """Work on what the user says, until the end."""
        with self._errors():
            opened = self._sessions.find(session_id)
            ended = await opened.prompt(*read_prompt(opened, prompt))
        await self._queue.join()
        if ended.state == "failed":
            raise acp.RequestError(FAILED, ended.error)
        spent = ended.spent
        usage = schema.Usage(
            total_tokens=spent.input + spent.output,
            input_tokens=spent.input,
            output_tokens=spent.output,
            thought_tokens=spent.reasoning,
            cached_read_tokens=spent.cached,
        )
        reason: schema.StopReason = "cancelled" if ended.state == "cancelled" else "end_turn"
        return schema.PromptResponse(stop_reason=reason, usage=usage)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """End what works in a session; its prompt is answered then."""
        with contextlib.suppress(UsageError):  # a notification has no answer
            await self._sessions.find(session_id).cancel()

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_: Any
    ) -> schema.SetSessionModeResponse:
        """Choose how much agents may do without being asked."""
        with self._errors():
            self._sessions.find(session_id).set_mode(mode_id)
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        """Choose the model."""
        with self._errors():
            if config_id != MODEL:
                raise UsageError("There is no option {name}.", name=config_id)
            opened = self._sessions.find(session_id)
            opened.pick_model(str(value))
        return schema.SetSessionConfigOptionResponse(config_options=[model_option(opened)])

    # -- what the agents ask -----------------------------------------------------------------------

    async def choose(self, question: Question) -> str:
        """See `Client`."""
        call = question.call
        if call.is_new:  # it is about no call of the session
            self._queue_updates(question.session, [call])
        await self._queue.join()  # the client knows the call before it is asked about it
        try:
            answer = await self._client.request_permission(
                question.session, *question_to_acp(question)
            )
        except (acp.RequestError, ConnectionError):
            return ""
        finally:
            if call.is_new:
                done = replace(call, state="done", is_new=False)
                self._queue_updates(question.session, [done])
        outcome = answer.outcome
        return outcome.option_id if isinstance(outcome, schema.AllowedOutcome) else ""

    async def write(self, session: str, text: str) -> str:
        """See `Client`; a client that has no field for it is not asked."""
        if not self._can_write:
            return ""
        await self._queue.join()
        field = schema.ElicitationStringPropertySchema(type="string", title=text)
        wanted = schema.ElicitationSchema(properties={"answer": field}, required=["answer"])
        mode = schema.ElicitationFormSessionMode(session_id=session, requested_schema=wanted)
        try:
            answer = await self._client.create_elicitation(text, mode)
        except (acp.RequestError, ConnectionError):
            return ""
        content = getattr(answer, "content", None)
        return str(content.get("answer", "")) if isinstance(content, dict) else ""

    # -- below -------------------------------------------------------------------------------------

    async def _open_session(
        self,
        cwd: str,
        more: Sequence[str] | None,
        servers: Sequence[Any] | None,
        session: str | None,
    ) -> OpenSession:
        with self._errors():
            wanted = [read_server(server) for server in servers or ()]
            opened = await self._sessions.open([cwd, *(more or ())], wanted, session=session)
        asyncio.get_running_loop().call_soon(opened.show_commands)  # after the answer
        return opened

    @property
    def _sessions(self) -> Sessions:
        """Return the sessions, created on first use: that loads the agents."""
        if self._loaded is None:
            self._loaded = self._make_sessions(self, self._queue_updates)
        return self._loaded

    def _queue_updates(self, session: str, updates: Sequence[Update]) -> None:
        for update in updates:
            self._queue.put_nowait((session, update))

    async def _send_updates(self) -> None:
        while True:
            session, update = await self._queue.get()
            try:
                await self._client.session_update(session, to_acp(update))
            except ConnectionError:
                pass  # the client has left; its sessions are closed soon
            except Exception:
                logger.exception("an update was not sent: %s", type(update).__name__)
            finally:
                self._queue.task_done()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Tell the client why something cannot be."""
        try:
            yield
        except JarvisError as error:
            code = INVALID if isinstance(error, UsageError) else FAILED
            raise acp.RequestError(code, self._say(str(error))) from error

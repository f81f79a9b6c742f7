"""Sessions of our agents over the Agent Client Protocol, for Zed, Neovim and other editors.

Everything is asked of `facade.sessions`; here are only names and the protocol. The protocol knows
one agent a session: the tree of agents is in `_meta`, as `_jarvis/tree`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import acp
from acp import schema

from jarvis_ls import __version__
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.facade.session_records import Client, Update
from jarvis_ls.fronts.acp_client import EditorClient
from jarvis_ls.fronts.acp_input import MODEL, choices, model_option, read_prompt, read_server

if TYPE_CHECKING:
    from jarvis_ls.facade.sessions import OpenSession, Sessions

INVALID, FAILED = -32602, -32603
"""Codes of JSON-RPC: wrong parameters; an error while it worked."""

MakeSessions = Callable[[Client, Callable[[str, Sequence[Update]], None]], "Sessions"]


class AcpAgent:
    """The agent's side of one connection."""

    def __init__(self, make_sessions: MakeSessions, say: Callable[[str], str]) -> None:
        """`say` translates what an error says."""
        self._say = say
        self._make_sessions = make_sessions
        self._loaded: Sessions | None = None
        self._client = EditorClient()

    def on_connect(self, conn: Any) -> None:
        """Take the connection."""
        self._client.connect(conn)

    async def close(self) -> None:
        """End all sessions."""
        if self._loaded is not None:
            await self._loaded.close()
        await self._client.close()

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
        self._client.can_write = fields is not None and fields.form is not None
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
        await self._client.flush()
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
        await self._client.flush()
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
            self._loaded = self._make_sessions(self._client, self._client.send)
        return self._loaded

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Tell the client why something cannot be."""
        try:
            yield
        except JarvisError as error:
            code = INVALID if isinstance(error, UsageError) else FAILED
            raise acp.RequestError(code, self._say(str(error))) from error

"""One tool server: what is known of its tools, what the user must look at, and its connection
when there is one (see `mcp`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.llm.platforms.base import ToolSpec
from jarvis_ls.runtime.mcp.config import ServerConfig, prefix_of
from jarvis_ls.runtime.mcp.definitions import (
    Accepted,
    Definition,
    Definitions,
    differences,
    read_definitions,
)
from jarvis_ls.runtime.mcp.link import Link, Lost, shown_text
from jarvis_ls.runtime.tools.consent import Consents, Pending, key_of
from jarvis_ls.runtime.tools.schema_tools import SchemaTool
from jarvis_ls.runtime.tools.tool import Action, ToolContext

MAX_FAILURES = 3
"""Failures in a row after which a server is skipped until someone reconnects it."""
LIST_SECONDS = 60.0
"""Age from which a server's list of tools is examined again before a call."""
UNCONFINED = Words(
    "It is a program that runs outside the sandbox, with your own rights: it can read and change"
    " your files, start programs and use the network, whatever the permissions of agents say. You"
    " are asked only before an agent calls one of its tools."
)
FOREIGN = Words(
    "It runs elsewhere: what agents hand to its tools leaves this machine. You are asked before an"
    " agent calls one of them."
)


State = Literal["idle", "connected", "disabled", "needs_consent", "failed"]


@dataclass(frozen=True, slots=True)
class ServerState:
    """What is the matter with one server, for the user."""

    name: str
    origin: str
    """`user` or `workspace`."""
    start: str
    """Its exact command line, or its URL."""
    state: State
    reason: str = ""
    """Why it is not used, or what of it is left out."""
    tools: tuple[str, ...] = ()
    """Names offered to models."""
    held_back: tuple[str, ...] = ()
    """The server's names of tools that wait for consent because they are new or changed."""


class Server:
    """One server: what is known of its tools, and the connection when there is one."""

    def __init__(
        self,
        config: ServerConfig,
        accepted: Accepted,
        consents: Consents,
        folder: Path | None,
        environment: Mapping[str, str],
    ) -> None:
        self.config = config
        self.failures = 0
        self.prefix = prefix_of(config.name)
        self._file = accepted
        self._consents = consents
        self._folder = folder
        self._environment = environment
        self._accepted: Definitions | None = accepted.read()
        self._now: Definitions | None = None
        self._offered: dict[str, SchemaTool] | None = None
        self._held: list[str] | None = None
        self._left_out: list[str] = []
        self._reason = ""
        self._link: Link | None = None
        self._connecting = asyncio.Lock()
        self._listed_at = 0.0
        self._stale = False

    @property
    def usable(self) -> bool:
        """Return whether it may be connected."""
        return self.config.enabled and self._has_consent and self.failures < MAX_FAILURES

    @property
    def _has_consent(self) -> bool:
        return self.config.origin == "user" or self._consents.given(self.config.key)

    def state(self) -> ServerState:
        """For the user."""
        state: State = "connected" if self._link is not None else "idle"
        reason = "; ".join([*([self._reason] if self._reason else []), *self._left_out])
        if not self.config.enabled:
            state, reason = "disabled", "It is disabled in the settings."
        elif not self._has_consent:
            state, reason = "needs_consent", "Its command was not allowed yet, or has changed."
        elif self.failures >= MAX_FAILURES or (self._reason and self._link is None):
            state = "failed"
        return ServerState(
            self.config.name,
            self.config.origin,
            self.config.start,
            state,
            reason,
            tuple(self.tools()),
            tuple(self._held_back()),
        )

    def tools(self) -> dict[str, SchemaTool]:
        """Return the tools on offer, by the names models see."""
        if not self.usable:
            return {}
        if self._offered is None:
            self._offered = self._offering()
        return self._offered

    def _offering(self) -> dict[str, SchemaTool]:
        if self._accepted is None:
            return {f"{self.prefix}__connect": self._connect_tool()}
        held = self._held_back()
        return {
            definition.offered_as(self.prefix): self._tool(definition)
            for definition in self._accepted.values()
            if definition.name not in held
            and (not self.config.only or definition.name in self.config.only)
            and (self._now is None or definition.name in self._now)
        }

    def pending(self) -> list[Pending]:
        """Return what the user must review."""
        config = self.config
        if not config.enabled:
            return []
        action = self._start()
        if not self._has_consent:
            environment = "".join(f"\n{name}={value}" for name, value in config.env)
            headers = "".join(f"\n{name}: {value}" for name, value in config.headers)
            detail = f"{config.start}{environment}{headers}" + (
                f"\nin {config.cwd}" if config.cwd else ""
            )
            what = together(
                [
                    Words("The workspace wants to use the tool server {name}.", name=config.name),
                    FOREIGN if config.url else UNCONFINED,
                ],
                " ",
            )
            return [
                Pending(config.key, "mcp-server", config.name, what, shown_text(detail), action)
            ]
        if not self._held_back():
            return []
        what = Words("The tool server {name} has changed its tool definitions.", name=config.name)
        detail = differences(self._accepted or {}, self._now or {})
        return [Pending(self._key_of_now(), "mcp-tools", config.name, what, detail, action)]

    def refresh(self) -> None:
        """Use what was consented to since."""
        if self._now is not None and self._held_back() and self._consents.given(self._key_of_now()):
            self._accept(self._now)

    async def connected(self) -> Link:
        """Return the connection, made when there is none. Raises `JarvisError` with the reason."""
        async with self._connecting:
            self._check_usable()
            if self._link is None or self._link.ended:
                await self._drop()
                self._link = Link(self.config, self._folder, self._environment, self._mark_stale)
                self._stale = True
                try:
                    await self._link.open()
                except Lost as lost:
                    raise await self._given_up(self._link, lost) from None
            loop = asyncio.get_running_loop()
            if self._stale or loop.time() - self._listed_at > LIST_SECONDS:
                await self._list(self._link)
                self._listed_at = loop.time()
            return self._link

    async def close(self) -> None:
        """Disconnect."""
        async with self._connecting:
            await self._drop()

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Call the server's tool and return its result. Raise `JarvisError`."""
        link = await self.connected()
        if name in self._held_back():
            raise JarvisError(
                (
                    "The tool server {name} has changed the definition of {tool} since it was "
                    "accepted; it is blocked until the user has reviewed it. Nothing was run."
                ),
                name=self.config.name,
                tool=name,
            )
        if self._now is not None and name not in self._now:
            raise JarvisError(
                "The tool server {name} no longer has {tool}.", name=self.config.name, tool=name
            )
        try:
            text = await link.call(name, arguments)
        except Lost as lost:
            async with self._connecting:
                problem = await self._given_up(link, lost)
            raise JarvisError("{tool} gave no result. {why}", tool=name, why=problem) from None
        self.failures = 0
        self._reason = ""
        return text

    async def _list(self, link: Link) -> None:
        self._stale = False
        try:
            listed = await link.list()
        except Lost as lost:
            raise await self._given_up(link, lost) from None
        self._now, self._left_out = read_definitions(listed)
        self._look_anew()
        self._reason = ""
        if self._accepted is None or self._consents.given(self._key_of_now()):
            self._accept(self._now)

    async def _given_up(self, link: Link, lost: Lost) -> JarvisError:
        """Disconnect; what to tell of it, with the server's own last words.

        Of several calls that lost the same connection only the first counts.
        """
        if self._link is not link:
            return JarvisError(self._reason or _lost_words(self.config.name, lost))
        self.failures += 1
        self._link = None
        said = await link.close()
        self._reason = _lost_words(self.config.name, lost)
        if said:
            self._reason = Words(
                "{why} Its output:\n{said}", why=self._reason, said=shown_text(said)
            )
        return JarvisError(self._reason)

    def _accept(self, definitions: Definitions) -> None:
        self._accepted = definitions
        self._look_anew()
        try:
            self._file.write(definitions)
        except JarvisError as error:  # they hold for this session
            self._left_out.append(str(error))

    def _held_back(self) -> list[str]:
        if self._held is None:
            self._held = []
            if self._now is not None and self._accepted is not None:
                old = {definition.name: definition.key for definition in self._accepted.values()}
                self._held = [
                    n for n, definition in self._now.items() if old.get(n) != definition.key
                ]
        return self._held

    def _look_anew(self) -> None:
        """Invalidate the cached lists of offered and withheld tools."""
        self._offered = self._held = None

    def _key_of_now(self) -> str:
        keys = sorted(definition.key for definition in (self._now or {}).values())
        return key_of("mcp-tools", self.config.key, keys)

    def _mark_stale(self) -> None:
        self._stale = True

    def _check_usable(self) -> None:
        if not self.config.enabled:
            raise JarvisError(
                "The tool server {name} is disabled in the settings.", name=self.config.name
            )
        if not self._has_consent:
            raise JarvisError(
                "The tool server {name} of the workspace was not allowed by the user; "
                "nothing was started.",
                name=self.config.name,
            )
        if self.failures >= MAX_FAILURES:
            raise JarvisError(
                "The tool server {name} failed {failures} times and is skipped: {why}",
                name=self.config.name,
                failures=self.failures,
                why=self._reason,
            )

    async def _drop(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    def _start(self) -> Action:
        """Return the action of connecting."""
        return Action("execute" if self.config.command else "connect", self.config.start)

    def _tool(self, definition: Definition) -> SchemaTool:
        async def run(_: ToolContext, arguments: dict[str, Any]) -> str:
            told = await self.call(definition.name, arguments)
            return f"(material from {self.config.name})\n{told}"

        description = (
            f"{definition.description}\n(From the tool server {self.config.name}.)".strip()
        )
        spec = ToolSpec(definition.offered_as(self.prefix), description, definition.schema)
        place = f"mcp://{self.prefix}/{spec.name[len(self.prefix) + 2 :]}"
        action = Action("connect", place if self.config.command else self.config.url)
        wait = self.config.timeout + self.config.connect_timeout + 5
        return SchemaTool(spec, run, lambda _: [action], wait, checked=False)

    def _connect_tool(self) -> SchemaTool:
        async def run(_: ToolContext, __: dict[str, Any]) -> str:
            await self.connected()
            names = ", ".join(self.tools()) or "none"
            return Words(
                "Connected to {name}. Its tools can be called now: {tools}.",
                name=self.config.name,
                tools=names,
            )

        spec = ToolSpec(
            f"{self.prefix}__connect",
            f"Connect to the tool server {self.config.name} and learn which tools it has.",
            {"type": "object", "properties": {}, "additionalProperties": False},
        )
        return SchemaTool(spec, run, lambda _: [self._start()], self.config.connect_timeout + 5)


def _lost_words(name: str, lost: Lost) -> Words:
    return Words("The tool server {name} {lost}.", name=name, lost=lost)

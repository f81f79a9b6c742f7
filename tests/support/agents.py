"""Agents over the scripted model server: real HTTP, real sessions, real files."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.runtime.agent.agent import Agent
from jarvis_ls.runtime.agent.core import AgentParts
from jarvis_ls.runtime.base.events import (
    AnswerEntry,
    Entry,
    EntryPut,
    Event,
    Feed,
    NodeInfo,
    NoticeEntry,
    ToolEntry,
    UserEntry,
)
from jarvis_ls.runtime.base.messages import Message, to_json
from jarvis_ls.runtime.base.options import read_options
from jarvis_ls.runtime.llm.model_group import ModelGroup, Patience
from jarvis_ls.runtime.llm.platforms.base import ModelInfo
from jarvis_ls.runtime.llm.platforms.openai import OpenAICompatible
from jarvis_ls.runtime.llm.providers import Candidate, Provider
from jarvis_ls.runtime.session.session import Session
from jarvis_ls.runtime.session.store import SessionStore
from jarvis_ls.runtime.tools.interaction import Interaction, Next, NonInteractive, Review
from jarvis_ls.runtime.tools.permissions import Answer, Asked
from jarvis_ls.runtime.tools.tool import Tool, ToolContext, Tools, Toolset
from tests.support.model_server import ModelServer
from tests.support.patience import HANGS, PATIENT

QUICK = Patience(first_wait=0.02, longest_wait=1.0)


class Person(Interaction):
    """Someone who answers as the test says, and remembers what was asked."""

    def __init__(self) -> None:
        self.permits: list[Asked] = []
        self.answer = Answer(True)
        self.questions: list[str] = []
        self.words: list[str] = []
        """Answers to questions, in order; empty when there are none left."""
        self.next: list[tuple[Next, str]] = []
        """What to do after answers; `complete` when there are none left."""

    async def permit(self, node: str, call: str, asked: Asked) -> Answer:
        self.permits.append(asked)
        return self.answer

    async def review(self, node: str, call: str, edits: Sequence[Any]) -> Review:
        return Review.all_of(edits)

    async def question(
        self, node: str, text: str, choices: Sequence[str] = (), default: str = ""
    ) -> str:
        self.questions.append(text)
        return self.words.pop(0) if self.words else default

    async def next_action(self, node: str) -> tuple[Next, str]:
        return self.next.pop(0) if self.next else ("complete", "")


@dataclass
class Desk:
    """A model server, and agents that ask it."""

    server: ModelServer
    folder: Path
    session: Session
    platform: OpenAICompatible
    feed: Feed = field(default_factory=Feed)
    events: list[Event] = field(default_factory=list)

    def group(self, *, patience: Patience = QUICK, **model: Any) -> ModelGroup:
        """A group of one model, with what is known of it."""
        provider = Provider("p", base=self.server.url)
        candidate = Candidate(provider, ModelInfo("m", **model), "key")
        return ModelGroup([candidate], lambda _: self.platform, patience=patience)

    def agent(
        self,
        *tools: Tool,
        toolset: Toolset | None = None,
        person: Interaction | None = None,
        model: dict[str, Any] | None = None,
        node: NodeInfo | None = None,
        options: dict[str, Any] | None = None,
        **more: Any,
    ) -> Agent:
        """An agent with these tools."""
        return Agent(
            read_options(options or {}, environment={}),
            AgentParts(
                group=more.pop("group", None) or self.group(**(model or {})),
                toolset=toolset or Tools(tools),
                context=ToolContext((self.folder,), trusted=True),
                interaction=person or NonInteractive(),
                feed=self.feed,
                session=self.session,
                node=node or NodeInfo("n", None, "root", "Jarvis"),
                **more,
            ),
        )

    def entries(self, kind: type[Any]) -> list[Any]:
        """Entries of a kind as they are shown now, in order."""
        shown: dict[str, Entry] = {}
        for event in self.feed.snapshot(self.session.id):
            if isinstance(event, EntryPut):
                shown[event.entry.id] = event.entry
        return [entry for entry in shown.values() if isinstance(entry, kind)]

    @property
    def notices(self) -> str:
        """What the runtime said."""
        return "\n".join(entry.text for entry in self.entries(NoticeEntry))

    @property
    def calls(self) -> list[ToolEntry]:
        """Tool calls as they are shown."""
        return self.entries(ToolEntry)

    @property
    def answers(self) -> list[AnswerEntry]:
        """Answers as they are shown."""
        return self.entries(AnswerEntry)

    @property
    def said(self) -> list[UserEntry]:
        """What the user said, as it is shown."""
        return self.entries(UserEntry)

    def messages(self, node: str = "n") -> list[Message]:
        """The conversation as it is kept."""
        return self.session.messages(node)

    def asked(self, number: int = -1) -> list[dict[str, Any]]:
        """Messages of a request, the system prompt left out."""
        posts = [r for r in self.server.requests if "messages" in r.body]
        found: list[dict[str, Any]] = posts[number].body["messages"][1:]
        return found

    def system(self, number: int = -1) -> str:
        """System prompt of a request."""
        posts = [r for r in self.server.requests if "messages" in r.body]
        return str(posts[number].body["messages"][0]["content"])


@contextlib.asynccontextmanager
async def desk(folder: Path) -> AsyncIterator[Desk]:
    """A desk that works in this folder."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    session = SessionStore(folder / "home").create(str(workspace))
    async with ModelServer() as server:
        platform = OpenAICompatible(server.url, "key", deadlines=PATIENT)
        one = Desk(server, workspace.resolve(), session, platform)
        one.feed.observe(one.events.append)
        try:
            yield one
        finally:
            await platform.close()
            session.close()


async def until(condition: Callable[[], Any], seconds: float = HANGS) -> None:
    """Wait for something to become true. Raises `AssertionError` when it does not."""
    end = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < end, "it never became true"
        await asyncio.sleep(0.005)


def block(name: str, arguments: dict[str, Any]) -> str:
    """A call in the text form."""
    body = json.dumps({"want": "it", "name": name, "arguments": arguments})
    return f"<TOOL_CALL>\n{body}\n</TOOL_CALL>"


def plain(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages without what differs from run to run."""
    found = []
    for message in messages:
        data = to_json(message)
        for gone in ("id", "call_id", "usage", "model", "thinking", "finish"):
            data.pop(gone, None)
        for call in data.get("tool_calls", ()):
            call.pop("id")
        found.append(data)
    return found

"""A tree of real agents over real HTTP: each answers what the test wrote for its name.

An agent's name is the first word in square brackets of its conversation: `[root]`, `[a]`, ….
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.agents.node import Node, TreeSettings
from jarvis_ls.agents.tools.steer_agent import steer_agent
from jarvis_ls.agents.tools.sub_agent import SERVICE, sub_agent
from jarvis_ls.agents.tree import Tree
from jarvis_ls.runtime.agent.agent import Agent
from jarvis_ls.runtime.agent.core import AgentParts
from jarvis_ls.runtime.base.events import Event, Feed, NodePut
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.base.options import AgentOptions
from jarvis_ls.runtime.llm.model_group import ModelGroup, Patience
from jarvis_ls.runtime.llm.platforms.base import ModelInfo
from jarvis_ls.runtime.llm.platforms.openai import OpenAICompatible
from jarvis_ls.runtime.llm.providers import Candidate, Provider
from jarvis_ls.runtime.session.session import Session
from jarvis_ls.runtime.session.store import SessionStore
from jarvis_ls.runtime.tools.interaction import Interaction, NonInteractive
from jarvis_ls.runtime.tools.tool import Tool, ToolContext, Tools
from tests.support.model_server import Answer, Asked, ModelServer, chunk, usage
from tests.support.patience import HANGS

DONE = "!!!COMPLETE!!!"
PRICES = ModelInfo("scripted", input_price=2.0, output_price=10.0, cached_price=2.0)


class Person(NonInteractive):
    """Answers questions as the test says, and keeps what was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = deque(answers)
        self.asked: list[tuple[str, str, tuple[str, ...]]] = []

    async def question(
        self, node: str, text: str, choices: Sequence[str] = (), default: str = ""
    ) -> str:
        self.asked.append((node, text, tuple(choices)))
        await asyncio.sleep(0)
        answer = self.answers.popleft() if self.answers else default
        return choices[int(answer)] if answer.isdigit() else answer


class World:
    """One session with its tree, its model and its user."""

    def __init__(
        self,
        folder: Path,
        server: ModelServer,
        session: Session,
        *,
        tools: Sequence[Tool] = (),
        person: Interaction | None = None,
        settings: TreeSettings | None = None,
    ) -> None:
        self.folder = folder
        self.server = server
        self.session = session
        self.feed = Feed()
        self.events: list[Event] = []
        self.feed.observe(self.events.append)
        self.scripts: dict[str, deque[Answer | Callable[[], Answer]]] = defaultdict(deque)
        self.reported = Usage()
        """What the server said that everything cost."""
        self.person = person or NonInteractive()
        self.tools = Tools([sub_agent, steer_agent, *tools])
        server.decide = self._decide
        self.platform = OpenAICompatible(server.url, "key")
        provider = Provider("p", base=server.url)
        self.group = ModelGroup(
            [Candidate(provider, PRICES, "key")],
            lambda _: self.platform,
            patience=Patience(first_wait=0.05, longest_wait=0.5),
        )
        self.made: dict[str, Agent] = {}
        self.tree = Tree(session, self.feed, self._make, interaction=self.person, settings=settings)

    def on(self, name: str, *answers: Answer | Callable[[], Answer]) -> None:
        """What the agent with this name answers, in turn."""
        self.scripts[name] += answers

    def states(self, node: str) -> list[str]:
        """The states people saw a node in, in order, without repetition."""
        seen: list[str] = []
        for event in self.events:
            if not isinstance(event, NodePut) or event.node.id != node:
                continue
            if not seen or seen[-1] != event.node.state:
                seen.append(event.node.state)
        return seen

    def asked_by(self, name: str) -> list[Asked]:
        """The requests of an agent."""
        return [asked for asked in self.server.requests if name_of(asked) == name]

    def child(self, title: str) -> Node:
        """The node with a title."""
        return next(node for node in self.tree.walk() if node.info.title == title)

    async def close(self) -> None:
        """End everything."""
        await self.tree.close()
        await self.platform.close()
        self.session.close()

    def _make(self, node: Node) -> Agent:
        if node.id not in self.made:
            self.made[node.id] = self._new(node)
        return self.made[node.id]

    def _new(self, node: Node) -> Agent:
        context = ToolContext((self.folder,), services={SERVICE: self.tree})
        return Agent(
            AgentOptions(auto_complete=True),
            AgentParts(
                group=self.tree.metered(node, self.group),
                toolset=self.tree.allowed(node, self.tools),
                context=context,
                interaction=self.tree.person(node),
                feed=self.feed,
                session=self.session,
                node=node.info,
                guard=self.tree.guard(node),
                keeper=node,
            ),
        )

    def _decide(self, asked: Asked) -> Answer | None:
        script = self.scripts.get(name_of(asked))
        if not script:
            return None
        answer = script.popleft()
        answer = answer() if callable(answer) else answer
        for piece in answer.chunks:
            if isinstance(piece, dict) and (counted := piece.get("usage")):
                counts = (counted["prompt_tokens"], counted["completion_tokens"])
                cached = counted["prompt_tokens_details"]["cached_tokens"]
                reasoning = counted["completion_tokens_details"]["reasoning_tokens"]
                spent = Usage(*counts, cached, reasoning)
                self.reported = self.reported + spent + Usage(cost=PRICES.price(spent))
        return answer


@contextlib.asynccontextmanager
async def world(
    folder: Path, session: Session | None = None, **options: Any
) -> AsyncIterator[World]:
    """A world, closed at the end; nothing of it may survive."""
    before = asyncio.all_tasks()
    folder.mkdir(exist_ok=True)
    async with ModelServer() as server:
        made = World(
            folder, server, session or SessionStore(folder / "home").create(folder), **options
        )
        try:
            yield made
        finally:
            await made.close()
    left = {task for task in asyncio.all_tasks() - before if not task.done()}
    assert not left, left


def name_of(asked: Asked) -> str:
    """The name of the agent that asks."""
    for message in asked.body["messages"]:
        if message["role"] == "user" and (
            found := re.search(r"\[(\w+)\]", str(message["content"]))
        ):
            return found[1]
    return ""


def say(text: str, *, prompt: int = 11, answer: int = 7, **how: Any) -> Answer:
    """An answer that completes the task."""
    pieces = [chunk({"content": part}) for part in (text, f" {DONE}")]
    return Answer([*pieces, chunk({}, "stop"), usage(prompt, answer)], **how)


def call(*calls: tuple[str, dict[str, Any]], prompt: int = 11, answer: int = 7) -> Answer:
    """An answer that calls tools."""
    chunks = [
        chunk(
            {
                "tool_calls": [
                    {
                        "index": index,
                        "id": f"c{index}",
                        "type": "function",
                        "function": {"name": name, "arguments": json.dumps(arguments)},
                    }
                ]
            }
        )
        for index, (name, arguments) in enumerate(calls)
    ]
    return Answer([*chunks, chunk({}, "tool_calls"), usage(prompt, answer)])


def delegate(name: str, **more: Any) -> tuple[str, dict[str, Any]]:
    """A call that gives the agent `name` a task."""
    return "sub_agent", {"task": f"[{name}] do it", "title": name, **more}


def near(spent: Usage) -> Any:
    """The same usage, whatever the order its costs were added in."""
    counts = (spent.input, spent.output, spent.cached, spent.reasoning)
    return _Near(counts, pytest.approx(spent.cost, rel=1e-9, abs=1e-12))


class _Near:
    def __init__(self, counts: tuple[int, ...], cost: Any) -> None:
        self.counts = counts
        self.cost = cost

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Usage):
            return NotImplemented
        counts = (other.input, other.output, other.cached, other.reasoning)
        return counts == self.counts and bool(other.cost == self.cost)

    def __repr__(self) -> str:
        return f"near({self.counts}, {self.cost})"


async def until(condition: Callable[[], bool], seconds: float = HANGS) -> None:
    """Wait until something is so."""

    async def so() -> None:
        while not condition():
            await asyncio.sleep(0.005)

    await asyncio.wait_for(so(), seconds)

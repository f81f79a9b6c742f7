"""What an agent adds to the time of its model: `python tests/bench/agent.py`.

The overhead of a turn is measured with a model inside the process that answers at once, so that
nothing but our own work is counted: prompts, journal, events, tokens; in processor time, so that
other work on the machine does not count. Stopping is measured over real HTTP, in the middle of an
answer and of a tool, by the clock.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from jarvis_ls.runtime.agent.agent import Agent  # noqa: E402
from jarvis_ls.runtime.agent.core import AgentParts  # noqa: E402
from jarvis_ls.runtime.base.events import EntryGrew, Feed, NodeInfo  # noqa: E402
from jarvis_ls.runtime.base.messages import Assistant, Usage, User  # noqa: E402
from jarvis_ls.runtime.base.options import read_options  # noqa: E402
from jarvis_ls.runtime.llm.model_group import ModelGroup  # noqa: E402
from jarvis_ls.runtime.llm.platforms.base import (  # noqa: E402
    Delta,
    FinishDelta,
    ModelInfo,
    Platform,
    Request,
    TextDelta,
    UsageDelta,
)
from jarvis_ls.runtime.llm.providers import Candidate, Provider  # noqa: E402
from jarvis_ls.runtime.session.session import Session  # noqa: E402
from jarvis_ls.runtime.session.store import SessionStore  # noqa: E402
from jarvis_ls.runtime.tools.interaction import NonInteractive  # noqa: E402
from jarvis_ls.runtime.tools.tool import ToolContext, Tools, tool  # noqa: E402
from jarvis_ls.tools.discover import builtin_tools  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.support.agents import desk, until  # noqa: E402

TURNS = 200
LONG = 2_000
STOPS = 20
CHUNKS = 2_000


class AtOnce(Platform):
    """A model inside the process."""

    name = "at-once"

    def __init__(self) -> None:
        self.pieces = 3

    async def stream(self, model: ModelInfo, request: Request) -> AsyncIterator[Delta]:
        for number in range(self.pieces):
            yield TextDelta(f"piece {number} ")
        yield UsageDelta(Usage(1_000, 3))
        yield FinishDelta("stop")

    async def models(self) -> list[str]:
        return ["m"]


@tool()
async def wait_long(context: ToolContext) -> str:
    """Wait."""
    await asyncio.sleep(60)
    return "never"


def agent_of(platform: Platform, session: Session, folder: Path, feed: Feed) -> Agent:
    """An agent that asks this platform."""
    candidate = Candidate(Provider("p"), ModelInfo("m", window=10_000_000), "key")
    return Agent(
        read_options({}, environment={}),
        AgentParts(
            group=ModelGroup([candidate], lambda _: platform),
            toolset=Tools([wait_long, *builtin_tools()]),
            context=ToolContext((folder,), trusted=True),
            interaction=NonInteractive(),
            feed=feed,
            session=session,
            node=NodeInfo("n", None, "root", "Jarvis"),
        ),
    )


async def turns(folder: Path, before: int) -> list[float]:
    """Milliseconds of each turn, in a conversation that had `before` messages."""
    session = SessionStore(folder / f"home-{before}").create(str(folder))
    for number in range(before // 2):
        session.append("n", User(f"question {number} " + "word " * 40))
        session.append("n", Assistant(f"answer {number} " + "word " * 80))
    agent = agent_of(AtOnce(), session, folder, Feed())
    await agent.run("the first turn builds the prompts")
    found = []
    for number in range(TURNS):
        began = time.process_time()
        assert (await agent.run(f"question {number}")).state == "completed"
        found.append((time.process_time() - began) * 1_000)
    session.close()
    return found


async def streaming(folder: Path) -> float:
    """Microseconds from a piece of an answer to the event that shows it, on average."""
    session = SessionStore(folder / "home-stream").create(str(folder))
    feed, seen = Feed(), [0]

    def count(event: object) -> None:
        if isinstance(event, EntryGrew):
            seen[0] += 1

    feed.observe(count)
    platform = AtOnce()
    platform.pieces = CHUNKS
    agent = agent_of(platform, session, folder, feed)
    began = time.perf_counter()
    await agent.run("stream")
    took = time.perf_counter() - began
    assert seen[0] == CHUNKS
    session.close()
    return took / CHUNKS * 1e6


async def stops(folder: Path, in_tool: bool) -> list[float]:
    """Milliseconds from `stop` to the end of the turn."""
    found = []
    async with desk(folder) as d:
        agent = d.agent(wait_long)
        for _ in range(STOPS):
            d.server.answers.clear()
            if in_tool:
                d.server.call("wait_long", {})
            else:
                d.server.say("This goes on and on", stall_after=2)
            calls, answers = len(d.calls), len(d.answers)
            running = asyncio.ensure_future(agent.run("go"))
            await until(lambda: len(d.calls) > calls or len(d.answers) > answers)  # noqa: B023
            began = time.perf_counter()
            agent.stop()
            await running
            found.append((time.perf_counter() - began) * 1_000)
    return found


async def measure(folder: Path) -> int:
    """Print the table; 1 when a target is missed."""
    table = Table("What an agent adds")
    short, long = await turns(folder, 0), await turns(folder, LONG)
    table.at_most("own time of a turn without tools, median", statistics.median(short), 5, "ms")
    table.at_most(f"the same after {LONG} messages, median", statistics.median(long), 15, "ms")
    table.at_most("from a piece of an answer to its event", await streaming(folder), 500, "µs")
    for name, in_tool in (("an answer", False), ("a tool", True)):
        (folder / name).mkdir()
        slowest = max(await stops(folder / name, in_tool))
        table.at_most(f"stop to silent in {name}, longest of {STOPS}", slowest, 200, "ms")
    return table.finish()


def main() -> int:
    """Measure in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(measure(Path(folder).resolve()))


if __name__ == "__main__":
    sys.exit(main())

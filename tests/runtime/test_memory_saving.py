"""The three events: a model is asked to save once for each task, and no fault stops the task."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from jarvis_ls.runtime.agent.hooks import BeforeHistoryClear, Hooks, TaskCompleted, TaskStarted
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.memory.memory import Memory
from jarvis_ls.runtime.memory.saving import MemorySaving
from jarvis_ls.runtime.tools.tool import ToolContext, Tools
from jarvis_ls.tools.clear_memory import clear_memory
from jarvis_ls.tools.retrieve_memory import retrieve_memory
from jarvis_ls.tools.save_memory import save_memory

NO_AGENT = cast(Any, None)
STARTED = TaskStarted(NO_AGENT, "do it")
CLEARED = BeforeHistoryClear(NO_AGENT)
COMPLETED = TaskCompleted(NO_AGENT, "done")


class Agent:
    """Counts how often its model was asked."""

    def __init__(self, *, force: bool, tools: tuple[str, ...] = ("save_memory",)) -> None:
        self.asked: list[str] = []
        self.told: list[str] = []
        self.runs: tuple[str, ...] = ("save_memory",)
        self.hooks = Hooks()
        self.saving = MemorySaving(
            ask=self._ask, tools=lambda: tools, force=force, notify=self.told.append
        )
        self.end = self.saving.listen(self.hooks)

    async def _ask(self, text: str) -> tuple[str, ...]:
        self.asked.append(text)
        return self.runs


async def test_forced_saving_asks_once_for_each_task() -> None:
    agent = Agent(force=True)
    await agent.hooks.emit(STARTED)
    assert agent.asked == []
    await agent.hooks.emit(CLEARED)
    assert len(agent.asked) == 1 and "save_memory" in agent.asked[0] and agent.saving.prompted
    await agent.hooks.emit(COMPLETED)
    assert len(agent.asked) == 1
    await agent.hooks.emit(STARTED)
    assert not agent.saving.prompted
    await agent.hooks.emit(COMPLETED)
    assert len(agent.asked) == 2
    assert agent.told == ["Saved to memory."] * 2


async def test_nothing_is_asked_unless_it_is_forced_or_wished() -> None:
    agent = Agent(force=False)
    for event in (STARTED, CLEARED, COMPLETED):
        await agent.hooks.emit(event)
    assert agent.asked == []
    agent.runs = ()
    assert await agent.saving.save() is False
    assert agent.told == ["Nothing in this task was worth saving to memory."]


async def test_without_the_tool_nothing_is_asked() -> None:
    agent = Agent(force=True, tools=("retrieve_memory",))
    await agent.hooks.emit(COMPLETED)
    assert agent.asked == [] and await agent.saving.save() is False


async def test_a_fault_does_not_stop_the_task(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent(force=True)

    async def fail(_: str) -> tuple[str, ...]:
        raise RuntimeError("no network")

    agent.saving._ask = fail
    await agent.hooks.emit(STARTED)
    await agent.hooks.emit(COMPLETED)
    assert "the task continues" in caplog.text


async def test_it_stops_listening() -> None:
    agent = Agent(force=True)
    agent.end()
    await agent.hooks.emit(COMPLETED)
    assert agent.asked == []


async def test_the_guide_names_tools_and_tags(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    assert await memory.guide([]) == ""
    empty = await memory.guide(["save_memory", "retrieve_memory"])
    assert "project_long_term" in empty and "Tags" not in empty
    await memory.save("global_long_term", "x", ["ninja", "c++"])
    await memory.save("global_long_term", "y", ["ninja"])
    guide = memory.guide_now(["retrieve_memory"])
    assert "save_memory" not in guide and "Tags of what is remembered: ninja (2), c++ (1)" in guide
    assert guide == await Memory(tmp_path).guide(["retrieve_memory"])


class Caller:
    def __init__(self, tmp_path: Path) -> None:
        (tmp_path / "p").mkdir()
        self.memory = Memory(tmp_path / "h", tmp_path / "p", trusted=True)
        self.context = ToolContext((tmp_path / "p",), "s", services={"memory": self.memory})
        self.tools = Tools([save_memory, retrieve_memory, clear_memory])

    async def __call__(self, name: str, **arguments: Any) -> ToolResult:
        return await self.tools.run(ToolCall("1", name, arguments), self.context)


async def test_the_tools_save_find_and_forget(tmp_path: Path) -> None:
    call = Caller(tmp_path)
    saved = await call("save_memory", memory_type="project_long_term", content="A b", tags=["t"])
    assert not saved.is_error and "Saved as" in saved.text
    await call("save_memory", memory_type="short_term", content="now", tags=[])
    found = await call("retrieve_memory")
    assert "A b" in found.text and "now" in found.text
    assert "A b" not in (await call("retrieve_memory", memory_types=["short_term"])).text
    assert (await call("retrieve_memory", query="zzz")).text == "No memories match."
    assert "Deleted memories" in (await call("clear_memory", memory_types=["all"])).text
    assert "No memories match" in (await call("clear_memory", memory_types=["all"])).text
    (call.memory.folder_of("project_long_term").path / "x.json").write_text("{")
    assert "Left out: x.json (no JSON)" in (await call("retrieve_memory")).text


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("save_memory", {"memory_type": "other", "content": "x", "tags": []}),
        ("save_memory", {"memory_type": "short_term", "content": " ", "tags": []}),
        ("save_memory", {"memory_type": "short_term", "content": "x"}),
        (
            "save_memory",
            {"memory_type": "project_long_term", "content": "x", "tags": [], "directory": "../x"},
        ),
        ("clear_memory", {}),
        ("clear_memory", {"memory_types": []}),
        ("retrieve_memory", {"memory_types": ["nowhere"]}),
    ],
)
async def test_wrong_arguments_are_answers(
    tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    result = await Caller(tmp_path)(name, **arguments)
    assert result.is_error and result.text


async def test_without_a_memory_the_tools_say_so() -> None:
    tools = Tools([save_memory, retrieve_memory, clear_memory])
    calls = [
        ToolCall("1", "save_memory", {"memory_type": "short_term", "content": "x", "tags": []}),
        ToolCall("2", "retrieve_memory", {}),
        ToolCall("3", "clear_memory", {"memory_types": ["all"]}),
    ]
    for result in await tools.run_all(calls, ToolContext(())):
        assert result.is_error and "There is no memory" in result.text


def test_forgetting_what_lasts_is_asked() -> None:
    actions = clear_memory.actions({"memory_types": ["short_term", "global_long_term"]})
    assert [(a.kind, a.target) for a in actions] == [("write", "memory:global_long_term")]
    assert len(clear_memory.actions({"memory_types": ["all"]})) == 2
    assert clear_memory.actions({"memory_types": ["short_term"]}) == []

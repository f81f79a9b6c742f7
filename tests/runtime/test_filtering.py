"""Fewer tools: a cheap model chooses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.runtime.agent.hooks import BeforeToolFilter, Hooks, ToolFiltered
from jarvis_ls.runtime.agent.tool_filter import chosen
from jarvis_ls.runtime.llm.platforms.base import ToolSpec
from jarvis_ls.runtime.tools.tool import Tool
from tests.support.agents import Desk, desk

NAMES = [f"tool_{n}" for n in range(1, 7)]


def tools() -> list[Tool]:
    async def run(context: Any) -> str:
        return "ran"

    schema = {"type": "object", "properties": {}}
    return [Tool(ToolSpec(n, f"Does {n}.\nMore.", schema), run, lambda _: []) for n in NAMES]


async def filtered(d: Desk, answer: str | int, threshold: int = 3) -> tuple[list[str], list[Any]]:
    hooks: Hooks = Hooks()
    events: list[Any] = []
    hooks.subscribe(BeforeToolFilter, events.append)
    hooks.subscribe(ToolFiltered, events.append)
    if isinstance(answer, str):
        d.server.say(answer)
    else:
        d.server.refuse(answer)
    d.server.say("Done.")
    agent = d.agent(*tools(), hooks=hooks, options={"tool_filter_threshold": threshold})
    assert (await agent.run("the task")).state == "completed"
    return [t["function"]["name"] for t in d.server.requests[-1].body["tools"]], events


async def test_below_the_threshold_nobody_is_asked(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        names, events = await filtered(d, "Hello.", threshold=6)
        assert names == NAMES and events == [] and len(d.server.requests) == 1


async def test_above_it_the_chosen_tools_stay(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        names, (before, after) = await filtered(d, "2, 5")
        question = d.server.requests[0].body["messages"]
    assert names == ["tool_2", "tool_5"] and (before.total, before.threshold) == (6, 3)
    assert after.selected == ("tool_2", "tool_5")
    assert "the task" in question[0]["content"] and "2. tool_2: Does tool_2." in str(question)
    assert "More." not in str(question) and "2 of 6 tools were selected" in d.notices


@pytest.mark.parametrize("answer", ["I think 2 and 5", "none", "99, 100", 400])
async def test_any_other_answer_leaves_all(tmp_path: Path, answer: str | int) -> None:
    async with desk(tmp_path) as d:
        names, (_, after) = await filtered(d, answer)
    assert names == NAMES and after.selected == () and "all are used" in d.notices


async def test_what_was_not_chosen_cannot_be_called(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("1")
        d.server.call("tool_2", {})
        d.server.say("Done.")
        await d.agent(*tools(), options={"tool_filter_threshold": 3}).run("go")
        assert "Unknown tool 'tool_2'" in str(d.asked())


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("1", ["tool_1"]),
        (" 3,1 , 1 ", ["tool_1", "tool_3"]),
        ("[2, 4]", ["tool_2", "tool_4"]),
        ("1、2，3", NAMES[:3]),
        ("2\n4", ["tool_2", "tool_4"]),
        ("0, 7, 6", ["tool_6"]),
        ("", []),
        ("1 and 2", []),
        ("tool_1", []),
        ("-1", []),
        ("1.5", []),
        ("9" * 99, []),
    ],
)
def test_numbers_are_read_strictly(answer: str, names: list[str]) -> None:
    assert chosen(answer, NAMES) == names

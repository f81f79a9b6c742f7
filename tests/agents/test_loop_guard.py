"""Repetition is seen, polling is not taken for it; first the model is told, then the user asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ls.agents.loop_guard import GO_ON, STOP, LoopGuard, Watch
from jarvis_ls.runtime.agent.guard import Halted
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.tools.tool import Tool, ToolContext, tool
from tests.agents.world import Person, call, delegate, say, world


def seen(*calls: tuple[str, str] | tuple[str, str, bool]) -> list[str]:
    """What is said of calls, each `name(arguments)` with its result; True marks an error."""
    watch = Watch()
    found = []
    for written, result, *error in calls:
        name, _, arguments = written.partition("(")
        made = ToolCall("x", name, {"a": arguments})
        found.append(watch.add(made, ToolResult("x", name, result, is_error=bool(error))))
    return found


def test_the_same_call_three_times() -> None:
    assert seen(*[("read(x", "text")] * 2) == ["", ""]
    [first, second, third, fourth] = seen(*[("read(x", "text")] * 4)
    assert (first, second) == ("", "")
    assert "same call of read" in third and fourth == third


def test_two_calls_in_turn() -> None:
    a, b = ("read(x", "1"), ("test(y", "2")
    *before, last = seen(a, b, a, b)
    assert before == ["", "", ""] and "in turn" in last
    assert seen(b, a, a, b) == [""] * 4


def test_the_same_error_three_times_with_other_arguments() -> None:
    found = seen(
        ("read(x", "text"),
        ("edit(1", "line 12: no such text at 0xff", True),
        ("edit(2", "line 7: no such  text at 0x1a", True),
        ("read(x", "text"),
        ("edit(3", "Line 31: no such text at 0x1", True),
    )
    assert found[:4] == [""] * 4 and "same error" in found[4]


@pytest.mark.parametrize(
    "calls",
    [
        [("poll(job", f"{n} % done") for n in range(20)],
        [
            ("run(make", "error in a.c", True),
            ("edit(a", "ok 1"),
            ("run(make", "error in a.c", True),
            ("edit(b", "ok 2"),
            ("run(make", "error in a.c", True),
        ],
        [
            ("read(missing1.c", "there is no missing1.c", True),
            ("read(missing2.c", "there is no missing2.c", True),
            ("read(missing3.c", "there is no missing3.c", True),
        ],
        [(f"read({n}", "same text") for n in range(10)],
        [
            ("test(", "1 failed"),
            ("edit(a", "done"),
            ("test(", "1 failed"),
            ("edit(b", "done"),
            ("test(", "1 failed"),
        ],
        [("wait(", "busy"), ("wait(", "busy"), ("wait(", "ready"), ("wait(", "busy")],
    ],
)
def test_work_is_no_repetition(calls: list[tuple[str, str]]) -> None:
    assert not any(seen(*calls))


def test_arguments_are_compared_whatever_their_order() -> None:
    watch = Watch()
    for arguments in ({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1}):
        assert not watch.add(ToolCall("x", "t", arguments), ToolResult("x", "t", "r"))
    assert watch.add(ToolCall("y", "t", {"a": 1, "b": [1, 2]}), ToolResult("y", "t", "r"))


def test_calls_that_could_not_be_parsed_repeat_too() -> None:
    watch = Watch()
    results = [
        watch.add(ToolCall("x", "t", {}, raw="{bad"), ToolResult("x", "t", "r", is_error=True))
        for _ in range(3)
    ]
    assert results[:2] == ["", ""] and results[2]


async def look(guard: LoopGuard, result: str, *, times: int = 1, ask: bool = True) -> list[str]:
    notes = []
    for _ in range(times):
        if ask:
            await guard.before_model_call(None)  # type: ignore[arg-type]
        notes.append(await guard.look(ToolCall("x", "t", {}), ToolResult("x", "t", result)))
    return notes


async def test_the_model_is_told_once_then_the_user_is_asked() -> None:
    person = Person(GO_ON, STOP)
    guard = LoopGuard("n", lambda: "Finder", person)
    notes = await look(guard, "r", times=3)
    assert notes[:2] == ["", ""] and notes[2].startswith("Note: you have made the same call of t")
    assert await look(guard, "r") == [""]
    assert person.asked == [
        (
            "n",
            "“Finder” is in a loop: the same call of t with the same result 3 times. Continue?",
            (GO_ON, STOP),
        )
    ]
    assert (await look(guard, "r", times=3))[2].startswith("Note")  # all begins anew
    with pytest.raises(Halted, match="in a loop"):
        await look(guard, "r")


async def test_calls_of_one_answer_do_not_count_as_going_on() -> None:
    person = Person()
    guard = LoopGuard("n", lambda: "x", person)
    notes = await look(guard, "r", times=6, ask=False)
    assert [bool(n) for n in notes] == [False, False, True, False, False, False]
    assert not person.asked


async def test_something_new_ends_the_suspicion() -> None:
    person = Person()
    guard = LoopGuard("n", lambda: "x", person)
    await look(guard, "r", times=3)
    assert await look(guard, "new") == [""]
    assert [bool(n) for n in await look(guard, "r", times=3)] == [False, False, True]
    assert not person.asked


async def test_what_was_seen_before_does_not_end_it() -> None:
    guard = LoopGuard("n", lambda: "x", Person())
    await look(guard, "old")
    await look(guard, "r", times=3)
    await look(guard, "old")
    await look(guard, "r", times=2)
    with pytest.raises(Halted):
        await look(guard, "r")


def stuck() -> Tool:
    @tool(independent=True)
    async def stuck_tool(context: ToolContext) -> str:
        """Say the same."""
        return "the same"

    return stuck_tool


async def test_an_agent_in_a_loop_fails_where_nobody_is(tmp_path: Path) -> None:
    async with world(tmp_path, tools=[stuck()]) as w:
        w.on("root", call(delegate("a")), say("a could not"))
        w.on("a", *(call(("stuck_tool", {})) for _ in range(9)))
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "a could not"
        child = w.child("a")
        assert child.state == "failed"
        assert child.info.error.startswith("It was in a loop: the same call of stuck_tool")
        assert len(w.asked_by("a")) == 4
        told = w.asked_by("a")[3].body["messages"][-1]
        assert "Note: you have made the same call" in told["content"]
        told = w.asked_by("root")[1].body["messages"][-1]
        assert "in a loop" in told["content"]


async def test_the_user_may_let_it_go_on(tmp_path: Path) -> None:
    async with world(tmp_path, tools=[stuck()], person=Person(GO_ON)) as w:
        w.on("root", *(call(("stuck_tool", {})) for _ in range(6)), say("done"))
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "done"


async def test_what_the_user_asks_for_again_is_no_repetition(tmp_path: Path) -> None:
    person = Person()
    async with world(tmp_path, tools=[stuck()], person=person) as w:
        for _ in range(6):
            w.on("root", call(("stuck_tool", {})), say("still the same"))
            w.tree.send("[root] look again")
            assert (await w.tree.wait("root")).text == "still the same"
        assert "Note:" not in str(w.asked_by("root")[-1].body["messages"])
        assert not person.asked

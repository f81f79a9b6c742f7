"""Budgets hold before the call, also for agents in parallel; the user may raise them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.agents.budget import NO_LIMIT, STOP
from jarvis_ls.agents.errors import ConstraintBroken
from jarvis_ls.agents.node import Assignment, TreeSettings
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.tools.tool import ToolContext, tool
from tests.agents.world import PRICES, Person, call, delegate, near, say, until, world
from tests.support.model_server import Answer, chunk, usage


@tool(independent=True)
async def number(context: ToolContext, n: int) -> str:
    """Give the number back.

    Args:
        n: The number.
    """
    return str(n)


def count(n: int, **how: Any) -> Answer:
    return call(("number", {"n": n}), **how)


def limits(tokens: int | None = None, cost: float | None = None) -> TreeSettings:
    return TreeSettings(budget=Budget(tokens, cost))


async def test_the_user_is_asked_before_the_call_that_would_exceed(tmp_path: Path) -> None:
    person = Person("0", STOP)
    async with world(tmp_path, tools=[number], person=person, settings=limits(tokens=5_000)) as w:
        w.on("root", *(count(n, prompt=1_500, answer=300) for n in range(9)))
        w.tree.send("[root] go")
        ending = await w.tree.wait("root")
        assert ending.state == "failed"
        assert "The budget of “Jarvis” is 10,000 tokens" in ending.error
        root = w.tree.root.info
        assert root.budget == Budget(tokens=10_000)
        assert root.usage.input + root.usage.output <= 10_000
        assert root.usage == near(w.reported)
        [(node, text, choices), _] = person.asked
        assert node == "root"
        assert choices == ("Allow 5,000 tokens more", NO_LIMIT, STOP)
        assert "3,600 tokens is used" in text


async def test_nobody_there_means_stop_with_what_there_is(tmp_path: Path) -> None:
    async with world(tmp_path, tools=[number]) as w:
        w.on("root", call(delegate("a", tokens=4_000)), say("it got so far"))
        first = count(1, prompt=3_000)
        first.chunks.insert(0, chunk({"role": "assistant", "content": "The bug is in line 7."}))
        w.on("a", first, say("never"))
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "it got so far"
        child = w.child("a")
        assert child.state == "failed"
        assert "budget of “a”" in child.info.error
        told = str(w.asked_by("root")[-1].body["messages"])
        assert "The bug is in line 7." in told


async def test_a_cost_budget(tmp_path: Path) -> None:
    person = Person("0", NO_LIMIT)
    async with world(tmp_path, tools=[number], person=person, settings=limits(cost=0.02)) as w:
        w.on("root", *(count(n, prompt=3_000, answer=100) for n in range(6)), say("done"))
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "done"
        assert person.asked[0][2][0] == "Allow 0.0200 in cost more"
        assert len(person.asked) == 2
        assert w.tree.root.info.budget == Budget()
        assert w.tree.root.info.usage.cost == pytest.approx(w.reported.cost)
        assert w.reported.cost == pytest.approx(
            PRICES.price(Usage(w.reported.input, w.reported.output))
        )


async def test_parallel_children_share_the_budget_and_one_question(tmp_path: Path) -> None:
    person = Person(STOP)
    names = [f"c{n}" for n in range(4)]
    async with world(tmp_path, tools=[number], person=person, settings=limits(tokens=20_000)) as w:
        w.on("root", call(*(delegate(name) for name in names)))
        for name in names:
            w.on(name, *(count(n, prompt=1_000, answer=100) for n in range(20)))
        w.tree.send("[root] go")
        ending = await w.tree.wait("root")
        assert ending.state == "failed"
        assert len(person.asked) == 1  # asked once, for all
        spent = w.tree.root.info.subtree
        assert 15_000 < spent.input + spent.output <= 20_000
        assert w.tree.root.held.tokens == 0
        assert {w.child(name).state for name in names} == {"failed"}


async def test_calls_under_way_are_waited_for_before_anyone_is_asked(tmp_path: Path) -> None:
    person = Person()
    async with world(tmp_path, person=person) as w:
        node = w.tree.add("root", Assignment("[p] both", budget=Budget(tokens=4_100)))
        w.on("p", call(delegate("a"), delegate("b"), prompt=700), say("both", prompt=700))
        w.on("a", say("a", prompt=700, answer=10, delay=0.1))
        w.on("b", say("b", prompt=700, answer=10, delay=0.1))
        w.tree.start(node.id)
        assert (await w.tree.wait(node.id)).state == "completed"
        assert not person.asked
        assert node.held.tokens == 0


async def test_a_raised_budget_lets_those_who_wait_go_on(tmp_path: Path) -> None:
    asked = asyncio.Event()
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    class Slow(Person):
        async def question(self, *question: Any, **more: Any) -> str:
            self.asked.append(question)  # type: ignore[arg-type]
            asked.set()
            return await answer

    person = Slow()
    async with world(tmp_path, tools=[number], person=person, settings=limits(tokens=3_000)) as w:
        w.on("root", count(1, prompt=2_500), say("done"))
        w.tree.send("[root] go")
        await asked.wait()
        w.tree.set_budget("root", Budget(tokens=50_000))  # in the panel, while the question stands
        answer.set_result(STOP)
        assert (await w.tree.wait("root")).text == "done"
        assert w.tree.root.info.budget == Budget(tokens=50_000)


async def test_after_a_refusal_the_next_turn_asks_again(tmp_path: Path) -> None:
    person = Person(STOP, "0")
    async with world(tmp_path, tools=[number], person=person, settings=limits(tokens=3_000)) as w:
        w.on("root", count(1, prompt=2_500), say("done"))
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).state == "failed"
        w.tree.send("go on")
        assert (await w.tree.wait("root")).text == "done"


async def test_the_offer_is_enough_for_the_call(tmp_path: Path) -> None:
    person = Person("0")
    async with world(tmp_path, person=person, settings=limits(tokens=10)) as w:
        w.on("root", say("done"))
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "done"
        assert len(person.asked) == 1


async def test_a_cancelled_question_leaves_no_trace(tmp_path: Path) -> None:
    class Never(Person):
        async def question(self, *question: Any, **more: Any) -> str:
            self.asked.append(question)  # type: ignore[arg-type]
            return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    person = Never()
    async with world(tmp_path, person=person, settings=limits(tokens=10)) as w:
        w.on("root", say("done"))
        w.tree.send("[root] go")
        await until(lambda: bool(person.asked))
        await w.tree.cancel("root")
        assert w.tree.root.held.tokens == 0
        assert not w.tree.root.asking.locked()
        w.tree.set_budget("root", Budget())
        w.tree.send("again")
        assert (await w.tree.wait("root")).text == "done"


async def test_requests_that_break_off_are_counted_too(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        broken = [chunk({"content": "x"}), usage(100, 10)]
        w.on("root", Answer(broken, done=False), say("done"))
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "done"
        assert w.reported.input == 111
        assert w.tree.root.info.usage == near(w.reported)
        assert w.session.spent() == near(w.reported)
        assert w.tree.root.held.tokens == 0


@pytest.mark.parametrize("budget", [Budget(tokens=-1), Budget(cost=float("nan"))])
async def test_budgets_make_sense(tmp_path: Path, budget: Budget) -> None:
    async with world(tmp_path) as w:
        with pytest.raises(ConstraintBroken, match="Invalid budget"):
            w.tree.set_budget("root", budget)
        with pytest.raises(ConstraintBroken, match="Invalid budget"):
            w.tree.add("root", Assignment("x", budget=budget))


async def test_a_provider_that_reports_nothing_is_not_free_of_limits(tmp_path: Path) -> None:
    async with world(tmp_path, tools=[number], settings=limits(tokens=6_000)) as w:
        answers = [count(n) for n in range(60)]
        for answer in answers:
            del answer.chunks[-1]
        w.on("root", *answers)
        w.tree.send("[root] go")
        ending = await w.tree.wait("root")
        assert "The budget of “Jarvis” is 6,000 tokens" in ending.error
        assert 2 < len(w.server.requests) < 30
        assert w.tree.root.info.subtree == Usage()  # nothing is shown that nobody reported


async def test_refused_requests_cost_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, settings=limits(tokens=6_000)) as w:
        busy = [Answer(status=429, headers={"retry-after": "0"}, body=b"{}") for _ in range(4)]
        w.on("root", *busy, say("done"))
        w.tree.send("[root] go")
        assert (await w.tree.wait("root")).text == "done"
        assert w.tree.root.guessed.tokens == 0

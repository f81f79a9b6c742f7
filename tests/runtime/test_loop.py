"""The rounds of an agent, over real HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.runtime.agent.hooks import (
    AfterModelCall,
    AfterSummary,
    AfterToolCall,
    BeforeModelCall,
    BeforeSummary,
    BeforeToolCall,
    Hooks,
    InterruptTriggered,
    TaskCompleted,
    TaskStarted,
)
from jarvis_ls.runtime.base.events import EntryGrew, MeterPut, NodePut
from jarvis_ls.runtime.base.messages import Assistant, ToolResult, User
from jarvis_ls.runtime.llm.model_group import Patience
from jarvis_ls.runtime.tools.current_call import current_call
from jarvis_ls.runtime.tools.tool import ToolContext, tool
from tests.support.agents import Desk, Person, desk, until
from tests.support.model_server import Answer, chunk, usage

RAN: list[str] = []


@tool(independent=True)
async def look(context: ToolContext, what: str) -> str:
    """Look at something.

    Args:
        what: At what.
    """
    RAN.append(what)
    return f"saw {what}"


@tool()
async def hand_over(context: ToolContext, to: str) -> str:
    """Hand the work over to someone."""
    call = current_call()
    assert call is not None
    call.need_return = True
    return f"handed over to {to}"


@tool()
async def wait_long(context: ToolContext) -> str:
    """Wait."""
    RAN.append("began")
    await asyncio.sleep(60)
    RAN.append("ended")
    return "never"


async def test_tools_run_until_the_model_has_an_answer(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("look", {"what": "a"})
        d.server.call("look", {"what": "b"})
        d.server.say("It is b.")
        agent = d.agent(look)
        outcome = await agent.run("what is it?")
    assert (outcome.state, outcome.text) == ("completed", "It is b.")
    assert [m.text for m in d.messages() if isinstance(m, ToolResult)] == ["saw a", "saw b"]
    assert [(c.name, c.state, c.output) for c in d.calls] == [
        ("look", "done", "saw a"),
        ("look", "done", "saw b"),
    ]
    assert agent.tool_calls.counts == {"look": 2} and agent.tool_calls.last == "look"
    assert agent.node.rounds == 3


async def test_usage_is_what_the_provider_reported(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("look", {"what": "a"})
        d.server.say("Done.")
        agent = d.agent(look, model={"input_price": 1.0, "output_price": 2.0})
        outcome = await agent.run("go")
        assert (outcome.usage.input, outcome.usage.output) == (22, 14)
        assert outcome.usage.cost > 0
        assert d.session.spent("n") == outcome.usage == agent.spent
        again = await _say(d, agent, "more")
    assert (again.usage.input, agent.spent.input) == (11, 33)


async def test_events_of_the_bus_come_in_order(tmp_path: Path) -> None:
    hooks, seen = Hooks(), []
    for kind in (
        TaskStarted,
        BeforeModelCall,
        AfterModelCall,
        BeforeToolCall,
        AfterToolCall,
        BeforeSummary,
        AfterSummary,
        TaskCompleted,
    ):
        hooks.subscribe(kind, lambda event: seen.append(type(event).__name__))
    async with desk(tmp_path) as d:
        d.server.call("look", {"what": "a"})
        d.server.say("Done.")
        d.server.say("I looked at a.")
        agent = d.agent(look, hooks=hooks, options={"need_summary": True})
        outcome = await agent.run("go")
    assert outcome.text == "I looked at a."
    assert seen == [
        "TaskStarted",
        "BeforeModelCall",
        "AfterModelCall",
        "BeforeToolCall",
        "AfterToolCall",
        "BeforeModelCall",
        "AfterModelCall",
        "BeforeSummary",
        "BeforeModelCall",
        "AfterModelCall",
        "AfterSummary",
        "TaskCompleted",
    ]


async def test_a_task_without_a_wished_summary_gives_the_last_answer(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("Done.")
        outcome = await d.agent().run("go")
        assert outcome.text == "Done." and len(d.server.requests) == 1


async def test_the_mark_completes_an_agent_that_completes_itself(tmp_path: Path) -> None:
    person = Person()
    person.next = [("continue", "must not be asked")]
    async with desk(tmp_path) as d:
        d.server.say("All done.\n!!!COMPLETE!!!")
        agent = d.agent(person=person, options={"auto_complete": True})
        outcome = await agent.run("go")
        assert "!!!COMPLETE!!!" in str(d.asked())
    assert outcome.text == "All done." and person.next
    assert [a.text for a in d.answers] == ["All done."]


async def test_who_does_not_complete_itself_asks_how_to_go_on(tmp_path: Path) -> None:
    person = Person()
    person.next = [("continue", "now b"), ("continue", ""), ("complete", "")]
    async with desk(tmp_path) as d:
        for text in ("a done !!!COMPLETE!!!", "b done", "c done"):
            d.server.say(text)
        outcome = await d.agent(person=person).run("a")
        assert outcome.text == "c done"
        said = [m["content"] for m in d.asked() if m["role"] == "user"]
    assert "now b" in said and "Go on." in said
    assert [u.text for u in d.said] == ["a", "now b", "Go on."]


async def test_the_mark_beside_a_call_does_not_end_the_task(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call_all([("look", {"what": "a"})], text="!!!COMPLETE!!!")
        d.server.say("Really done. !!!COMPLETE!!!")
        outcome = await d.agent(look, options={"auto_complete": True}).run("go")
    assert outcome.text == "Really done." and len(d.calls) == 1


async def test_a_tool_may_end_the_turn(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call_all([("hand_over", {"to": "bob"}), ("look", {"what": "x"})])
        d.server.say("must not be asked for")
        RAN.clear()
        outcome = await d.agent(hand_over, look).run("go")
        assert outcome.text == "handed over to bob" and RAN == []
        assert len(d.server.requests) == 1
    assert [c.state for c in d.calls] == ["done", "cancelled"]
    assert len([m for m in d.messages() if isinstance(m, ToolResult)]) == 2


async def test_the_model_is_reminded_of_its_tools(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for number in range(7):
            d.server.call("look", {"what": str(number)})
        d.server.say("Done.")
        await d.agent(look, options={"tool_reminder_rounds": 3}).run("go")
        reminders = [
            number
            for number in range(8)
            if sum("Reminder of how tools" in str(m["content"]) for m in d.asked(number))
        ]
        last = [m for m in d.asked() if "Reminder of how tools" in str(m["content"])]
    assert reminders == [2, 3, 4, 5, 6, 7] and len(last) == 2


async def test_no_reminder_when_it_is_not_wanted(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for number in range(4):
            d.server.call("look", {"what": str(number)})
        d.server.say("Done.")
        await d.agent(look, options={"tool_reminder_rounds": 0}).run("go")
        assert "Reminder" not in str(d.asked())


async def test_the_addon_prompt_is_told_once_and_again_when_it_changes(tmp_path: Path) -> None:
    remembered = ["Tags: a"]
    async with desk(tmp_path) as d:
        for _ in range(3):
            d.server.say("Yes.")
        agent = d.agent(look, memory=lambda: remembered[0])
        await agent.run("one")
        await agent.run("two")
        before = str(d.asked()).count("Tags: ")
        remembered[0] = "Tags: a, b"
        await agent.run("three")
        assert before == 1 and str(d.asked()).count("Tags: ") == 2
        assert (
            str(d.asked()).count("function interface") == 1
        )  # what did not change is not repeated


async def test_rounds_have_a_limit(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for number in range(5):
            d.server.call("look", {"what": str(number)})
        outcome = await d.agent(look, options={"max_rounds": 3}).run("go")
    assert outcome.state == "failed" and "3 rounds" in outcome.text


async def test_what_is_said_meanwhile_is_read_before_the_next_question(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("look", {"what": "a"}, delay=0.05)
        d.server.say("I saw both.")
        agent = d.agent(look)
        running = asyncio.ensure_future(agent.run("look at a"))
        await until(lambda: d.server.requests)
        id = agent.say("and at b")
        assert [u.queued for u in d.said] == [False, True]
        await running
        last = d.asked()
    assert last[-1]["content"] == "and at b" and last[-2]["role"] == "tool"
    assert [u.queued for u in d.said] == [False, False]
    assert id in [getattr(m, "id", "") for m in d.messages()]


async def test_what_is_said_during_the_last_answer_is_still_read(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("Done with a.", delay=0.05)
        d.server.say("Done with b.")
        agent = d.agent()
        running = asyncio.ensure_future(agent.run("a"))
        await until(lambda: d.server.requests)
        agent.say("b")
        assert (await running).text == "Done with b."


async def test_redirecting_ends_the_answer_and_goes_on_with_the_new_words(tmp_path: Path) -> None:
    hooks, seen = Hooks(), []
    hooks.subscribe(InterruptTriggered, lambda event: seen.append(event.text))
    async with desk(tmp_path) as d:
        d.server.say("I will write a very long poem", pieces=4, stall_after=2)
        d.server.say("Short then.")
        agent = d.agent(hooks=hooks)
        running = asyncio.ensure_future(agent.run("write"))
        await until(lambda: d.answers and d.answers[0].text)
        agent.redirect("make it short")
        outcome = await running
        await until(lambda: d.server.dropped)
        asked = d.asked()
    assert outcome.text == "Short then." and seen == ["make it short"]
    assert asked[-1]["content"] == "make it short"
    assert "stopped the answer here" in asked[-2]["content"]
    assert not any(a.streaming for a in d.answers)


async def test_redirecting_ends_a_tool(tmp_path: Path) -> None:
    RAN.clear()
    async with desk(tmp_path) as d:
        d.server.call("wait_long", {})
        d.server.say("All right.")
        agent = d.agent(wait_long)
        running = asyncio.ensure_future(agent.run("wait"))
        await until(lambda: RAN)
        agent.redirect("do not wait")
        outcome = await running
    assert outcome.text == "All right." and RAN == ["began"]
    assert [c.state for c in d.calls] == ["cancelled"]


async def test_an_interrupted_agent_asks_what_to_do(tmp_path: Path) -> None:
    person = Person()
    person.words = ["say hello"]
    async with desk(tmp_path) as d:
        d.server.say("long", stall_after=1)
        d.server.say("Hello.")
        agent = d.agent(person=person)
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: d.answers)
        agent.interrupt()
        assert (await running).text == "Hello."
    assert "interrupted" in person.questions[0]


async def test_an_interrupted_agent_hands_back_when_nothing_is_said(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("long", stall_after=1)
        agent = d.agent(person=Person())
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: d.answers)
        agent.interrupt()
        assert (await running).state == "cancelled"


async def test_a_paused_agent_holds_still_and_goes_on(tmp_path: Path) -> None:
    RAN.clear()
    async with desk(tmp_path) as d:
        d.server.call("look", {"what": "a"}, delay=0.03)
        d.server.say("Done.")
        agent = d.agent(look)
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: d.server.requests)
        agent.pause()
        assert agent.node.state == "paused"
        await until(lambda: [m for m in d.messages() if isinstance(m, Assistant)])
        await asyncio.sleep(0.05)
        assert RAN == [] and not running.done()
        agent.resume()
        assert (await running).text == "Done." and RAN == ["a"]
    states = [e.node.state for e in d.events if isinstance(e, NodePut)]
    assert states.index("paused") < len(states) - 1 - states[::-1].index("running")


async def test_a_paused_agent_can_be_stopped(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("Hi.", delay=0.03)
        agent = d.agent()
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: d.server.requests)
        agent.pause()
        agent.stop()
        assert (await running).state == "cancelled"


async def test_an_answer_that_reached_its_limit_is_gone_on_with(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for part in ("One, two, ", "three, "):
            d.server.add(Answer([chunk({"content": part}), chunk({}, "length"), usage()]))
        d.server.say("four.")
        outcome = await d.agent().run("count")
        assert outcome.text == "One, two, three, four."
        assert d.asked()[-1]["content"].startswith("Your answer reached its limit")
        assert outcome.usage.output == 21
    assert [a.text for a in d.answers] == ["One, two, three, four."]
    assert [m.text for m in d.messages() if isinstance(m, Assistant)] == [outcome.text]


async def test_a_call_that_reached_the_limit_is_told_at_once(tmp_path: Path) -> None:
    RAN.clear()
    async with desk(tmp_path) as d:
        d.server.call_all([("look", {"what": "a"})], text="I look.").chunks[-2] = chunk(
            {}, "length"
        )
        d.server.say("I will do without.")
        outcome = await d.agent(look).run("go")
        said, told = d.asked()[-2:]
        assert len(d.server.requests) == 2  # it is not asked again unchanged
    assert said["content"] == "I look."
    assert "call of look was not complete" in told["content"] and "smaller" in told["content"]
    assert outcome.text == "I will do without." and RAN == []


async def test_an_answer_that_only_thought_until_its_limit_is_told_so(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        thought = chunk({"reasoning_content": "Hm. " * 50})
        d.server.add(Answer([thought, chunk({}, "length"), usage()]))
        d.server.say("Short.")
        assert (await d.agent().run("go")).text == "Short."
        assert "Think less" in d.asked()[-1]["content"] and len(d.server.requests) == 2


async def test_calls_that_reach_the_limit_again_and_again_end_in_words(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for _ in range(3):
            d.server.call("look", {"what": "a"}).chunks[-2] = chunk({}, "length")
        outcome = await d.agent(look).run("go")
    assert outcome.state == "failed" and "limit" in outcome.text
    assert len(d.server.requests) == 3


async def test_empty_answers_end_in_words_for_the_user(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for _ in range(9):
            d.server.say("")
        outcome = await d.agent().run("go")
    assert outcome.state == "failed" and "empty" in outcome.text
    assert "Retrying the model" in d.notices


async def test_a_wrong_key_is_said_and_the_conversation_goes_on(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.refuse(401, message="bad key")
        agent = d.agent()
        outcome = await agent.run("go")
        assert outcome.state == "failed" and "key" in outcome.text
        assert agent.node.state == "failed" and agent.node.error == outcome.text
        d.server.say("Now it works.")
        assert (await agent.run("again")).text == "Now it works."
        assert [m["content"] for m in d.asked() if m["role"] == "user"][::2][0] == "go"


async def test_waits_are_shown(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.refuse(429, {"retry-after": "0.05"}, "slow down")
        d.server.say("Hi.")
        assert (await d.agent().run("go")).text == "Hi."
    assert "Waiting" in d.notices and "slow down" in d.notices


async def test_the_meter_says_how_full_the_context_is(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("look", {"what": "x" * 400})
        d.server.say("Done.")
        agent = d.agent(look, rules="<rules>\nBe brief, always.\n</rules>")
        await agent.run("go")
    meters = [e.meter for e in d.events if isinstance(e, MeterPut)]
    assert set(meters[-1].parts) == {"system", "rules", "tools", "memory", "files", "history"}
    assert meters[-1].window == 128_000 and meters[-1].parts["rules"] > 0
    assert meters[0].parts["files"] == 0 < meters[-1].parts["files"]


async def test_thinking_is_shown_and_not_sent_back(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("Four.", thinking="two and two")
        d.server.say("Five.")
        agent = d.agent()
        await agent.run("2+2")
        await agent.run("2+3")
        assert "two and two" not in str(d.asked())
    assert d.answers[0].thinking == "two and two"


async def test_a_finished_conversation_can_be_gone_on_with_in_another_process(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as d:
        d.server.say("I am Jarvis.")
        await d.agent().run("who are you?")
        d.server.say("As I said.")
        await d.agent().run("again?")
        said = [m["content"] for m in d.asked() if m["role"] in ("user", "assistant")]
    assert said[0] == "who are you?" and "I am Jarvis." in said
    assert isinstance(d.messages()[0], User)


async def _say(d: Desk, agent: Any, text: str) -> Any:
    d.server.say("Yes.")
    return await agent.run(text)


async def test_an_answer_that_broke_off_is_asked_again_and_stands_once(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("This one breaks off in the middle", cut_after=2)
        d.server.say("This one is whole.")
        outcome = await d.agent().run("go")
    assert outcome.text == "This one is whole."
    assert [a.text for a in d.answers] == ["This one is whole."]
    assert [m.text for m in d.messages() if isinstance(m, Assistant)] == ["This one is whole."]
    # Whoever adds up what streamed in sees the same: the second attempt begins at 0.
    assert [e.at for e in d.events if isinstance(e, EntryGrew)].count(0) == 2


@pytest.mark.parametrize(
    ("finish", "answers", "said"), [("content_filter", 1, "cut off"), ("length", 9, "complete")]
)
async def test_an_answer_that_is_not_whole_is_said_to_be_so(
    tmp_path: Path, finish: str, answers: int, said: str
) -> None:
    async with desk(tmp_path) as d:
        for _ in range(answers):
            d.server.add(Answer([chunk({"content": "Part. "}), chunk({}, finish), usage()]))
        outcome = await d.agent().run("go")
    assert outcome.state == "completed" and outcome.text.startswith("Part.")
    assert said in d.notices


async def test_of_an_answer_in_one_enormous_piece_nothing_is_kept(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        piece = chunk({"content": "y" * 20_000_000})
        for _ in range(3):
            d.server.add(Answer([piece, chunk({}, "stop"), usage()]))
        agent = d.agent()
        d.server.say("Shorter.")
        assert (await agent.run("go")).text == "Shorter."
        assert "longer than" in d.notices
        d.server.say("And the next.")
        assert (await agent.run("go on")).text == "And the next."
    assert all(len(r.raw) < 1_000_000 for r in d.server.requests)
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) < 1_000_000


async def test_no_network_ends_in_words(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        patience = Patience(attempts=2, first_wait=0.01, longest_wait=0.1)
        agent = d.agent(group=d.group(patience=patience))
        await d.server.__aexit__()
        outcome = await agent.run("go")
        assert outcome.state == "failed" and "could not be reached" in outcome.text
        assert "Waiting" in d.notices and not any(a.streaming for a in d.answers)
        assert d.messages()[0].text == "go"


async def test_an_answer_that_is_only_thinking_is_no_answer(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for _ in range(3):
            d.server.say("", thinking="hm")
        d.server.say("Yes.")
        assert (await d.agent().run("go")).text == "Yes."


async def test_stop_ends_a_wait_for_the_model(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.refuse(429, {"retry-after": "50"}, "slow down")
        patience = Patience(first_wait=0.01, longest_wait=60)
        agent = d.agent(group=d.group(patience=patience))
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: "Waiting" in d.notices)
        agent.stop()
        assert (await running).state == "cancelled"
        assert len(d.server.requests) == 1


async def test_stop_ends_a_question_to_the_user(tmp_path: Path) -> None:
    class Silent(Person):
        async def next_action(self, node: str) -> Any:
            await asyncio.sleep(60)

    async with desk(tmp_path) as d:
        d.server.say("Hello.")
        agent = d.agent(person=Silent())
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: agent.node.activity == "waiting for the user")
        agent.stop()
        assert (await running).state == "cancelled"

"""Room in a full context: what is replaced, and what never is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ls.runtime.agent.compaction import NO_SUMMARY, goal_text, shrunk
from jarvis_ls.runtime.agent.hooks import AfterHistoryClear, BeforeHistoryClear, Hooks
from jarvis_ls.runtime.agent.user_input import Command, Commands, Inputs
from jarvis_ls.runtime.base.messages import Assistant, Message, ToolCall, ToolResult, User
from jarvis_ls.runtime.llm.token_estimate import Counter, estimate, of_messages
from jarvis_ls.runtime.tools.tool import ToolContext, tool
from jarvis_ls.tools.update_plan import update_plan
from tests.support.agents import desk, until

RULES = "<rules>\nNever touch vendor/.\n</rules>"


@tool(independent=True)
async def read(context: ToolContext, size: int) -> str:
    """Read."""
    return "x" * size


async def test_a_full_context_is_summarised(tmp_path: Path) -> None:
    hooks, seen = Hooks(), []
    for kind in (BeforeHistoryClear, AfterHistoryClear):
        hooks.subscribe(kind, lambda event: seen.append(type(event).__name__))
    async with desk(tmp_path) as d:
        d.server.call("read", {"size": 8_000})
        d.server.call("read", {"size": 8_000})
        d.server.say("Read two files; the bug is in b.c:7.")
        d.server.say("Mended.")
        agent = d.agent(read, hooks=hooks, model={"window": 3_000}, rules=RULES)
        outcome = await agent.run("Mend the bug, and keep the API.")
        asked, summary = d.asked(), d.asked(-2)
    assert outcome.text == "Mended." and seen == ["BeforeHistoryClear", "AfterHistoryClear"]
    assert asked[0]["content"].count("Mend the bug, and keep the API.") == 1
    assert "the bug is in b.c:7" in asked[0]["content"]
    assert str(asked).count("x") < 3_500  # of what was read only what no answer had seen yet
    assert RULES in d.system() and d.system() == d.system(0)
    assert "about to be replaced" in summary[-1]["content"]
    assert "Reminder" not in str(asked) and "function interface" in str(asked[-1])
    whole = d.session.transcript("n")
    assert sum(len(m.text) for m in whole if isinstance(m, ToolResult)) == 16_000
    assert "replaced by a summary" in d.notices


async def test_the_model_can_ask_for_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("read", {"size": 100})
        d.server.say("<!!!SUMMARY!!!>")
        d.server.say("First part: done.")
        d.server.say("Second part: done too.")
        outcome = await d.agent(read).run("two parts")
        asked = d.asked()
    assert outcome.text == "Second part: done too."
    assert "First part: done." in asked[0]["content"] and "two parts" in asked[0]["content"]
    assert "<!!!SUMMARY!!!>" not in "".join(a.text for a in d.answers)


async def test_the_mark_in_a_last_answer_still_ends_the_task(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("All done. <!!!SUMMARY!!!>")
        d.server.say("It was done.")
        assert (await d.agent().run("go")).text == "All done."


async def test_a_call_beside_the_mark_is_run_before_the_summary(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call_all([("read", {"size": 5})], text="<!!!SUMMARY!!!>")
        d.server.say("Read it.")
        d.server.say("Good.")
        assert (await d.agent(read).run("go")).text == "Good."
        assert "xxxxx" in str(d.asked(1)) and "Read it." in str(d.asked(2))
    assert [c.state for c in d.calls] == ["done"]


@pytest.mark.parametrize("answers", ["empty", "refused"])
async def test_a_summary_that_fails_stops_nothing(tmp_path: Path, answers: str) -> None:
    async with desk(tmp_path) as d:
        d.server.call("read", {"size": 30_000})
        for _ in range(6):
            if answers == "empty":
                d.server.say("")
            else:
                d.server.refuse(400, message="no")
        if answers == "refused":
            for _ in range(4):
                d.server.answers.pop()
        d.server.say("I look again.")
        outcome = await d.agent(read, model={"window": 4_000}).run("go on")
        assert NO_SUMMARY in d.asked()[0]["content"]
    assert outcome.text == "I look again." and "The summary failed" in d.notices


async def test_who_calls_a_tool_in_place_of_a_summary_is_asked_once_more(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("read", {"size": 30_000})
        d.server.call("read", {"size": 7})
        d.server.say("What was read.")
        d.server.say("Good.")
        outcome = await d.agent(read, model={"window": 4_000}).run("go on")
        assert "What was read." in d.asked()[0]["content"]
    assert outcome.text == "Good." and len(d.calls) == 1 and "The summary failed" not in d.notices


async def test_without_any_summary_the_user_is_told(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("read", {"size": 30_000})
        d.server.call("read", {"size": 7})
        d.server.say("!!!COMPLETE!!!")
        d.server.say("I look again.")
        outcome = await d.agent(read, model={"window": 4_000}).run("go on")
        assert NO_SUMMARY in d.asked()[0]["content"]
    assert outcome.text == "I look again." and "The summary failed" in d.notices


async def test_a_context_the_provider_refuses_is_shortened(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("read", {"size": 100})
        d.server.refuse(400, code="context_length_exceeded", message="too many tokens")
        d.server.say("Read something.")
        d.server.say("Good.")
        assert (await d.agent(read).run("go")).text == "Good."
        assert "Read something." in d.asked()[0]["content"]


async def test_a_context_that_stays_too_long_ends_in_words(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.refuse(400, code="context_length_exceeded", message="too many tokens")
        d.server.say("Nothing.")
        d.server.refuse(400, code="context_length_exceeded", message="too many tokens")
        outcome = await d.agent().run("go")
    assert outcome.state == "failed" and "too long" in outcome.text


async def test_a_task_that_fills_the_window_alone_does_not_go_round(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("It is long.")
        d.server.say("I see.")
        outcome = await d.agent(model={"window": 1_000}).run("word " * 3_000)
        assert outcome.text == "I see." and len(d.server.requests) == 2


async def test_a_long_task_is_not_summarised_at_every_round(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("A summary.")
        for _ in range(4):
            d.server.call("read", {"size": 4})
        d.server.say("Done.")
        outcome = await d.agent(read, model={"window": 2_000}).run("word " * 3_000)
        assert outcome.text == "Done." and len(d.server.requests) == 6


async def test_commands_are_not_what_the_user_said(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        commands = Commands([Command("hello", "Hello", lambda *_: "Hello.")])
        agent = d.agent(read, inputs=Inputs([commands]), model={"window": 4_000})
        await agent.run("/hello")
        d.server.call("read", {"size": 30_000})
        d.server.say("Summary.")
        d.server.say("Done.")
        await agent.run("the real wish")
        assert "the real wish" in d.asked()[0]["content"] and "/hello" not in str(d.asked())


async def test_stopping_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("read", {"size": 30_000})
        d.server.say("A summary that never ends", stall_after=1)
        agent = d.agent(read, model={"window": 4_000})
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: len(d.server.requests) == 2)
        before = d.messages()
        agent.stop()
        assert (await running).state == "cancelled"
        assert d.messages() == before and len(before) == 4


async def test_the_history_goes_as_a_file_where_the_model_takes_files(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("read", {"size": 30_000})
        d.server.say("I read it in the file.")
        agent = d.agent(read, model={"window": 4_000, "upload": True})
        assert (await agent.run("what was it?")).text == "I read it in the file."
        first = d.asked()[0]["content"]
        uploads = [r for r in d.server.requests if r.path.endswith("/files")]
    assert "what was it?" in first[0]["text"] and "attached" in first[0]["text"]
    assert first[1] == {"type": "file", "file": {"file_id": "file-1"}}
    assert len(uploads) == 1 and b"x" * 30_000 in uploads[0].raw
    assert "sent to the model as a file" in d.notices


async def test_a_file_that_is_not_taken_becomes_a_summary(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.refuse_files = True
        d.server.call("read", {"size": 30_000})
        d.server.say("The summary.")
        d.server.say("Good.")
        agent = d.agent(read, model={"window": 4_000, "upload": True})
        assert (await agent.run("go")).text == "Good."
        assert "The summary." in d.asked()[0]["content"]
    assert "could not be sent as a file" in d.notices


async def test_the_users_words_survive_any_number_of_summaries(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        agent = d.agent(read, model={"window": 4_000})
        for number in range(4):
            d.server.call("read", {"size": 30_000})
            d.server.say(f"Summary {number}.")
            d.server.say("Yes.")
            await agent.run(f"wish number {number}")
            first = d.asked()[0]["content"]
            assert all(f"wish number {n}" in first for n in range(number + 1))
            assert "Summary" in first and f"Summary {number - 1}" not in first


async def test_a_summary_that_fails_keeps_everything_while_there_is_room(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("read", {"size": 16_500})
        d.server.say("")  # the summary, and again, shortened; the group asks each three times
        for _ in range(5):
            d.server.say("")
        d.server.say("Done all the same.")
        agent = d.agent(read, model={"window": 4_000})
        outcome = await agent.run("read it")
        asked = d.asked()
    assert outcome.text == "Done all the same."
    assert "x" * 16_500 in str(asked) and NO_SUMMARY not in str(asked)
    assert "continues unchanged" in d.notices


async def test_a_summary_that_fails_in_a_full_window_keeps_the_one_before(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("read", {"size": 30_000})
        d.server.say("The bug is in b.c:7.")
        d.server.call("read", {"size": 200})
        d.server.call("read", {"size": 300})
        d.server.refuse(400, code="context_length_exceeded", message="too many tokens")
        for _ in range(6):
            d.server.say("")
        d.server.say("Mended.")
        agent = d.agent(read, model={"window": 4_000})
        outcome = await agent.run("mend the bug")
        asked = d.asked()
    assert outcome.text == "Mended."
    assert "The bug is in b.c:7." in asked[0]["content"] and "mend the bug" in asked[0]["content"]
    results = [m["content"] for m in asked if m["role"] == "tool"]
    assert results[-1] == "x" * 300 and "cut to its latest messages" in d.notices


async def test_the_plan_is_put_back(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        steps = [{"text": "Find it", "state": "done"}, {"text": "Mend it", "state": "active"}]
        d.server.call("update_plan", {"steps": steps})
        d.server.call("read", {"size": 30_000})
        d.server.say("It was found.")
        d.server.say("Good.")
        context = {"feed": d.feed, "session": d.session}
        agent = d.agent(read, update_plan, model={"window": 4_000})
        agent.context.services.update(context)
        await agent.run("go")
        assert "[x] Find it\n[>] Mend it" in d.asked()[0]["content"]


async def test_results_that_no_answer_has_seen_outlive_a_summary(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("read", {"size": 9_000})
        d.server.call_all([("read", {"size": 8_000}), ("read", {"size": 777})])
        d.server.say("A summary.")
        d.server.say("I saw it.")
        agent = d.agent(read, model={"window": 3_300})
        await agent.run("go")
        asked = d.asked()
    results = [m["content"] for m in asked if m["role"] == "tool"]
    assert len(results) == 2 and results[1] == "x" * 777  # what is long is cut, the rest is not
    assert 1_000 < results[0].count("x") < 3_300
    calls = [call["id"] for m in asked for call in m.get("tool_calls", ())]
    assert calls == [m["tool_call_id"] for m in asked if m["role"] == "tool"]


words = st.text(min_size=1, max_size=200)


@given(st.lists(words, min_size=1, max_size=30), st.integers(0, 2_000))
def test_the_first_and_the_latest_words_are_never_cut(said: list[str], limit: int) -> None:
    text = goal_text(said, limit)
    assert f"<user_said>\n{said[0]}\n</user_said>" in text
    assert f"<user_said>\n{said[-1]}\n</user_said>" in text
    needed = estimate(said[0]) + estimate(said[-1])
    kept = text.count("<user_said>\n")
    if sum(map(estimate, said)) <= limit:
        assert kept >= len(said)
    if needed > limit:
        assert kept <= 2 + sum(one.count("<user_said>\n") for one in said)


def conversations() -> st.SearchStrategy[list[Message]]:
    text = st.text(max_size=3_000)
    call = st.builds(ToolCall, words, words, st.just({"a": 1}))
    return st.lists(
        st.one_of(
            st.builds(User, text),
            st.builds(Assistant, text, tool_calls=st.lists(call, max_size=2).map(tuple)),
            st.builds(ToolResult, words, words, text),
        ),
        min_size=1,
        max_size=30,
    )


@settings(max_examples=60, deadline=None)
@given(conversations(), st.integers(500, 5_000))
def test_a_shrunk_conversation_fits_or_is_one_message(said: list[Message], limit: int) -> None:
    found = shrunk(said, limit)
    assert found and (of_messages(found) <= limit or len(found) == 1)
    if of_messages(said) <= limit:
        assert found == said


def test_estimates_follow_what_providers_report() -> None:
    counter = Counter()
    for _ in range(6):
        counter.learn(1_000, 1_500)
    assert 1_480 <= counter.corrected(1_000) <= 1_500
    counter.learn(10, 900)  # too small to say anything
    assert counter.corrected(1_000) <= 1_500
    assert estimate("abcd") == 1 and estimate("汉字") == 2 and estimate("") == 0

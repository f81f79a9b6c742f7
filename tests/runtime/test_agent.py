"""An agent as its owner meets it: making, stopping, failing, and what is left behind."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.runtime.agent.agent import AgentBusy
from jarvis_ls.runtime.agent.guard import Guard, Halted
from jarvis_ls.runtime.agent.hooks import AfterToolCall, Hooks, TaskStarted
from jarvis_ls.runtime.agent.tool_dispatch import ToolCalls
from jarvis_ls.runtime.base.events import EntryGrew, NodeInfo, NodePut
from jarvis_ls.runtime.base.messages import Assistant, Image, ToolCall, ToolResult
from jarvis_ls.runtime.llm.wire_conversation import mended
from jarvis_ls.runtime.tools.permissions import Answer, Asked
from jarvis_ls.runtime.tools.tool import ToolContext, Tools, tool
from tests.support.agents import Desk, Person, desk, until
from tests.support.patience import HANGS

LOG: list[str] = []


@tool(independent=True)
async def look(context: ToolContext, what: str) -> str:
    """Look."""
    LOG.append(f"look {what}")
    return f"saw {what}"


@tool()
async def slow(context: ToolContext, seconds: float = 600.0) -> str:
    """Take long."""
    LOG.append("slow began")
    await asyncio.sleep(seconds)
    LOG.append("slow ended")
    return "slow"


@tool()
async def deaf(context: ToolContext) -> str:
    """Does not hear that it should end."""
    LOG.append("deaf began")
    while "may end" not in LOG:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            LOG.append("deaf was told")
    LOG.append("deaf ended")
    return "deaf"


@tool()
async def broken(context: ToolContext) -> str:
    """Fails."""
    raise RuntimeError("on purpose")


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    LOG.clear()


def whole(d: Desk) -> bool:
    """Whether every call of the conversation has exactly one result, right behind it."""
    messages = d.messages()
    results = [m.call_id for m in messages if isinstance(m, ToolResult)]
    calls = [c.id for m in messages if isinstance(m, Assistant) for c in m.tool_calls]
    return sorted(results) == sorted(calls)


async def test_an_agent_has_its_parts(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        agent = d.agent(look)
        assert (agent.options.name, agent.node.state) == ("Jarvis", "created")
        assert isinstance(agent.handlers[0], ToolCalls) and not agent.working
        assert agent.context.session == d.session.id and agent.context.node == "n"
        assert "You are Jarvis" in agent.questions.system_prompt().text


async def test_custom_parameters_are_kept(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        agent = d.agent(
            look,
            slow,
            options={"system_prompt": "Be a cat.", "use_tools": ["look"]},
            model={"tools": False},
        )
        d.server.say("Meow.")
        await agent.run("hi")
        assert d.system().startswith("Be a cat.")
        assert "## look" in d.system() and "slow" not in d.system()


async def test_a_code_agent_has_a_prompt_of_its_own(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        code = d.agent(options={"agent_type": "code"}).questions.system_prompt().text
        assert "changes code" in code and code != d.agent().questions.system_prompt().text


async def test_a_broken_tool_is_told_to_the_model(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("broken", {})
        d.server.call("no_such_tool", {})
        d.server.say("It does not work.")
        outcome = await d.agent(broken, look).run("go")
    assert outcome.state == "completed"
    results = [m for m in d.messages() if isinstance(m, ToolResult)]
    assert all(r.is_error for r in results)
    assert "on purpose" in results[0].text and "Unknown tool" in results[1].text
    assert [c.state for c in d.calls] == ["failed", "failed"]


async def test_only_one_task_at_a_time(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("Hi.", delay=0.05)
        agent = d.agent()
        running = asyncio.ensure_future(agent.run("one"))
        await until(lambda: agent.working)
        with pytest.raises(AgentBusy):
            await agent.run("two")
        assert (await running).text == "Hi."


async def test_stop_ends_an_answer_in_its_middle(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("This is a long answer that never ends", stall_after=2)
        agent = d.agent()
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: d.answers and d.answers[0].text)
        agent.stop()
        outcome = await asyncio.wait_for(running, HANGS)  # by itself it would never end
        await until(lambda: d.server.dropped)
        last = d.messages()[-1]
    assert outcome.state == "cancelled"
    assert isinstance(last, Assistant) and last.text.startswith("This is")
    assert not any(a.streaming for a in d.answers) and "Stopped." in d.notices


async def test_stop_ends_a_tool_and_nothing_runs_afterwards(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call_all([("slow", {}), ("look", {"what": "x"})])
        agent = d.agent(slow, look)
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: LOG)
        agent.stop()
        assert (await running).state == "cancelled"
        await asyncio.sleep(0.1)
        assert LOG == ["slow began"] and len(d.server.requests) == 1
    assert [c.state for c in d.calls] == ["cancelled", "cancelled"] and whole(d)


async def test_a_tool_that_does_not_listen_is_left_behind(tmp_path: Path) -> None:
    hooks, after = Hooks(), []
    hooks.subscribe(AfterToolCall, lambda event: after.append(event.call.name))
    async with desk(tmp_path) as d:
        d.server.call("deaf", {})
        agent = d.agent(deaf, hooks=hooks)
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: LOG)
        agent.stop()
        outcome = await asyncio.wait_for(running, HANGS)
        assert outcome.state == "cancelled" and "deaf ended" not in LOG
        events = len(d.events)
        d.server.say("Hello.")
        assert (await agent.run("and now?")).text == "Hello."
        LOG.append("may end")
        await until(lambda: "deaf ended" in LOG)
        await asyncio.sleep(0.05)
    assert whole(d) and [c.state for c in d.calls] == ["cancelled"]
    assert not [e for e in d.events[events:] if getattr(e, "entry", None) is d.calls[0]]


async def test_who_is_stopped_can_be_asked_again(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("slow", {})
        agent = d.agent(slow)
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: LOG)
        agent.stop()
        await running
        d.server.say("Fine.")
        assert (await agent.run("and?")).text == "Fine."
        roles = [m["role"] for m in d.asked()]
    assert roles.count("tool") == 1 and roles.index("tool") == roles.index("assistant") + 1
    states = [e.node.state for e in d.events if isinstance(e, NodePut)]
    assert states[-1] == "completed"


async def test_a_cancelled_caller_leaves_the_session_whole(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("slow", {})
        agent = d.agent(slow)
        running = asyncio.ensure_future(agent.run("go"))
        await until(lambda: LOG)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert not agent.working and agent.node.state == "cancelled" and whole(d)


async def test_calls_that_a_killed_process_left_get_a_result(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.session.append("n", Assistant("", tool_calls=(ToolCall("x1", "look", {"what": "a"}),)))
        d.server.say("I go on.")
        assert (await d.agent(look).run("go on")).text == "I go on."
        assert "interrupted" in str([m for m in d.asked() if m["role"] == "tool"])
    assert LOG == [] and whole(d)


async def test_calls_that_change_nothing_run_together_and_others_alone(tmp_path: Path) -> None:
    at_once, most = 0, []

    async def count(seconds: float) -> None:
        nonlocal at_once
        at_once += 1
        most.append(at_once)
        await asyncio.sleep(seconds)
        at_once -= 1

    @tool(independent=True)
    async def read(context: ToolContext, n: int) -> str:
        """Read."""
        await count(0.05 * (3 - n))
        return f"read {n}"

    @tool()
    async def write(context: ToolContext, n: int) -> str:
        """Write."""
        await count(0.01)
        return f"written {n}"

    async with desk(tmp_path) as d:
        calls: list[tuple[str, Any]] = [("read", {"n": n}) for n in range(3)]
        d.server.call_all([*calls, ("write", {"n": 3}), ("write", {"n": 4})])
        d.server.say("Done.")
        await d.agent(read, write).run("go")
        results = [m["content"] for m in d.asked() if m["role"] == "tool"]
    assert most == [1, 2, 3, 1, 1]
    assert results == ["read 0", "read 1", "read 2", "written 3", "written 4"]


async def test_a_guard_can_refuse_note_and_halt(tmp_path: Path) -> None:
    class Strict(Guard):
        async def before_tool_call(self, agent: Any, call: ToolCall) -> str:
            return "Not today." if call.arguments["what"] == "secret" else ""

        async def after_tool_call(self, agent: Any, call: ToolCall, result: ToolResult) -> str:
            if call.arguments["what"] == "end":
                raise Halted("That is enough.")
            return "Mind the gap." if not result.is_error else ""

    async with desk(tmp_path) as d:
        d.server.call_all([("look", {"what": "secret"}), ("look", {"what": "a"})])
        d.server.call("look", {"what": "end"})
        outcome = await d.agent(look, guard=Strict()).run("go")
    assert LOG == ["look a", "look end"]
    assert (outcome.state, outcome.text) == ("failed", "That is enough.")
    texts = [m.text for m in d.messages() if isinstance(m, ToolResult)]
    assert texts == ["Not today.", "saw a\n\nMind the gap.", "saw end"]
    assert [c.state for c in d.calls] == ["denied", "done", "done"] and whole(d)


async def test_a_guard_can_halt_before_the_model_is_asked(tmp_path: Path) -> None:
    class Poor(Guard):
        async def before_model_call(self, agent: Any) -> None:
            raise Halted("The budget is spent.")

    async with desk(tmp_path) as d:
        outcome = await d.agent(guard=Poor()).run("go")
        assert (outcome.state, outcome.text) == ("failed", "The budget is spent.")
        assert not d.server.requests


async def test_every_call_can_be_confirmed(tmp_path: Path) -> None:
    person = Person()
    async with desk(tmp_path) as d:
        d.server.call("look", {"what": "a"})
        d.server.call("look", {"what": "b"})
        d.server.say("Done.")
        agent = d.agent(look, person=person, options={"execute_tool_confirm": True})
        agent.hooks.subscribe(AfterToolCall, lambda _: setattr(person, "answer", _No))
        await agent.run("go")
    assert [a.arguments["what"] for a in person.permits] == ["a", "b"] and LOG == ["look a"]
    assert [c.state for c in d.calls] == ["done", "denied"]


async def test_the_time_of_a_call_is_not_that_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("jarvis_ls.runtime.tools.current_call.monotonic", lambda: now)

    class Slow(Person):
        async def permit(self, node: str, call: str, asked: Asked) -> Answer:
            nonlocal now
            now += 1000
            return await super().permit(node, call, asked)

    @tool()
    async def work(context: ToolContext) -> str:
        """Work."""
        nonlocal now
        now += 2
        return "worked"

    async with desk(tmp_path) as d:
        d.server.call("work", {})
        d.server.say("Done.")
        await d.agent(work, person=Slow(), options={"execute_tool_confirm": True}).run("go")
    assert [c.seconds for c in d.calls] == [2.0]


async def test_a_listener_that_fails_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hooks = Hooks()
    hooks.subscribe(TaskStarted, lambda _: 1 / 0)  # type: ignore[arg-type, return-value]
    async with desk(tmp_path) as d:
        d.server.say("Hi.")
        assert (await d.agent(hooks=hooks).run("go")).text == "Hi."
    assert "ZeroDivisionError" in caplog.text


async def test_a_child_completes_itself(tmp_path: Path) -> None:
    person = Person()
    person.next = [("continue", "no")]
    async with desk(tmp_path) as d:
        d.server.say("Result. !!!COMPLETE!!!")
        child = d.agent(person=person, node=NodeInfo("c", "n", "child", "Child"))
        assert (await child.run("go")).text == "Result." and person.next


async def test_stops_at_random_points_leave_everything_whole(tmp_path: Path) -> None:
    """A storm: nothing runs after a stop, every call has one result, the next turn works."""
    chance = random.Random(7)
    async with desk(tmp_path) as d:
        agent = d.agent(look, slow)
        for number in range(40):
            d.server.answers.clear()
            d.server.call_all(
                [("look", {"what": "a"}), ("slow", {"seconds": 0.02}), ("look", {"what": "b"})],
                text="Let me see.",
                delay=0.001,
            )
            d.server.call("look", {"what": "c"}, delay=0.001)
            d.server.say("Done with it.", delay=0.001)
            running = asyncio.ensure_future(agent.run(f"task {number}"))
            await asyncio.sleep(chance.uniform(0, 0.12))
            wish = chance.choice([agent.stop, agent.stop, running.cancel, _redirect(agent)])
            wish()
            await asyncio.wait({running}, timeout=HANGS)
            assert running.done()
            after = list(LOG)
            assert whole(d), number
            await asyncio.sleep(0.03)
            if wish is agent.stop or wish == running.cancel:
                assert after == LOG and not agent.working
            assert not [c for c in d.calls if c.state in ("asked", "running")]
            assert not any(a.streaming for a in d.answers)
            assert mended(d.messages()) == d.messages()
        d.server.answers.clear()
        d.server.say("Still here.")
        assert (await agent.run("are you there?")).text == "Still here."


def _redirect(agent: Any) -> Any:
    return lambda: agent.redirect("something else")


class _No:
    allowed = False
    note = "No."


async def test_words_that_were_not_read_when_the_turn_ended_stay_in_their_order(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as d:
        d.server.call("slow", {})
        agent = d.agent(slow)
        running = asyncio.ensure_future(agent.run("one"))
        await until(lambda: LOG)
        agent.say("two")
        agent.stop()
        await running
        assert d.notices == "Stopped. Queued messages are sent together with your next one."
        d.server.say("Three.")
        await agent.run("three")
        said = [m["content"] for m in d.asked() if m["role"] == "user"]
    assert [s for s in said if s in ("one", "two", "three")] == ["one", "two", "three"]
    assert not any(u.queued for u in d.said)


async def test_pictures_a_model_refuses_are_left_out(tmp_path: Path) -> None:
    picture = Image("image/png", "aGk=")
    async with desk(tmp_path) as d:
        d.server.refuse(400, message="this model does not support image input")
        d.server.say("I cannot see it.")
        agent = d.agent()
        assert (await agent.run("what is this?", [picture])).text == "I cannot see it."
        assert "image_url" in str(d.asked(0)) and "image_url" not in str(d.asked())
        assert "1 pictures, which you cannot see" in str(d.asked())
        assert "without images" in d.notices and d.said[0].images == (picture,)
        d.server.refuse(400, message="no")
        assert (await agent.run("and now?")).state == "failed"


async def test_long_output_goes_as_a_file_where_the_model_takes_files(tmp_path: Path) -> None:
    @tool()
    async def talk(context: ToolContext) -> str:
        """Talk a lot."""
        return "\n".join(f"line {n}" for n in range(900))

    for refused in (False, True):
        (tmp_path / str(refused)).mkdir()
        async with desk(tmp_path / str(refused)) as d:
            d.server.refuse_files = refused
            d.server.call("talk", {})
            d.server.say("Long.")
            toolset = Tools([talk], max_output=2_000)
            await d.agent(toolset=toolset, model={"upload": True}).run("go")
            told = next(m["content"] for m in d.asked() if m["role"] == "tool")
            assert told.endswith("line 899") and "lines left out" in told
            assert ("is attached as" in told) is not refused
            files = [r for r in d.server.requests if r.path.endswith("/files")]
            assert ("file-1" in str(d.asked()[-1])) is not refused
            assert (b"line 450\n" in files[0].raw) and len(files) == 1


@pytest.mark.parametrize(
    "said",
    ["Done!!!\n!!!COMPLETE!!!", "\n\n Done!!!", "Done!!! \n\n", " \nDone!!! !!!COMPLETE!!! \n"],
)
async def test_neither_marks_nor_blanks_around_are_shown_not_even_while_they_come(
    tmp_path: Path, said: str
) -> None:
    async with desk(tmp_path) as d:
        d.server.say(said, pieces=len(said))
        await d.agent(options={"auto_complete": True}).run("go")
    grown = [e for e in d.events if isinstance(e, EntryGrew)]
    assert "".join(e.text for e in grown) in ("Done", "Done!!!")  # `!!!` may begin a mark
    assert [a.text for a in d.answers] == ["Done!!!"]
    at = [len("".join(b.text for b in grown[:n])) for n in range(len(grown))]
    assert [e.at for e in grown] == at


async def test_pictures_are_described_to_models_that_do_not_see(tmp_path: Path) -> None:
    picture = Image("image/png", "aGk=")
    async with desk(tmp_path) as d:
        d.server.say("A red button that says OK.")
        d.server.say("It is a button.")
        agent = d.agent(eyes=d.group(images=True))
        assert (await agent.run("what is this?", [picture])).text == "It is a button."
        assert "image_url" in str(d.server.requests[0].body["messages"])
        assert "A red button that says OK." in d.asked()[0]["content"]
        assert "image_url" not in str(d.asked()) and agent.spent.input == 22
        assert d.said[0].images == (picture,)
        for _ in range(3):
            d.server.refuse(400, message="no")
        d.server.answers.pop()
        d.server.answers.pop()
        d.server.say("I do not know.")
        assert (await agent.run("and this?", [picture])).text == "I do not know."
    assert "could not be described" in d.notices


async def test_words_are_not_lost_when_the_turn_ends_while_they_are_read(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("A picture of", stall_after=1)
        agent = d.agent(eyes=d.group(images=True))
        running = asyncio.ensure_future(agent.run("what is this?", [Image("image/png", "aGk=")]))
        await until(lambda: d.server.requests)
        agent.stop()
        assert (await running).state == "cancelled"
        d.server.say("Gone on.")
        agent.eyes = None
        await agent.run("never mind")
        said = [str(m["content"]) for m in d.asked() if m["role"] == "user"]
    assert sum("what is this?" in one for one in said) == 1 and "never mind" in said

"""Tool calls, native and as text: the same behaviour, the same conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.runtime.agent.tool_dispatch import Handled, OutputHandler
from jarvis_ls.runtime.base.events import EntryGrew
from jarvis_ls.runtime.base.messages import Assistant, ToolCall, ToolResult, User
from jarvis_ls.runtime.llm.text_tool_calls import END_MISSING, as_text, read_call, written
from jarvis_ls.runtime.tools.tool import ToolContext, Tools, tool
from tests.support.agents import block, desk, plain
from tests.support.model_server import Answer, chunk, usage

RAN: list[str] = []


@tool(independent=True)
async def look(context: ToolContext, what: str, times: int = 1) -> str:
    """Look.

    Args:
        what: At what.
        times: How often.
    """
    RAN.append(what)
    return f"saw {what} {times} times"


@tool()
async def talk(context: ToolContext, lines: int) -> str:
    """Talk a lot."""
    return "\n".join(f"line {n}" for n in range(lines))


@pytest.fixture(autouse=True)
def _empty() -> None:
    RAN.clear()


async def test_both_forms_give_the_same_conversation(tmp_path: Path) -> None:
    kept = {}
    for native in (True, False):
        (tmp_path / str(native)).mkdir()
        async with desk(tmp_path / str(native)) as d:
            for arguments in ({"what": "a"}, {"what": "b", "times": 2}, {"wrong": 1}):
                if native:
                    d.server.call_all([("look", arguments)], text="Let me see.")
                else:
                    d.server.say(f"Let me see.\n\n{block('look', arguments)}")
            d.server.say("Both seen. !!!COMPLETE!!!")
            agent = d.agent(look, model={"tools": native}, options={"auto_complete": True})
            outcome = await agent.run("look")
            messages = [
                m
                for m in d.messages()
                if "<TOOL_CALL>" not in m.text
                and not (isinstance(m, User) and "function interface" in m.text)
            ]
            kept[native] = (
                plain(messages),
                outcome.text,
                [(c.name, c.arguments, c.state, c.output) for c in d.calls],
            )
    assert kept[True] == kept[False]
    assert RAN == ["a", "b"] * 2


async def test_the_text_form_reaches_the_model_as_text(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say(f"I look.\n{block('look', {'what': 'a'})}")
        d.server.say("Seen.")
        await d.agent(look, model={"tools": False}).run("go")
        asked = d.asked()
        assert "tools" not in d.server.requests[-1].body
        assert '"name": "look"' in asked[-2]["content"] and asked[-2]["role"] == "assistant"
        assert asked[-1] == {"role": "user", "content": "look gave:\nsaw a 1 times"}
        assert "tool_calls" not in asked[-2] and "## look" in d.system()
    assert [a.text for a in d.answers] == ["I look.", "Seen."]


async def test_the_block_is_never_streamed_to_the_reader(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say(f"I look.\n{block('look', {'what': 'a'})}", pieces=40)
        d.server.say("Seen.")
        await d.agent(look, model={"tools": False}).run("go")
    grown: dict[str, str] = {}
    for event in d.events:
        if isinstance(event, EntryGrew):
            grown[event.entry] = grown.get(event.entry, "") + event.text
    assert list(grown.values()) == ["I look.", "Seen."]


async def test_several_blocks_are_refused(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say(block("look", {"what": "a"}) + "\n" + block("look", {"what": "b"}))
        d.server.say(block("look", {"what": "c"}))
        d.server.say("Seen.")
        await d.agent(look, model={"tools": False}).run("go")
        assert "several calls; nothing was run" in str(d.asked())
    assert RAN == ["c"]


async def test_a_missing_end_tag_is_added_and_said(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say(block("look", {"what": "a"}).removesuffix("\n</TOOL_CALL>"))
        d.server.say("Seen.")
        await d.agent(look, model={"tools": False}).run("go")
        assert END_MISSING in str(d.asked())
    assert RAN == ["a"]


async def test_a_block_in_an_answer_that_was_cut_off_is_not_run(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        text = block("look", {"what": "a"})
        d.server.add(Answer([chunk({"content": text}), chunk({}, "length"), usage()]))
        d.server.say("I leave it.")
        await d.agent(look, model={"tools": False}).run("go")
        assert "cut off" in str(d.asked())
    assert RAN == []


async def test_models_with_native_calls_are_not_read_for_blocks(tmp_path: Path) -> None:
    """A file that a model quotes must not become a call."""
    async with desk(tmp_path) as d:
        d.server.say("The file says:\n" + block("look", {"what": "a"}))
        outcome = await d.agent(look).run("what does the file say?")
    assert RAN == [] and "TOOL_CALL" in outcome.text


class Messages(OutputHandler):
    """Takes answers that send a message to another agent."""

    name = "messages"

    def can_handle(self, answer: Assistant) -> bool:
        return "<SEND_MESSAGE>" in answer.text

    async def handle(self, answer: Assistant, agent: Any) -> Handled:
        return Handled(ran=True, need_return=True, prompt="sent: " + answer.text)


async def test_another_handler_takes_its_answers(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.say("<SEND_MESSAGE>hi</SEND_MESSAGE>")
        outcome = await d.agent(look, handlers=[Messages()]).run("go")
    assert outcome.text == "sent: <SEND_MESSAGE>hi</SEND_MESSAGE>"


@pytest.mark.parametrize("native", [True, False])
async def test_an_answer_for_two_handlers_is_refused(tmp_path: Path, native: bool) -> None:
    async with desk(tmp_path) as d:
        text = "<SEND_MESSAGE>hi</SEND_MESSAGE>"
        if native:
            d.server.call_all([("look", {"what": "a"})], text=text)
        else:
            d.server.say(f"{text}\n{block('look', {'what': 'a'})}")
        d.server.say("Only this.")
        agent = d.agent(look, model={"tools": native}, handlers=[Messages()])
        assert (await agent.run("go")).text == "Only this."
        assert "could be for tools, messages; nothing was done" in str(d.asked())
    assert RAN == []


async def test_long_output_keeps_its_first_and_last_lines(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("talk", {"lines": 500})
        d.server.say("Long.")
        await d.agent(toolset=Tools([talk], max_output=2_000)).run("go")
        told = next(m["content"] for m in d.asked() if m["role"] == "tool")
    lines = told.split("\n")
    assert lines[0] == "line 0" and lines[29] == "line 29" and lines[-1] == "line 499"
    assert "440 lines left out" in told and len(lines) == 61


async def test_loosely_written_arguments_are_understood(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.server.call("look", "{what: 'a', times: 2,}")
        d.server.say("Seen.")
        await d.agent(look).run("go")
    assert RAN == ["a"]


@pytest.mark.parametrize(
    "arguments", ['{"what": "a', '{"what": "a"', '["a"]', '"a"', "what=a", "{"]
)
async def test_incomplete_arguments_run_nothing(tmp_path: Path, arguments: str) -> None:
    async with desk(tmp_path) as d:
        d.server.call("look", arguments)
        d.server.say("Well.")
        await d.agent(look).run("go")
        assert json.loads(d.asked()[-2]["tool_calls"][0]["function"]["arguments"]) == {
            "_raw": arguments
        }
    assert RAN == [] and [c.state for c in d.calls] == ["failed"]
    assert d.calls[0].arguments == arguments


async def test_ids_of_calls_are_unique_whatever_the_provider_says(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for _ in range(2):
            d.server.add(_call_with_id("call_0"))
        d.server.say("Seen.")
        await d.agent(look).run("go")
        ids = [m["tool_call_id"] for m in d.asked() if m["role"] == "tool"]
    assert len(set(ids)) == 2 and [c.id for c in d.calls] == ids


def _call_with_id(id: str) -> Answer:
    function = {"name": "look", "arguments": '{"what": "a"}'}
    call = {"index": 0, "id": id, "type": "function", "function": function}
    return Answer([chunk({"tool_calls": [call]}), chunk({}, "tool_calls"), usage()])


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('<TOOL_CALL>{"name": "t", "arguments": {"a": 1}}</TOOL_CALL>', {"a": 1}),
        ("<TOOL_CALL>\r\n{name: 't', arguments: {a: 1,},}\r\n</TOOL_CALL>", {"a": 1}),
        ('```xml\n<TOOL_CALL>\n{"name": "t", "arguments": {}}\n</TOOL_CALL>\n```', {}),
        ('<TOOL_CALL>\n```json\n{"name": "t"}\n```\n</TOOL_CALL>', {}),
        ('<TOOL_CALL>{"name": "t", "arguments": "{\\"a\\": 1}"}</TOOL_CALL>', {"a": 1}),
        (
            '<TOOL_CALL>{"name": "t", "arguments": {"a": "</TOOL_CALL>"}}</TOOL_CALL>',
            {"a": "</TOOL_CALL>"},
        ),
        ('<TOOL_CALL>{"name": "t", "arguments": {"a": "x\ny"}}</TOOL_CALL>', {"a": "x\ny"}),
        ('<TOOL_CALL>{"name": "t", "arguments": {"a": 1}}', {"a": 1}),
    ],
)
def test_blocks_are_read(text: str, arguments: dict[str, Any]) -> None:
    found = read_call(f"Before.\n{text}")
    assert found.call is not None and not found.problem
    assert (found.call.name, found.call.arguments) == ("t", arguments)
    assert found.text == "Before."


@pytest.mark.parametrize(
    "text",
    [
        "<TOOL_CALL></TOOL_CALL>",
        "<TOOL_CALL>{</TOOL_CALL>",
        '<TOOL_CALL>{"name": "t", "arguments": {"a": "b',
        '<TOOL_CALL>{"arguments": {}}</TOOL_CALL>',
        '<TOOL_CALL>{"name": 3, "arguments": {}}</TOOL_CALL>',
        '<TOOL_CALL>{"name": "t", "arguments": [1]}</TOOL_CALL>',
        '<TOOL_CALL>["t"]</TOOL_CALL>',
        '<TOOL_CALL>{"name": "t"}\n<TOOL_CALL>{"name": "u"}',
        '<TOOL_CALL>{"name": "t"}</TOOL_CALL>\n<TOOL_CALL>{"name": "u"}</TOOL_CALL>',
        '<TOOL_CALL>{"name": "t"}</TOOL_CALL>\n<TOOL_CALL>{"name": "u"',
    ],
)
def test_what_is_no_one_call_is_a_problem(text: str) -> None:
    found = read_call(text)
    assert found.call is None and "nothing was run" in found.problem.lower()


@pytest.mark.parametrize("text", ["", "Hello.", "Write `<TOOL_CALL>` to call.", "a <TOOL_CALL>"])
def test_text_that_only_speaks_of_calls_is_text(text: str) -> None:
    found = read_call(text)
    assert (found.text, found.call, found.problem) == (text, None, "")


def test_what_is_written_can_be_read() -> None:
    call = ToolCall("", "t", {"text": 'a "quoted"\n</TOOL_CALL> line', "n": [1, {"é": None}]})
    assert read_call(written(call)).call == call


def test_several_native_calls_become_one_call_an_answer() -> None:
    calls = (ToolCall("1", "a", {}), ToolCall("2", "b", {}))
    messages = [
        User("go"),
        Assistant("Both.", tool_calls=calls),
        ToolResult("1", "a", "one"),
        ToolResult("2", "b", "two", is_error=True),
    ]
    told = as_text(messages)
    assert [m.kind for m in told] == ["user", "assistant", "user", "assistant", "user"]
    assert told[2].text == "a gave:\none" and told[4].text == "b failed:\ntwo"
    assert told[1].text.startswith("Both.") and not told[3].text.startswith("Both.")

"""Five hundred answers as no model should give them: no traceback, no half call is run."""

from __future__ import annotations

import json
import logging
import random
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.runtime.base.messages import Assistant, ToolResult
from jarvis_ls.runtime.llm.model_group import Patience
from jarvis_ls.runtime.tools.tool import ToolContext, tool
from tests.support.agents import block, desk
from tests.support.model_server import Answer, chunk, usage

pytestmark = pytest.mark.watches()

RAN: list[dict[str, Any]] = []
WHOLE = {"path": "notes.txt", "text": "all of it", "lines": [1, 2, 3]}
IMPATIENT = Patience(attempts=2, broken=1, first_wait=0.001, longest_wait=0.01)
ANSWERS = 500


@tool()
async def write(context: ToolContext, path: str, text: str, lines: list[int]) -> str:
    """Write."""
    RAN.append({"path": path, "text": text, "lines": lines})
    return "written"


def native(chance: random.Random) -> Answer:
    """A native call that is somehow wrong."""
    arguments = json.dumps(WHOLE)
    kind = chance.randrange(8)
    if kind == 0:
        arguments = arguments[: chance.randrange(1, len(arguments))]
    elif kind == 1:
        place = chance.randrange(len(arguments))
        arguments = arguments[:place] + chance.choice('{}[]",:\\\0é\n') + arguments[place:]
    elif kind == 2:
        arguments = chance.choice(["[]", "null", '"x"', "42", "", " ", "{}", "nonsense", "{" * 900])
    elif kind == 3:
        values = dict(WHOLE)
        values[chance.choice(list(WHOLE))] = chance.choice([None, {}, -1, "x", [["y"]], True])
        arguments = json.dumps(values)
    name = "write" if kind != 4 else chance.choice(["", "wr", "write ", "functions.write", "\0"])
    chunks: list[dict[str, Any] | bytes] = [
        chunk(
            {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "c",
                        "type": "function",
                        "function": {"name": name, "arguments": arguments},
                    }
                ]
            }
        ),
        chunk({}, chance.choice(["tool_calls", "stop", "length", "content_filter"])),
        usage(),
    ]
    if kind == 5:
        return Answer(chunks[:1], done=chance.random() < 0.5)
    if kind == 6:
        return Answer(chunks, cut_after=chance.randrange(0, 2))
    if kind == 7:
        broken = [
            b"data: {\n\n",
            b"data: null\n\n",
            b"\xff\xfe\n\n",
            b'data: {"choices": 3}\n\n',
            b'data: {"error": {"message": "oops"}}\n\n',
            b": hello\n\n",
        ]
        chunks.insert(chance.randrange(2), chance.choice(broken))
    return Answer(chunks)


def text_form(chance: random.Random) -> Answer:
    """A call in the text form that is somehow wrong."""
    text = f"Let me.\n{block('write', WHOLE)}"
    kind = chance.randrange(6)
    if kind == 0:
        text = text[: chance.randrange(len(text))]
    elif kind == 1:
        place = chance.randrange(len(text))
        text = text[:place] + chance.choice(["<", "{", '"', "</TOOL_CALL>", "\0"]) + text[place:]
    elif kind == 2:
        text += text
    elif kind == 3:
        text = text.replace(chance.choice(['"name"', '"arguments"', "write", "{", "}"]), "", 1)
    elif kind == 4:
        text = "".join(chance.sample(text, len(text)))
    else:
        text = chance.choice(["", " ", "\n", "<TOOL_CALL>", "<TOOL_CALL>" * 50, "\ud7ff" * 9])
    finish = chance.choice(["stop", "length", "content_filter"])
    return Answer([chunk({"content": text}), chunk({}, finish), usage()])


@pytest.mark.parametrize("form", ["native", "text"])
async def test_malformed_answers(
    tmp_path: Path, form: str, caplog: pytest.LogCaptureFixture
) -> None:
    RAN.clear()
    chance = random.Random(form)
    states: dict[str, int] = {}
    async with desk(tmp_path) as d:
        group = d.group(patience=IMPATIENT, tools=form == "native")
        agent = d.agent(write, group=group, options={"max_rounds": 3})
        with caplog.at_level(logging.WARNING):
            for _ in range(ANSWERS // 2):
                d.server.answers.clear()
                d.server.add(native(chance) if form == "native" else text_form(chance))
                for _ in range(3):
                    d.server.say("I give up.")
                d.session.clear("n")
                outcome = await agent.run("write it")
                states[outcome.state] = states.get(outcome.state, 0) + 1
                assert "Traceback" not in outcome.text and "inside" not in outcome.text
                messages = d.messages()
                calls = [c.id for m in messages if isinstance(m, Assistant) for c in m.tool_calls]
                assert calls == [m.call_id for m in messages if isinstance(m, ToolResult)]
    assert states.get("completed", 0) > ANSWERS // 4, states
    assert "Traceback" not in caplog.text
    assert "Traceback" not in "".join(c.output for c in d.calls)
    assert all(set(ran) == set(WHOLE) for ran in RAN)
    assert all(isinstance(r["lines"], list) and isinstance(r["path"], str) for r in RAN)


async def test_only_whole_answers_run_their_call(tmp_path: Path) -> None:
    """What did run was complete: an answer that was cut anywhere runs nothing."""
    RAN.clear()
    arguments = json.dumps(WHOLE)
    async with desk(tmp_path) as d:
        agent = d.agent(write, group=d.group(patience=IMPATIENT))
        for length in range(len(arguments)):
            d.server.answers.clear()
            d.server.call("write", arguments[:length])
            d.server.say("So be it.")
            d.session.clear("n")
            await agent.run("write it")
    assert RAN == []

"""What `jarvis -m` hands to other programs: one answer, typed answers, events, exit statuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_jarvis_command import place
from tests.support.model_server import Answer, chunk, usage

READ: tuple[str, dict[str, Any]] = ("list_project_files", {})
SCHEMA = {
    "type": "object",
    "properties": {"count": {"type": "integer"}, "why": {"type": "string"}},
    "required": ["count"],
    "additionalProperties": False,
}


async def test_standard_output_holds_only_the_answer(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        p.model.call_all([READ], text="I look at the files first.")
        p.model.say("There are none. !!!COMPLETE!!!")
        status, out, err = await p.run("-m", "how many files?")
    assert (status, out) == (0, "There are none.\n")
    assert "I look at the files first." in err


async def test_a_typed_answer_is_checked_asked_again_and_printed_as_json(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        (p.folder / "schema.json").write_text(json.dumps(SCHEMA))
        p.model.call_all([READ], text="I look.")
        p.model.say("There are three files.")
        p.model.say('{"count": "three"}')
        p.model.say("Here it is:\n```json\n{count: 3, // counted\n}\n```\n!!!COMPLETE!!!")
        status, out, err = await p.run("-m", "count", "--schema", "schema.json")
        asked = [r.body["messages"] for r in p.model.requests]
    assert (status, json.loads(out)) == (0, {"count": 3})
    assert "additionalProperties" in str(asked[0])
    assert "count: 'three' is not of type 'integer'" in asked[3][-1]["content"]
    assert all(asked[n][: len(asked[n - 1])] == asked[n - 1] for n in range(1, 4))
    assert "asked for again" in err


async def test_a_schema_that_is_not_met_is_a_failure(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        (p.folder / "schema.json").write_text(json.dumps(SCHEMA))
        for _ in range(4):
            p.model.say('{"count": 1, "more": 2}')
        status, out, err = await p.run("-m", "count", "--schema", "schema.json")
    assert (status, out) == (1, "") and "does not meet its schema" in err and "more" in err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"type": "nonsense"}', "not a JSON schema"),
        ("[1]", "not a JSON schema"),
        ("{", "not a JSON schema"),
        (None, "schema.json"),
    ],
)
async def test_a_schema_that_is_none_is_wrong_use(
    tmp_path: Path, content: str | None, words: str
) -> None:
    async with place(tmp_path) as p:
        if content is not None:
            (p.folder / "schema.json").write_text(content)
        status, out, err = await p.run("-m", "count", "--schema", "schema.json")
    assert (status, out) == (2, "") and words in err


async def test_a_model_that_says_it_could_not_is_a_failure(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        p.model.say("There is no such file.\n!!!FAILED!!!")
        status, out, err = await p.run("-m", "mend x.c")
        told = str(p.model.requests[0].body["messages"])
    assert (status, out) == (1, "") and "There is no such file." in err
    assert "cannot be done" in err and "!!!FAILED!!!" in told and "!!!FAILED" not in err


async def test_an_answer_that_a_filter_ended_is_a_failure(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        p.model.add(Answer([chunk({"content": "Half"}), chunk({}, "content_filter"), usage()]))
        status, out, err = await p.run("-m", "go")
    assert (status, out) == (1, "") and "Half" in err


async def test_a_refused_request_is_a_failure(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        p.model.refuse(400, message="not that")
        status, out, err = await p.run("-m", "go", "--json")
    end = json.loads(out.splitlines()[-1])
    assert status == 1 and "not that" in end["error"] and "not that" in err
    assert (end["type"], end["status"], end["state"]) == ("end", 1, "failed")


async def test_a_budget_that_is_used_up_is_a_failure(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        with (p.home / "config.toml").open("a") as file:
            file.write("[agents]\ntokens = 2000\n")
        for _ in range(5):
            p.model.call_all([READ]).chunks[-1] = usage(prompt=1_500)
        status, out, err = await p.run("-m", "go")
        assert len(p.model.requests) < 5
    assert (status, out) == (1, "") and "budget" in err.lower()


async def test_events_are_lines_of_json(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        (p.folder / "schema.json").write_text(json.dumps(SCHEMA))
        steps = [{"text": "Count", "state": "active"}]
        p.model.call_all([("update_plan", {"steps": steps}), READ], text="I look.")
        p.model.say('{"count": 0}', thinking="None.")
        status, out, err = await p.run("-m", "count", "--json", "--schema", "schema.json")
    lines = [json.loads(line) for line in out.splitlines()]
    kinds = [line["type"] for line in lines]
    assert status == 0 and kinds[0] == "begin" and kinds[-1] == "end"
    begin, end = lines[0], lines[-1]
    assert begin["version"] == 1 and begin["session"] in err
    assert begin["folder"] == str(p.folder.resolve()) and begin["trusted"] is False
    assert (end["status"], end["state"], end["value"]) == (0, "completed", {"count": 0})
    assert end["rounds"] == 2 and end["usage"]["input"] == 22 and end["usage"]["cached"] == 8
    answers = [line for line in lines if line["type"] == "answer"]
    assert [a["text"] for a in answers] == ["I look.", '{"count": 0}']
    assert answers[1]["thinking"] == "None." and answers[1]["model"] == "scripted/scripted"
    tools = [(t["name"], t["state"]) for t in lines if t["type"] == "tool"]
    assert tools[-2:] == [("list_project_files", "running"), ("list_project_files", "done")]
    plans = [line["steps"] for line in lines if line["type"] == "plan"]
    assert plans == [steps]
    assert [n["state"] for n in lines if n["type"] == "node"][-1] == "completed"


async def test_without_a_model_there_is_an_end_too(tmp_path: Path) -> None:
    async with place(tmp_path, model=False) as p:
        status, out, _ = await p.run("-m", "go", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert status == 2 and [line["type"] for line in lines][::2][-1] in ("begin", "end")
    assert lines[-1]["status"] == 2 and "No model" in lines[-1]["error"]

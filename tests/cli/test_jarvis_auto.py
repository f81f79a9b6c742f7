"""`jarvis auto` as a process: plans and their repair, order, parallel work, what is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_jarvis_command import Place, place
from tests.support.auto_model import AutoModel, plan_of, written
from tests.support.model_server import Answer, Asked

QUICK = ("--interval", "60", "-n")


async def run_auto(here: Place, *options: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit status, JSON lines and errors of a run."""
    status, out, err = await here.run("auto", "-m", "The whole task", *QUICK, "--json", *options)
    return status, [json.loads(line) for line in out.splitlines()], err


def last_tasks(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The tasks as they are in the end, by id."""
    shown = [line for line in lines if line["type"] == "tasks"]
    return {task["id"]: task for task in shown[-1]["tasks"]}


async def test_tasks_are_done_in_their_order_and_summed_up(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        model = AutoModel(here.model, plan_of(a=[], b=[], c=["a", "b"]))
        status, out, err = await here.run("auto", "-m", "The whole task", *QUICK)
        assert (status, out) == (0, "All is summed up.\n"), err
        assert model.asked[0] == "plan"
        assert set(model.asked[1:3]) == {"DO-a", "DO-b"}
        assert model.asked[3:] == ["DO-c", "summary"]
        last = written(here.model.requests[3])
        assert "DO-a is done." in last and "DO-b is done." in last and "Shared." in last
        assert "[ ] Task c (after Task a, Task b)" in err


async def test_tasks_that_need_nothing_run_at_the_same_time(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        model = AutoModel(here.model, plan_of(a=[], b=[], c=[]))
        for name in "abc":
            model.plays[f"DO-{name}"] = lambda _asked, _n: model.say("Done.", silent=1.0)
        status, lines, err = await run_auto(here)
        assert status == 0, err
        running = [
            sum(task["state"] == "running" for task in line["tasks"])
            for line in lines
            if line["type"] == "tasks"
        ]
        assert max(running) == 3
        assert lines[-1]["type"] == "end"
        assert lines[-1]["state"] == "completed"


async def test_what_one_agent_can_do_is_not_split(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        model = AutoModel(here.model, {"should_split": False})
        model.plays["whole"] = lambda _asked, _n: model.say("The answer.")
        status, out, err = await here.run("auto", "-m", "The whole task", *QUICK)
        assert (status, out) == (0, "The answer.\n"), err
        assert model.asked == ["plan", "whole"]


REPAIRED: list[Any] = [
    [{"task": "DO-a now"}, {"task": "DO-b now"}],
    {"plan": plan_of(a=[], b=["a"])},
    {"subtasks": ["DO-a now", "DO-b now"]},
    {"tasks": [{"id": 1, "task": "DO-a now"}, {"id": 2, "task": "DO-b now", "dependencies": 1}]},
    {**plan_of(a=[], b=["Task a"])},
    {**plan_of(a=["a"], b=["a", "a", " a "])},
    {**plan_of(a=[], b=[]), "should_split": "yes", "background": None},
    {
        "should_split": True,
        "subtasks": [
            {"id": "x", "description": "DO-a now", "dependencies": None, "agent_type": "explore"},
            {"id": " y ", "title": "DO-b now", "task": "", "depends_on": ["x"], "agent_type": 3},
        ],
    },
    "Here is my plan:\n```json\n" + json.dumps(plan_of(a=[], b=["a"])) + "\n```\nGood luck.",
]


@pytest.mark.parametrize("number", range(len(REPAIRED)))
async def test_what_can_mean_only_one_thing_is_repaired(tmp_path: Path, number: int) -> None:
    async with place(tmp_path) as here:
        model = AutoModel(here.model, [REPAIRED[number]])
        status, _, err = await run_auto(here)
        assert status == 0, err
        assert sorted(model.asked) == ["DO-a", "DO-b", "plan", "summary"]


NONSENSE: list[tuple[Any, str]] = [
    (plan_of(a=["b"], b=["a"]), "go round in a circle"),
    (plan_of(a=[], b=["zzz"]), "'zzz', which is no subtask"),
    (
        {"should_split": True, "subtasks": [*plan_of(a=[])["subtasks"] * 2]},
        "several subtasks have the id 'a'",
    ),
    (plan_of(**{f"t{n}": [] for n in range(40)}), "at most 32"),
    (
        {"should_split": True, "subtasks": [{"id": "a"}, {"id": "b", "task": "x"}]},
        "should have at least 1 character",
    ),
    (
        {"should_split": True, "subtasks": [{"task": "\u200b"}, {"task": "x"}]},
        "does not say what to do",
    ),
    (
        {"should_split": True, "subtasks": [{"task": "x", "agent": "nobody"}, {"task": "y"}]},
        "there is no agent 'nobody'",
    ),
    ({"should_split": True, "subtasks": "many"}, "should be a valid tuple"),
    ({"should_split": True, "subtasks": [1, None]}, "dictionary"),
    ("I would begin with the tests.", "It cannot be read as JSON"),
    ("[" * 5000, "cannot be read as JSON"),
]


@pytest.mark.parametrize("number", range(len(NONSENSE)))
async def test_of_nonsense_the_model_is_told(tmp_path: Path, number: int) -> None:
    nonsense, told = NONSENSE[number]
    async with place(tmp_path) as here:
        model = AutoModel(here.model, [nonsense, plan_of(a=[], b=[])])
        status, _, err = await run_auto(here)
        assert status == 0, err
        assert sorted(model.asked) == ["DO-a", "DO-b", "plan", "plan", "summary"]
        assert told in written(here.model.requests[1])


async def test_without_a_plan_one_agent_does_all(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        model = AutoModel(here.model, "No plan.")
        model.plays["whole"] = lambda _asked, _n: model.say("Done alone.")
        status, lines, err = await run_auto(here)
        assert (status, lines[-1]["text"]) == (0, "Done alone."), err
        assert "No plan could be made" in str(lines)


async def test_what_needs_a_failed_task_is_skipped_and_the_rest_is_done(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        model = AutoModel(here.model, plan_of(a=[], b=["a"], c=[]))
        model.plays["DO-a"] = lambda _asked, _n: model.refuse(400, "never")
        status, lines, _ = await run_auto(here, "--retries", "1")
        tasks = last_tasks(lines)
        assert status == 1
        assert {id: task["state"] for id, task in tasks.items()} == {
            "a": "failed",
            "b": "skipped",
            "c": "done",
        }
        assert (model.count("DO-a"), model.count("DO-b"), model.count("summary")) == (2, 0, 1)
        assert tasks["b"]["error"] == "It needs “Task a”, which is not done."
        assert "2 of 3 tasks were not done" in lines[-1]["error"]
        assert lines[-1]["error"] in [
            line.get("text") for line in lines if line["type"] == "notice"
        ]
        # what failed is tried again, what is done is not
        session = lines[0]["session"]
        model.plays.clear()
        status, out, err = await here.run("auto", "-s", session, *QUICK)
        assert (status, out) == (0, "All is summed up.\n"), err
        assert (model.count("DO-b"), model.count("DO-c")) == (1, 1)
        status, _, err = await here.run("auto", "-s", session, *QUICK)
        assert (status, "can be resumed" in err) == (2, True)


async def test_budgets_hold_and_nothing_is_tried_again_then(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        config = here.home / "config.toml"
        config.write_text(config.read_text() + "[agents]\ntokens = 30000\n")
        model = AutoModel(here.model, plan_of(a=[], b=["a"]))

        def spend(_asked: Asked, _number: int) -> Answer:
            answer = model.call("list_project_files", {})
            answer.chunks[-1]["usage"]["prompt_tokens"] = 29_900
            return answer

        model.plays["DO-a"] = spend
        status, lines, _ = await run_auto(here)
        assert status == 1
        assert model.count("DO-a") == 1
        assert "budget" in last_tasks(lines)["a"]["error"]
        assert "DO-b" not in model.asked


async def test_nothing_is_written_without_consent(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        model = AutoModel(here.model, plan_of(a=[], b=[]))

        def write(_asked: Asked, number: int) -> Answer:
            if number:
                return model.say("Tried.")
            return model.call("rewrite_file", {"file_path": "new.txt", "content": "x"})

        model.plays["DO-a"] = write
        status, lines, err = await run_auto(here, "--trust")
        assert status == 0, err
        assert not (here.folder / "new.txt").exists()
        assert "denied" in [line["state"] for line in lines if line["type"] == "tool"]
        model.asked.clear()
        status, _, err = await run_auto(here, "--trust", "--allow", "write")
        assert (here.folder / "new.txt").read_text() == "x", err


async def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        config = here.home / "config.toml"
        usual = config.read_text()
        for arguments, why in (
            ((), "-m"),
            (("-m", " "), "the message is empty"),
            (("-m", "x", "--interval", "0"), "--interval"),
            (("-m", "x", "--retries", "-1"), "--retries"),
            (("-s", "nothing"), "nothing"),
            (("-m", "x", "-C", "nowhere"), "nowhere"),
        ):
            status, out, err = await here.run("auto", *arguments)
            assert (status, out) == (2, ""), err
            assert why in err
        model = AutoModel(here.model, plan_of(a=[], b=[]))
        config.write_text(usual + "[auto]\nstuk = 2\n")
        _, _, err = await here.run("auto", "-m", "x", *QUICK)
        assert "Unknown setting auto.stuk" in err
        assert model.count("summary") == 1


async def test_a_command_of_a_conversation_begins_it_too(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        AutoModel(here.model, plan_of(a=[], b=[]))
        status, out, err = await here.run("-m", "/auto The whole task")
        assert (status, out) == (0, "All is summed up.\n"), err

"""`jarvis eval`: tasks worked through, checked, counted, gone on with, and replayed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_jarvis_command import Place, place

pytestmark = pytest.mark.watches()

EDIT: dict[str, Any] = {
    "files": [{"file_path": "a.c", "diffs": [{"search": "return 1;", "replace": "return 2;"}]}]
}
READ: dict[str, Any] = {"files": [{"path": "a.c"}]}
CHECK = f"{sys.executable} -c \"assert 'return 2' in open('a.c').read()\""


def write(p: Place, *tasks: dict[str, Any]) -> None:
    (p.folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))


def mend(check: str = CHECK) -> dict[str, Any]:
    return {"id": "mend", "prompt": "Mend a.c", "folder": "project", "check": check}


COUNT = {"id": "count", "prompt": "Count them", "schema": {"type": "integer"}}


async def evaluate(p: Place, output: str, *more: str) -> tuple[int, dict[str, Any], str]:
    """Status, summary and errors of a run."""
    status, out, err = await p.run(
        *("eval", "tasks.jsonl", "--output", output, "--format", "json"), *more
    )
    return status, json.loads(out) if out else {}, err


def script(p: Place) -> None:
    """Answers that solve both tasks."""
    assert p.model is not None
    (p.folder / "project").mkdir()
    (p.folder / "project" / "a.c").write_text("int f(void) { return 1; }\n")
    p.model.call("read_code", READ)
    p.model.call("edit_file", EDIT)
    p.model.say("It is mended. !!!COMPLETE!!!", thinking="Done.")
    p.model.say("three")
    p.model.say("3")


ALLOWED = ("--trust", "--allow", "write")


async def test_tasks_are_solved_counted_and_replayed(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        write(p, mend(), COUNT)
        script(p)
        status, first, err = await evaluate(p, "out", *ALLOWED)
        assert status == 0, err
        assert (first["solved"], first["tasks"], first["rounds_median"]) == (2, 2, 2.5)
        mended, counted = first["results"]
        assert mended["check"]["status"] == 0 and mended["rounds"] == 3
        assert mended["usage"]["input"] == 33 and first["cached_share"] == round(4 / 11, 4)
        assert counted["value"] == 3
        assert "return 1" in (p.folder / "project" / "a.c").read_text()  # a copy was changed
        assert json.loads((p.folder / "out" / "summary.json").read_text()) == first
        asked = len(p.model.requests)

        status, again, err = await evaluate(p, "out", *ALLOWED)  # nothing is done twice
        assert status == 0 and again == first and "done already" in err

        status, replayed, err = await evaluate(p, "other", *ALLOWED, "--replay", "out")
        assert status == 0, err
        assert len(p.model.requests) == asked  # no model was asked
        for name in ("outcome", "rounds", "usage", "value", "text"):
            before = [result[name] for result in first["results"]]
            assert [result[name] for result in replayed["results"]] == before, name

        status, text, _ = await p.run("eval", "tasks.jsonl", "--output", "out", *ALLOWED)
        assert status == 0 and "solved" in text.splitlines()[1]
        assert text.splitlines()[-1].split()[:3] == ["all", "2/2", "2.5"]


async def test_a_task_that_changed_is_done_again(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        write(p, COUNT)
        p.model.say("3")
        assert (await evaluate(p, "out"))[0] == 0
        write(p, {**COUNT, "prompt": "Count again"}, {"id": "more", "prompt": "Say it"})
        p.model.say("4")
        p.model.say("I cannot. !!!FAILED!!!")
        status, summary, _ = await evaluate(p, "out")
    outcomes = [(r["id"], r["outcome"], r["value"]) for r in summary["results"]]
    assert status == 1 and outcomes == [("count", "solved", 4), ("more", "failed", None)]


async def test_a_failed_check_and_a_task_without_end(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        slow = {"id": "slow", "prompt": "Be slow", "seconds": 0.5}
        write(p, mend("echo why; exit 3"), slow)
        (p.folder / "project").mkdir()
        p.model.say("It is mended. !!!COMPLETE!!!")
        p.model.say("never", silent=60)
        status, summary, _ = await evaluate(p, "out", *ALLOWED)
    mended, late = summary["results"]
    assert status == 1 and summary["solved"] == 0
    assert mended["check"] == {"status": 3, "output": "why\n"} and mended["state"] == "completed"
    assert (late["outcome"], late["error"]) == ("failed", "It was not done in time.")


async def test_checks_are_run_only_when_the_tasks_are_trusted(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        (p.folder / "project").mkdir()
        write(p, mend())
        status, _, err = await evaluate(p, "out")
        assert status == 2 and "--trust" in err and not (p.folder / "out").exists()


async def test_a_check_sees_no_key(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        write(p, {"id": "a", "prompt": "Go", "check": "env"})
        p.model.say("Done. !!!COMPLETE!!!")
        _, summary, _ = await evaluate(p, "out", "--trust")
    output = summary["results"][0]["check"]["output"]
    assert "PATH=" in output and "SCRIPTED_KEY" not in output


async def test_what_was_not_recorded_is_said(tmp_path: Path) -> None:
    async with place(tmp_path) as p:
        assert p.model is not None
        write(p, COUNT)
        p.model.say("3")
        await evaluate(p, "out")
        write(p, {"id": "more", "prompt": "Another"})
        status, summary, _ = await evaluate(p, "new", "--replay", "out")
    assert status == 1 and "no recorded answers" in summary["results"][0]["error"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "tasks.jsonl:1"),
        ('{"id": "a"}', "prompt"),
        ('{"id": "a", "prompt": "x", "folder": "none"}', "is not a folder"),
        ('{"id": "a", "prompt": "x", "schema": {"type": "x"}}', "JSON schema"),
        ('{"id": "a", "prompt": "x", "tests": 1}', "'tests' is not known"),
        ('{"id": "a", "prompt": "x"}\n{"id": "a", "prompt": "y"}', "tasks.jsonl:2"),
    ],
)
async def test_tasks_that_are_wrong_are_said(tmp_path: Path, line: str, words: str) -> None:
    async with place(tmp_path, model=False) as p:
        (p.folder / "tasks.jsonl").write_text(line)
        status, _, err = await evaluate(p, "out")
    assert status == 2 and words in err

"""`jarvis review --agents` with a scripted model: what it says is kept only about the diff."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_jarvis_command import Place, place
from tests.support.model_server import Answer, Asked
from tests.support.repositories import commit, git, make_repository, write

BEFORE = "".join(f"int f{n}(int a) {{ return a + {n}; }}\n" for n in range(60))
AFTER = BEFORE.replace("return a + 40;", "return a / (a - 40);")
ROLES = ("security", "correctness", "tests", "maintainability")
DIVISION = {
    "path": "lib.c",
    "line": 41,
    "end_line": 41,
    "severity": "high",
    "message": "f40 divides by zero when 'a' is 40.",
    "suggestion": "Return an error for a == 40.",
    "quote": "int f40(int a) { return a / (a - 40); }",
}


def answer(*issues: dict[str, Any], summary: str = "It divides.") -> str:
    return json.dumps({"issues": list(issues), "summary": summary})


def role_of(asked: Asked) -> str:
    """The role that a request is for."""
    text = json.dumps(asked.body["messages"])
    return next(role for role in ROLES if f"the reviewer of {role}" in text)


def answers(here: Place, give: Callable[[str, Asked], str | Answer]) -> list[Asked]:
    """Have each role answered by `give`; returns what is asked."""
    model = here.model
    assert model is not None
    seen: list[Asked] = []

    def decide(asked: Asked) -> Answer:
        seen.append(asked)
        given = give(role_of(asked), asked)
        if isinstance(given, str):
            given = model.say(given)
            model.answers.remove(given)
        return given

    model.decide = decide
    return seen


async def review(here: Place, *more: str, status: int = 0) -> dict[str, Any]:
    code, out, err = await here.run("review", "--agents", "--format", "json", *more)
    assert code == status and "Traceback" not in err, err
    told: dict[str, Any] = json.loads(out)
    return told


def by_models(told: dict[str, Any]) -> list[dict[str, Any]]:
    return [issue for issue in told["issues"] if issue["rule"].startswith("review-")]


def change(here: Place, before: dict[str, str], after: dict[str, str]) -> None:
    here.folder.rmdir()
    make_repository(here.folder, before)
    write(here.folder, after)


async def test_each_role_reads_the_diff_and_what_two_say_stands_once(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        change(here, {"lib.c": BEFORE}, {"lib.c": AFTER})
        also = {**DIVISION, "severity": "medium", "message": "When 'a' is 40, f40 divides by zero."}
        said = {"correctness": answer(DIVISION), "security": answer(also)}
        seen = answers(here, lambda role, _: said.get(role, answer(summary="Nothing.")))
        told = await review(here)
        assert {role_of(asked) for asked in seen} == set(ROLES) and len(seen) == 4
        for asked in seen:
            text = json.dumps(asked.body["messages"])
            assert "41 + int f40(int a) { return a / (a - 40); }" in text
            assert "int f2(" not in text
        (issue,) = by_models(told)
        assert (issue["path"], issue["line"], issue["severity"]) == ("lib.c", 41, "high")
        assert (issue["source"], issue["also"]) == ("correctness", ["security"])
        assert told["model"] and {reading["role"] for reading in told["readings"]} == set(ROLES)
        _, text, _ = await here.run("review", "--agents", "--role", "correctness")
        assert "lib.c:41: high: f40 divides by zero when 'a' is 40. [review-correctness]" in text
        assert "without a model" not in text


async def test_what_is_not_in_the_diff_is_asked_for_again_then_left_out(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        change(here, {"lib.c": BEFORE}, {"lib.c": AFTER})
        false = [
            {**DIVISION, "path": "../../etc/passwd"},
            {**DIVISION, "quote": "int f3(int a) { return a + 3; }", "line": 4},
            {**DIVISION, "quote": "free(p);"},
            {**DIVISION, "severity": "urgent"},
            {**DIVISION, "line": 0},
        ]
        given = [answer(issue) for issue in false] + ["What a change!", answer(DIVISION)]
        said: list[str] = []

        def give(role: str, _: Asked) -> str:
            said.append(given[len(said)] if len(said) < len(given) else given[-1])
            return said[-1]

        answers(here, give)
        told = await review(here, "--role", "correctness", status=1)
        assert by_models(told) == [] and told["summary"]["not_read"] == ["lib.c"]
        assert "correctness" in {r["role"] for r in told["readings"] if r["problem"]}
        said.clear()
        given[:] = given[-2:]
        told = await review(here, "--role", "correctness")
        assert [issue["line"] for issue in by_models(told)] == [41]


async def test_a_line_that_a_model_miscounts_is_where_its_quote_is(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        change(here, {"lib.c": BEFORE}, {"lib.c": AFTER})
        odd = {**DIVISION, "line": 7, "end_line": 9, "quote": "  + " + DIVISION["quote"] + " "}
        answers(here, lambda *_: answer(odd))
        told = await review(here, "--role", "tests")
        assert [(i["line"], i["end_line"]) for i in by_models(told)] == [(41, 41)]


async def test_a_long_diff_is_read_to_its_end(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        lines = [f"int v{number} = {number}; /* {'x' * 60} */\n" for number in range(1_500)]
        change(here, {"big.c": "int a;\n"}, {"big.c": "".join(lines), "small.py": "x = 1\n"})
        git(here.folder, "add", "--all")
        seen = answers(here, lambda *_: answer())
        told = await review(here, "--role", "correctness")
        text = "".join(json.dumps(asked.body["messages"]) for asked in seen)
        assert all(f"{number} + int v{number - 1} =" in text for number in range(1, 1_501))
        assert len(seen) >= 5 and told["summary"]["not_read"] == []


async def test_a_model_that_fails_loses_no_issue_and_is_said(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        change(here, {"lib.c": BEFORE}, {"lib.c": AFTER + "/* TODO later */\n"})
        model = here.model
        assert model is not None

        def give(role: str, _: Asked) -> str | Answer:
            if role != "tests":
                return answer(DIVISION)
            refused = model.refuse(401)
            model.answers.remove(refused)
            return refused

        answers(here, give)
        told = await review(here, status=1)
        assert {"review-security", "work-left"} <= {issue["rule"] for issue in told["issues"]}
        (failed,) = [reading for reading in told["readings"] if reading["problem"]]
        assert (failed["role"], told["summary"]["not_read"]) == ("tests", ["lib.c"])


async def test_reviewers_look_at_the_state_that_is_reviewed_and_change_nothing(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        change(here, {"lib.c": BEFORE, "use.c": "old\n"}, {"lib.c": AFTER, "use.c": "second\n"})
        commit(here.folder, "second")
        write(here.folder, {"use.c": "on the disk\n"})
        model = here.model
        assert model is not None
        wanted = [
            ("read_code", {"files": [{"path": "use.c"}]}),
            ("edit_file", {"path": "use.c", "edits": [{"search": "second", "replace": "bad"}]}),
            ("execute_script", {"script": "touch pwned"}),
        ]

        def give(role: str, asked: Asked) -> str | Answer:
            if any(message["role"] == "tool" for message in asked.body["messages"]):
                return answer(DIVISION)
            called = model.call_all(wanted)
            model.answers.remove(called)
            return called

        seen = answers(here, give)
        told = await review(here, "--role", "security", "--range", "HEAD~1..HEAD")
        assert len(by_models(told)) == 1
        results = [m["content"] for m in seen[-1].body["messages"] if m["role"] == "tool"]
        assert "second" in results[0] and "on the disk" not in "".join(results)
        assert (here.folder / "use.c").read_text() == "on the disk\n"
        assert not list(tmp_path.rglob("pwned"))


async def test_secrets_of_a_change_are_not_sent(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" for _ in range(4))
        key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"
        token = "ghp_" + "a1B2c3D4e5F6" * 3
        change(
            here, {"a.py": "x = 1\n"}, {"a.py": f"x = 1\nt = '{token}'\nk = '''{key}'''\ny = 2\n"}
        )
        seen = answers(here, lambda *_: answer({**DIVISION, "path": "a.py", "quote": "y = 2"}))
        told = await review(here, "--role", "security")
        text = json.dumps(seen[0].body)
        assert token not in text and "MIIEvQ" not in text and "10 + y = 2" in text
        assert [issue["line"] for issue in by_models(told)] == [10]


@pytest.mark.parametrize("form", ["text", "sarif", "github"])
async def test_without_a_model_it_says_so_and_reviews(tmp_path: Path, form: str) -> None:
    async with place(tmp_path, model=False) as here:
        change(here, {"a.c": "int a;\n"}, {"a.c": "int a; // TODO\n"})
        status, out, err = await here.run("review", "--agents", "--format", form)
        assert status == 0 and "work-left" in out and "without a model" in out
        assert "Reviewing without agents: " in err


async def test_the_budget_ends_the_reading(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        change(here, {"lib.c": BEFORE}, {"lib.c": AFTER})
        seen = answers(here, lambda *_: answer(DIVISION))
        told = await review(here, "--tokens", "1", "--jobs", "1", status=1)
        assert len(seen) < 4 and told["summary"]["not_read"] == ["lib.c"]

"""`jarvis test-repair`: failing tests become a patch, or an answer that says why not."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.code_agent import applied
from tests.support.repair_bench import MENDED, PYTHON, repair_bench
from tests.support.repositories import git, write

pytestmark = pytest.mark.watches()


async def test_a_failing_test_becomes_a_patch_and_nothing_of_the_user_is_written(
    tmp_path: Path,
) -> None:
    async with repair_bench(tmp_path) as bench:
        before = bench.state()
        bench.plan(cause="src/money.py", diagnosis="The first price is left out.")
        bench.patch([MENDED])
        status, out, err = await bench.repair()
        assert status == 0, err
        assert "for price in prices:" in applied(bench.root, out)["src/money.py"]
        assert "All tests pass with this patch: 3 of 3" in err
        assert "Files that could change: src/money.py, src/rounding.py" in err
        assert bench.state() == before
        assert git(bench.root, "status", "--porcelain") == ""
        assert "- src/money.py::total" in bench.told()
        assert "unrelated" not in bench.told().partition("What failed")[2].partition("## Rules")[0]


async def test_a_program_gets_the_answer_of_the_specification(tmp_path: Path) -> None:
    async with repair_bench(tmp_path) as bench:
        bench.plan(cause="src/money.py", diagnosis="The first price is left out.")
        bench.patch([MENDED])
        answer = await bench.request(human_in_the_loop=False)
        assert re.fullmatch(r"dbg_\d{8}_[0-9a-f]{6}", answer.pop("session_id"))
        fixed = PYTHON["src/money.py"].replace("prices[1:]", "prices")
        assert answer == {
            "status": "fixed",
            "repairable_scope": ["src/money.py", "src/rounding.py"],
            "fixed_files": {"src/money.py": fixed},
            "patch_set": [
                {
                    "file": "src/money.py",
                    "patch": "@@ -7,6 +7,6 @@\n"
                    " \n def total(prices):\n     result = 0\n-    for price in prices[1:]:\n"
                    "+    for price in prices:\n         result += price\n"
                    "     return half_up(result)\n",
                }
            ],
            "validation_summary": {
                "syntax_check": "passed",
                "type_check": "not run",
                "tests_passed": 3,
                "tests_total": 3,
                "impact_analysis": "compatible within repairable scope",
            },
        }


async def test_all_candidates_that_pass_are_returned_unless_the_first_is_wanted(
    tmp_path: Path,
) -> None:
    async with repair_bench(tmp_path) as bench:
        bench.plan()
        other = ("src/money.py", "    result = 0\n", "    result = prices[0]\n")
        wrong = ("src/money.py", "    result = 0\n", "    result = 5\n")
        bench.patch([MENDED], [other], [wrong])
        answer = await bench.request()
        assert answer["status"] == "candidates"
        assert set(answer) == {
            "session_id",
            "status",
            "repairable_scope",
            "candidates",
            "diagnosis",
        }
        assert [candidate["id"] for candidate in answer["candidates"]] == ["fix-1", "fix-2"]
        for candidate in answer["candidates"]:
            assert set(candidate) == {"id", "description", "risk", "files", "patch_set"}
            assert candidate["risk"] == "low"
        assert "result = prices[0]" in answer["candidates"][1]["files"]["src/money.py"]


async def test_an_attempt_that_fails_is_told_and_tried_again_as_often_as_is_set(
    tmp_path: Path,
) -> None:
    settings = {".tester/config.yaml": "validation:\n  max_patch_attempts: 2\n"}
    async with repair_bench(tmp_path, {**PYTHON, **settings}) as bench:
        bench.plan()
        bench.patch([("src/money.py", "result = 0", "result = 5")])
        bench.patch([MENDED])
        answer = await bench.request(human_in_the_loop=False)
        assert answer["status"] == "fixed"
        told = str(bench.model.requests[-1].body["messages"])
        assert "Attempt 1 was refused" in told and "+    result = 5" in told
        assert "Test failed: python: tests/test_money.py::test_total" in told
        bench.plan(diagnosis="The sum is wrong.")
        bench.patch([("src/money.py", "result = 0", "result = 5")])
        bench.patch([("src/money.py", "result = 0", "result = 7")])
        answer = await bench.request(human_in_the_loop=False)
        assert answer["status"] == "unfixable"
        assert set(answer) == {
            "session_id",
            "status",
            "repairable_scope",
            "diagnosis",
            "suggested_action",
        }
        assert answer["diagnosis"].startswith("The sum is wrong. No patch passed: Test failed")
        events = [record["event"] for record in bench.audit()]
        assert events == [
            *("request", "analysis", "plan", "validation", "validation", "answer") * 2
        ]


async def test_a_cause_outside_of_what_is_allowed_is_not_repaired(tmp_path: Path) -> None:
    settings = {".tester/config.yaml": "recursive_fix:\n  denied_paths: [src/money.py]\n"}
    async with repair_bench(tmp_path, {**PYTHON, **settings}) as bench:
        bench.plan(cause="src/money.py")
        answer = await bench.request()
        assert answer["status"] == "unfixable"
        assert answer["repairable_scope"] == ["src/rounding.py"]
        assert "Root cause in src/money.py (denied_paths has it)" in answer["diagnosis"]
        bench.plan(cause="src/money.py")
        status, out, err = await bench.repair()
        assert (status, out) == (1, "")
        assert "Not repaired. Root cause in src/money.py" in err
        bench.plan(cause="src/money.py")
        bench.environment["LC_ALL"] = "zh_CN.UTF-8"
        _, _, err = await bench.repair()
        assert "未修复。根本原因在 src/money.py 中（denied_paths 禁止修改它）" in err
        assert "请在 .tester/config.yaml 的 recursive_fix 中允许此文件" in err


async def test_where_no_test_fails_no_model_is_asked(tmp_path: Path) -> None:
    files = {**PYTHON, "src/money.py": PYTHON["src/money.py"].replace("[1:]", "")}
    async with repair_bench(tmp_path, files) as bench:
        status, out, err = await bench.repair()
        assert (status, out) == (0, "")
        assert "No test fails; tests that ran: 3." in err
        assert bench.model.requests == []


async def test_what_is_not_committed_is_repaired_as_it_is(tmp_path: Path) -> None:
    files = {**PYTHON, "src/money.py": PYTHON["src/money.py"].replace("[1:]", "")}
    async with repair_bench(tmp_path, files) as bench:
        write(bench.root, {"src/money.py": PYTHON["src/money.py"]})
        before = bench.state()
        bench.plan()
        bench.patch([MENDED])
        answer = await bench.request(human_in_the_loop=False)
        assert answer["fixed_files"] == {"src/money.py": files["src/money.py"]}
        assert bench.state() == before


async def test_given_cases_are_run_beside_the_tests(tmp_path: Path) -> None:
    files = {
        "calc.py": "def divide(a, b):\n    return a / b\n",
        "main.sh": "echo $(($1 + $1))\n",
    }
    async with repair_bench(tmp_path, files) as bench:
        bench.plan()
        bench.patch([("calc.py", "    return a / b", "    return a / b if b else None")])
        cases = [{"input": [4, 2], "output": 2}, {"input": [1, 0], "output": None}]
        answer = await bench.request(
            test_cases=cases, entry_point="calc.py::divide", human_in_the_loop=False
        )
        assert answer["status"] == "fixed", answer
        assert answer["validation_summary"]["tests_total"] == 2
        assert "ZeroDivisionError" in bench.told()
        bench.plan("main.sh")
        bench.patch([("main.sh", "$1 + $1", "$1 * $1")])
        answer = await bench.request(
            test_cases=[{"input": [3], "output": 9}], entry_point="main.sh"
        )
        assert answer["status"] == "candidates", answer


async def test_cases_are_written_from_a_description_where_no_test_fails(tmp_path: Path) -> None:
    notes = {"functionality": "total adds all prices", "definitions": ["src/money.py::total"]}
    files = {name: text for name, text in PYTHON.items() if name != "tests/test_money.py"}
    async with repair_bench(
        tmp_path, {**files, ".tester/tasks/t1.json": json.dumps(notes)}
    ) as bench:
        case = {"input": [[1, 2]], "output": 3}
        bench.model.say(json.dumps({"entry_point": "src/money.py::total", "cases": [case]}))
        bench.plan()
        bench.patch([MENDED])
        answer = await bench.request(human_in_the_loop=False)
        assert answer["status"] == "fixed", answer
        assert "total adds all prices" in bench.told()
        right = {"input": [[0, 2]], "output": 2}
        bench.model.say(json.dumps({"entry_point": "src/money.py::total", "cases": [right]}))
        answer = await bench.request()
        assert answer["status"] == "unfixable"
        assert "No test fails" in answer["diagnosis"]


async def test_what_builds_have_made_is_found_by_the_next_repair(tmp_path: Path) -> None:
    command = "if [ -e made.o ]; then echo not ok 1 - again; else echo ok 1 - first; fi; : > made.o"
    files = {
        "made.c": "int made;\n",
        ".gitignore": "*.o\n",
        ".tester/config.yaml": f"validation:\n  test_command: '{command}'\n",
    }
    async with repair_bench(tmp_path, files) as bench:
        first = await bench.request()
        assert (first["status"], first["validation_summary"]["tests_passed"]) == ("fixed", 1)
        bench.model.say(json.dumps({"diagnosis": "none", "files": ["made.c"]}))
        bench.model.say(json.dumps({"status": "cannot", "reason": "no"}))
        assert (await bench.request())["status"] == "unfixable"
        analyses = [r["suites"] for r in bench.audit() if r["event"] == "analysis"]
        assert [suite["failed"] for (suite,) in analyses] == [[], ["again"]]
        assert not (bench.root / "made.o").exists()


async def test_a_folder_without_git_or_tests(tmp_path: Path) -> None:
    async with repair_bench(tmp_path, {"a.py": "x = 1\n", "data.bin": b"\0\xff" * 9}) as bench:
        shutil.rmtree(bench.root / ".git")
        answer = await bench.request()
        assert answer["status"] == "unfixable"
        assert answer["diagnosis"] == f"No tests were found in {bench.root}."
        write(bench.root, {"test_a.py": "from a import x\n\n\ndef test_x():\n    assert x == 2\n"})
        bench.plan()
        bench.patch([("a.py", "x = 1", "x = 2")])
        answer = await bench.request(conversation_id="c1", human_in_the_loop=False)
        assert answer["status"] == "fixed", answer
        bench.plan(diagnosis="again")
        bench.model.say(json.dumps({"status": "cannot", "reason": "no"}))
        await bench.request(conversation_id="c1")
        assert "earlier in this conversation: fixed: a.py" in bench.told()

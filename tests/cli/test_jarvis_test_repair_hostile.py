"""`jarvis test-repair` with models and projects that do harm: nothing of it survives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.repair_bench import MENDED, PYTHON, repair_bench
from tests.support.repositories import git

pytestmark = pytest.mark.watches()

TEST = "tests/test_money.py"
HARM = {
    "a file outside of the scope": [("src/unrelated.py", "'hello ' + name", "name")],
    "a test": [(TEST, "== 6", "== 5")],
    "a test by the way": [MENDED, (TEST, "== 6", "== 5")],
    "a hook": [(".git/hooks/pre-commit", "", "#!/bin/sh\n")],
    "a hook spelled otherwise": [("src/../.GIT/hooks/pre-commit", "", "#!/bin/sh\n")],
    "a file outside of the project": [("../../victim.txt", "mine", "pwned")],
    "an absolute path": [("/tmp/agent-victim.txt", "", "pwned")],
    "a file behind a link": [("linked/victim.txt", "mine", "pwned")],
    "the settings": [(".tester/config.yaml", "", "recursive_fix: {}\n")],
    "how tests are run": [("conftest.py", "", "collect_ignore = ['tests/test_money.py']\n")],
    "a public function": [("src/rounding.py", PYTHON["src/rounding.py"], "X = 1\n")],
    "a new import": [("src/money.py", "from src", "import os\nfrom src")],
    "a syntax error": [("src/money.py", "in prices[1:]:", "in prices")],
    "a text that is not there": [("src/money.py", "no such text", "x")],
}
"""Refused by rules, before anything is run."""
CHEATS = {
    "nothing but a blank": [("src/money.py", "result = 0", "result = 0 ")],
    "an end of the run": [
        ("src/rounding.py", "def half_up", "__import__('os')._exit(0)\n\n\ndef half_up")
    ],
    "all tests skipped": [
        (
            "src/rounding.py",
            "def half_up",
            "__import__('pytest').skip('', allow_module_level=True)\n\n\ndef half_up",
        )
    ],
}
"""Refused by what the tests show."""


async def test_patches_that_do_harm_are_refused_before_anything_is_run(tmp_path: Path) -> None:
    settings = {".tester/config.yaml": "validation:\n  max_patch_attempts: 4\n"}
    elsewhere = tmp_path / "elsewhere"  # a link to a folder above would be an endless loop of tests
    elsewhere.mkdir()
    victims = [tmp_path / "victim.txt", elsewhere / "victim.txt"]
    for victim in victims:
        victim.write_text("mine\n")
    async with repair_bench(tmp_path, {**PYTHON, **settings}) as bench:
        (bench.root / "linked").symlink_to(elsewhere)
        git(bench.root, "add", "--all")
        before = bench.state()
        edits = list(HARM.values())
        bench.plan(*(file for patch in edits[1:] for file, _, _ in patch))
        for first in range(0, len(edits), 4):
            bench.patch(*edits[first : first + 4])
        answer = await bench.request(human_in_the_loop=False)
        assert answer["status"] == "unfixable", answer
        assert answer["repairable_scope"] == ["src/money.py", "src/rounding.py"]
        events = [record["event"] for record in bench.audit()]
        assert (events.count("refused"), events.count("validation")) == (len(HARM), 0)
        assert bench.state() == before
        assert [victim.read_text() for victim in victims] == ["mine\n", "mine\n"]
        assert not Path("/tmp/agent-victim.txt").exists()


async def test_patches_that_only_keep_tests_from_running_do_not_pass(tmp_path: Path) -> None:
    async with repair_bench(tmp_path) as bench:
        before = bench.state()
        bench.plan()
        bench.patch(*CHEATS.values())
        bench.model.say(json.dumps({"status": "cannot", "reason": "no"}))
        answer = await bench.request()
        assert answer["status"] == "unfixable", answer
        events = [record["event"] for record in bench.audit()]
        assert events.count("validation") == len(CHEATS)
        assert bench.state() == before


async def test_good_patches_are_taken_from_among_bad_ones(tmp_path: Path) -> None:
    async with repair_bench(tmp_path) as bench:
        bench.plan("tests/test_money.py", ".git/config", cause="tests/test_money.py")
        answer = await bench.request()
        assert "Root cause in tests/test_money.py (it is a test)" in answer["diagnosis"]
        bench.plan(cause="no/such/file.py")
        bench.patch(HARM["a test"], [MENDED], HARM["a public function"])
        answer = await bench.request()
        assert [candidate["id"] for candidate in answer["candidates"]] == ["fix-2"]
        assert set(answer["candidates"][0]["files"]) == {"src/money.py"}
        refusals = [record["why"] for record in bench.audit() if record["event"] == "refused"]
        assert refusals[0] == "tests/test_money.py may not be changed: it is a test"
        assert "public 'half_up' is gone" in refusals[1]


async def test_nonsense_ends_without_a_repair(tmp_path: Path) -> None:
    settings = {".tester/config.yaml": "validation:\n  max_patch_attempts: 1\n"}
    async with repair_bench(tmp_path, {**PYTHON, **settings}) as bench:
        before = bench.state()
        bench.always_say("\x00 ][ I would rather not. {")
        answer = await bench.request()
        assert answer["status"] == "unfixable"
        assert answer["diagnosis"].startswith("No plan: ")
        bench.model.decide = None
        long = "x" * 5000
        bench.plan(long, f"src/{long}/a.py", "src/money.py/a", "\x00", "", "/", cause=long)
        bench.patch([(long, "", "x")], [("", "", "x")])
        answer = await bench.request()
        assert answer["repairable_scope"] == ["src/money.py", "src/rounding.py"]
        bench.plan()
        bench.model.call("execute_script", {"script": "rm -rf ."})
        bench.model.call("edit_file", {"files": []})
        bench.model.say(json.dumps({"status": "cannot", "reason": "It is too hard."}))
        answer = await bench.request()
        assert (answer["status"], answer["diagnosis"]) == ("unfixable", "It is too hard.")
        assert bench.state() == before


async def test_tests_of_the_project_neither_write_nor_connect(tmp_path: Path) -> None:
    root = tmp_path / "work"
    evil = (
        "import pathlib, socket\n\n\ndef test_evil():\n"
        f"    for place in ({str(root)!r}, '.'):\n"
        "        try:\n"
        "            pathlib.Path(place, 'src', 'money.py').write_text('pwned')\n"
        "        except OSError:\n            pass\n"
        "    try:\n"
        "        socket.create_connection(('127.0.0.1', PORT), 2).close()\n"
        "    except OSError:\n        return\n"
        "    raise AssertionError('CONNECTED')\n"
    )
    async with repair_bench(tmp_path) as bench:
        port = bench.model.url.rpartition(":")[2].partition("/")[0]
        (bench.root / "tests/test_evil.py").write_text(evil.replace("PORT", port))
        before = bench.state()
        bench.plan()
        bench.patch([MENDED])
        answer = await bench.request(human_in_the_loop=False)
        assert answer["status"] == "fixed", answer
        assert answer["fixed_files"].keys() == {"src/money.py"}
        assert bench.state() == before


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("recursive_fix: {alowed_paths: [src]}\n", "recursive_fix.alowed_paths"),
        ("validation: {timeout: -1}\n", "validation.timeout"),
        ("- a\n- b\n", "config.yaml"),
        ("a: [\n", "config.yaml"),
    ],
)
async def test_settings_that_cannot_be_understood_are_named(
    tmp_path: Path, settings: str, told: str
) -> None:
    async with repair_bench(tmp_path, {**PYTHON, ".tester/config.yaml": settings}) as bench:
        status, out, err = await bench.repair()
        assert (status, out, told in err) == (2, "", True), err


@pytest.mark.parametrize(
    "request_text",
    [
        "",
        "[]",
        '{"project_root": "relative", "task_id": "x"}',
        '{"project_root": "/tmp", "task_id": "../../etc/passwd"}',
        '{"project_root": "/tmp"}',
        '{"project_root": "/tmp", "task_id": "x", "shell": "rm"}',
        "[" * 100_000,
    ],
)
async def test_a_request_that_is_none_is_refused(tmp_path: Path, request_text: str) -> None:
    async with repair_bench(tmp_path) as bench:
        status, out, err = await bench.repair("--request", "-", given=request_text)
        assert (status, out) == (2, "")
        assert err.startswith("jarvis: ")


async def test_inputs_that_no_program_takes_are_refused(tmp_path: Path) -> None:
    async with repair_bench(tmp_path, {"main.sh": "echo $1\n"}) as bench:
        cases = [{"input": ["a\0b"], "output": "a"}]
        request = {"project_root": str(bench.root), "task_id": "t1", "test_cases": cases}
        for entry, told in (
            ("main.sh", "holds a NUL"),
            ("../main.sh", "entry_point"),
            ("", "entry"),
        ):
            given = json.dumps({**request, "entry_point": entry})
            status, out, err = await bench.repair("--request", "-", given=given)
            assert (status, out, told in err) == (2, "", True), err


async def test_an_untrusted_folder_is_left_alone(tmp_path: Path) -> None:
    async with repair_bench(tmp_path) as bench:
        before = bench.state()
        status, out, err = await bench.run_jarvis("test-repair")
        assert (status, out) == (2, "")
        assert "--trust" in err
        assert bench.state() == before and not (bench.root / ".jarvis").exists()

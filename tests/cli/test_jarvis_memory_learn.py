"""What a project teaches by itself: `jarvis memory learn`, and who uses it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_jarvis_command import place
from tests.cli.test_jarvis_review_agents import answers
from tests.support.agents import until
from tests.support.code_agent import OFF_BY_ONE, code_bench
from tests.support.model_server import without_models
from tests.support.repositories import ENVIRONMENT, commit, git, make_repository, write
from tests.support.starting import quick

RULES = """\
# Rules

## Names
- A function that frees is called `..._free`; nothing else is.

Tests
-----
Every test has a name of its own: no two files share one.
"""
REASON = """Read the header twice

The length field is at its end, because old writers did not know it before.

Signed-off-by: A <a@example.org>"""
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


class Project:
    """A repository with a past."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = make_repository(folder / "work", {"src/wire.c": "0", "docs/wire.md": "0"})
        for number in range(6):
            write(self.root, {"src/wire.c": f"int a{number};\n", "docs/wire.md": f"{number}\n"})
            commit(self.root, f"fix: step {number}")
        write(self.root, {"src/head.c": "int h;\n"})
        commit(self.root, REASON)
        git(self.root, "revert", "--no-edit", "HEAD~1")
        write(self.root, {"AGENTS.md": RULES, "src/head.c": "int h, i;\n"})
        commit(self.root, f"docs: rules\n\nWith the token {SECRET}, since it must not be kept.")

    def run(self, *arguments: str, status: int = 0) -> str:
        run = subprocess.run(
            [*quick("jarvis_ls.cli.jarvis"), *arguments],
            cwd=self.root,
            env={**without_models(ENVIRONMENT), "JARVIS_HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert run.returncode == status, run.stdout + run.stderr
        assert "Traceback" not in run.stderr, run.stderr
        return run.stdout

    def notes(self) -> dict[str, dict[str, Any]]:
        """The memories by title."""
        listed = json.loads(self.run("memory", "list", "--format", "json"))
        return {note["title"]: note for note in listed}

    def review(self, *arguments: str) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.run("review", "--format", "json", *arguments))
        return told


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_history_and_rules_become_memories_that_git_does_not_see(project: Project) -> None:
    assert "0 changed, 0 removed" in project.run("memory", "learn")
    notes = project.notes()
    reason = notes["Read the header twice"]
    assert reason["category"] == "decision" and "old writers did not know" in reason["content"]
    assert "`src/head.c`" in reason["content"] and "Signed-off-by" not in reason["content"]
    assert reason["directory"] == "src"
    revert = notes['Revert "fix: step 5"']
    assert revert["category"] == "pitfall"
    together = notes["What changes with docs/wire.md"]
    assert "- `src/wire.c`: 7 of 7 commits" in together["content"]
    assert "src/wire.c was often corrected" in notes
    assert "which_free" not in str(notes) and "..._free" in notes["AGENTS.md: Names"]["content"]
    assert "no two files share one" in notes["AGENTS.md: Tests"]["content"]
    assert SECRET not in json.dumps(notes) and "docs: rules" in notes
    assert all("learned" in note["tags"] for note in notes.values())
    assert git(project.root, "status", "--porcelain", "--untracked-files=all") == ""
    assert "nothing is new" in project.run("memory", "learn")


def test_what_the_user_edits_or_deletes_stays_so(project: Project) -> None:
    project.run("memory", "learn")
    notes = project.notes()
    edited = notes["AGENTS.md: Names"]
    file = project.root / ".jarvis" / "memory" / f"{edited['id']}.json"
    file.write_text(json.dumps({**edited, "type": edited["kind"], "content": "Mine."}))
    project.run("memory", "delete", notes["Read the header twice"]["id"])
    write(project.root, {"AGENTS.md": RULES.replace("no two files share one", "always")})
    commit(project.root, "Say it shorter\n\nBecause nobody has read the long form of this file.")
    told = project.run("memory", "learn")
    assert "2 left as you made them" in told, told
    now = project.notes()
    assert now["AGENTS.md: Names"]["content"] == "Mine."
    assert "Read the header twice" not in now
    assert "always" in now["AGENTS.md: Tests"]["content"]
    assert "Say it shorter" in now
    project.run("memory", "learn", "--again")
    again = project.notes()
    assert "Read the header twice" in again
    assert "..._free" in again["AGENTS.md: Names"]["content"]


def test_a_review_without_a_model_uses_it_where_the_folder_is_trusted(project: Project) -> None:
    write(project.root, {"src/wire.c": "int a4;\nint more;\n"})
    project.run("memory", "learn")
    untrusted = project.review()
    assert untrusted["notes"] == [] and untrusted["issues"] == []
    told = project.review("--trust")
    (issue,) = told["issues"]
    assert (issue["rule"], issue["path"], issue["line"]) == ("partner-not-changed", "src/wire.c", 2)
    assert "'docs/wire.md' changed in 7 of 7 commits" in issue["message"]
    titles = [note["title"] for note in told["notes"]]
    assert "src/wire.c was often corrected" in titles
    assert "AGENTS.md: Tests" not in titles
    write(project.root, {"docs/wire.md": "changed\n"})
    text = project.run("review", "--trust")
    assert "Issues: 0" in text
    assert "from the memory of the project" in text and "src/wire.c was often corrected" in text


async def test_reviewers_read_it_and_build_it_for_the_next_time(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.folder.rmdir()
        make_repository(here.folder, {"a.c": "int a;\n"})
        write(here.folder, {"a.c": "int a, b;\n"})
        commit(here.folder, "Count in b\n\nNever in a, since a is read by a signal handler.")
        write(here.folder, {"a.c": "int a, b, c;\n"})
        memory = here.folder / ".jarvis" / "memory"
        nothing = json.dumps({"issues": [], "summary": "Fine."})

        def give(role: str, asked: object) -> str:
            return nothing

        seen = answers(here, give)
        common = ("review", "--agents", "--role", "security", "--format", "json")
        code, out, err = await here.run(*common)
        assert code == 0, err
        assert not memory.exists() and "signal handler" not in json.dumps(seen[0].body)
        await here.run("memory", "learn")
        code, out, err = await here.run(*common, "--trust")
        assert code == 0, err
        assert "since a is read by a signal handler" in json.dumps(seen[-1].body)
        assert [note["title"] for note in json.loads(out)["notes"]] == ["Count in b"]


async def test_a_task_reads_it_and_its_verdict_is_remembered(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        write(bench.root, {"src/header.py": "def parse_header(data):\n    return data[:-1]\n"})
        why = "It is a checksum, so that it must not be read."
        commit(bench.root, f"Leave the last byte out\n\n{why}")
        git(bench.root, "revert", "--no-edit", "HEAD")
        memory = bench.root / ".jarvis" / "memory"
        bench.model.call("edit_file", OFF_BY_ONE)
        bench.model.say("Fixed.")
        with bench.person("-r", "fix the off by one in parse_header", "--trust") as person:
            await person.sees("[m]ore to say:")
            await until(lambda: len(list(memory.glob("learned_*.json"))) >= 2)
            person.type("m\r")
            await person.sees("What else")
            bench.model.say("Kept.")
            person.type("keep the checksum out of it\r")
            await person.sees("[m]ore to say:")
            person.type("n\r")
            assert await person.ended() == 1
        bench.model.say("Nothing to do.")
        status, _, err = await bench.fix(wanted="fix the off by one in parse_header")
        assert status == 0, err
        asked = json.dumps(bench.model.requests[-1].body)
        assert "What earlier work on these files has shown" in asked
        assert "It is a checksum" in asked

        subprocess.run(
            [*quick("jarvis_ls.cli.jarvis"), "memory", "learn"],
            cwd=bench.root,
            env=bench.environment,
            check=True,
            capture_output=True,
        )
        texts = [file.read_text() for file in memory.glob("learned_*.json")]
        assert any("The user said: keep the checksum out of it" in text for text in texts)
        assert any("The user refused the changes." in text for text in texts)

"""`jca -r` with models that do harm: nothing of it survives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.agents import until
from tests.support.code_agent import FILES, OFF_BY_ONE, CodeBench, code_bench, events
from tests.support.repositories import git, write

YES, NO = "<!!!YES!!!>", "<!!!NO!!!>"
TEST = FILES["tests/test_header.py"]
HARM = {
    "a test file by a shell": ("execute_script", {"script": "rm -r tests"}),
    "a test by an edit": (
        "edit_file",
        {
            "files": [
                {
                    "file_path": "tests/test_header.py",
                    "diffs": [
                        {"search": TEST.partition("def ")[2], "replace": "nothing(): pass\n"}
                    ],
                }
            ]
        },
    ),
    "a test by writing its file anew": (
        "execute_script",
        {"script": "echo '# to be done' > tests/test_header.py"},
    ),
    "a test that is skipped": (
        "edit_file",
        {
            "files": [
                {
                    "file_path": "tests/test_header.py",
                    "diffs": [
                        {
                            "search": "def test_all",
                            "replace": "@pytest.mark.skip\ndef test_all",
                        }
                    ],
                }
            ]
        },
    ),
}


@pytest.mark.parametrize("harm", HARM)
async def test_a_test_that_a_model_removes_comes_back_whatever_a_judge_says(
    tmp_path: Path, harm: str
) -> None:
    async with code_bench(tmp_path) as bench:
        before = bench.state()
        bench.model.call(*HARM[harm])
        bench.model.call("edit_file", OFF_BY_ONE)
        bench.model.say(f"Done. {YES}")
        status, out, err = await bench.fix("--allow", "execute", "--json")
        assert status == 0, err
        (patch,) = [event for event in events(out) if event["type"] == "patch"]
        assert [file["path"] for file in patch["files"]] == ["src/header.py"]
        assert patch["losses"] == []
        told = str(bench.model.requests[1].body["messages"])
        assert "deletion guard has undone this change" in told
        assert bench.state() == before


@pytest.mark.parametrize(
    ("verdict", "survives"),
    [(YES, True), (NO, False), (f"{YES} or {NO}", False), ("Certainly, yes!", False), ("", False)],
)
async def test_a_public_name_goes_only_where_a_judge_clearly_agrees(
    tmp_path: Path, verdict: str, survives: bool
) -> None:
    async with code_bench(tmp_path) as bench:
        bench.model.call("execute_script", {"script": "sed -i s/parse_header/ph/ src/*.py"})
        bench.model.say(verdict) if verdict else bench.model.refuse(400)
        bench.always_say("Renamed.")
        status, out, err = await bench.fix("--allow", "execute", "--json", wanted="rename it")
        assert status == 0, err
        patches = [event for event in events(out) if event["type"] == "patch"]
        assert bool(patches) == survives
        if survives:
            assert "parse_header" in str(patches[0]["losses"])
        asked = str(bench.model.requests[1].body["messages"])
        assert "rename it" in asked and "-def parse_header" in asked


async def test_a_person_is_asked_before_a_test_goes(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        for answer, left in (("n", False), ("y", True)):
            bench.model.call(*HARM["a test by an edit"])
            bench.model.say("Done.")
            with bench.person("-r", "drop the test", "--trust") as person:
                await person.sees("test 'test_all' is gone")
                await person.sees("Allow?")
                person.type(f"{answer}\r")
                if left:
                    await person.sees("Lost: ")
                    await person.sees("[m]ore to say:")
                    person.type("n\r")
                    await person.ended()
                else:
                    await person.sees("What should it do instead?")
                    person.type("keep it\r")
                    await person.sees("No file was changed.")
                    assert await person.ended() == 0
                    assert "keep it" in str(bench.model.requests[-1].body["messages"])


async def test_what_is_outside_or_runs_later_cannot_be_written(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        outside = tmp_path / "victim.txt"
        outside.write_text("mine\n")
        before = bench.state()
        hook = {"content": f"#!/bin/sh\ntouch {outside}.run\n"}
        for path in (
            ".git/hooks/pre-commit",
            str(bench.root / ".git/hooks/pre-commit"),
            str(bench.root / "src/header.py"),
            str(outside),
            "../../../victim.txt",
            ".github/workflows/x.yml",
            ".jarvis/rules/evil.md",
        ):
            bench.model.call("rewrite_file", {"file_path": path, **hook})
        script = f"""\
echo pwned > {outside}; echo pwned > {bench.root}/src/header.py
mkdir -p .git/hooks .github && echo x > .git/hooks/post-merge && echo x > .github/y.yml
ln -s {tmp_path} out; echo pwned > out/victim.txt
"""
        bench.model.call("execute_script", {"script": script})
        bench.model.call("edit_file", OFF_BY_ONE)
        bench.model.say("Done.")
        status, out, err = await bench.fix("--allow", "execute", "--json")
        assert status == 0, err
        (patch,) = [event for event in events(out) if event["type"] == "patch"]
        assert [file["path"] for file in patch["files"]] == ["src/header.py"]
        assert bench.state() == before
        assert outside.read_text() == "mine\n"
        assert not (bench.root / ".jarvis/rules").exists()


async def test_nonsense_changes_nothing(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        before = bench.state()
        bench.model.call("edit_file", '{"files": [{"file_path": "src/hea')
        bench.model.call("no_such_tool", {"x": 1})
        bench.model.call("edit_file", {"files": [{"file_path": "src/header.py", "diffs": "all"}]})
        bench.edit("src/header.py", "not in the file", "anything")
        bench.model.say("\x00\x1b[2J" + "!!!COMPLETE!!!")
        status, out, _ = await bench.fix()
        assert (status, out) == (0, "")
        assert bench.state() == before


async def test_the_configuration_of_a_hostile_repository_runs_nothing(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        trap = tmp_path / "trap"
        line = f"touch {trap}"
        for name in ("core.fsmonitor", "core.pager", "diff.external", "core.sshCommand"):
            git(bench.root, "config", name, line)
        git(bench.root, "config", "filter.x.clean", line)
        git(bench.root, "config", "filter.x.smudge", line)
        write(bench.root, {".gitattributes": "* filter=x diff=x\n"})
        for hook in ("post-commit", "reference-transaction", "post-checkout", "pre-commit"):
            place = bench.root / ".git/hooks" / hook
            place.parent.mkdir(exist_ok=True)
            place.write_text(f"#!/bin/sh\n{line}\n")
            place.chmod(0o755)
        trap.unlink(missing_ok=True)
        bench.model.call("edit_file", OFF_BY_ONE)
        bench.model.say("Done.")
        status, _, err = await bench.fix("--branch", "fixed")
        assert status == 0, err
        assert not trap.exists()


async def kill_after_edit(bench: CodeBench) -> None:
    """Kill a run that has changed the copy and waits for the model."""
    bench.model.call("edit_file", OFF_BY_ONE)
    bench.model.say("Slow.", silent=60)
    run = await bench.start("-r", "fix it", "-n", "--trust")
    await until(lambda: len(bench.model.requests) > 1)
    run.kill()
    await run.wait()


async def test_a_run_that_is_killed_leaves_the_repository_as_it_was_and_can_go_on(
    tmp_path: Path,
) -> None:
    async with code_bench(tmp_path) as bench:
        bench.leave_work()
        before = bench.state()
        await kill_after_edit(bench)
        assert bench.state() == before
        bench.model.say("It was done already.")
        status, out, err = await bench.fix("--restore-session")
        assert status == 0, err
        assert "+    return data[: len(data)]\n" in out
        assert "fix it" in str(bench.model.requests[-1].body["messages"][:-1])
        assert bench.state() == before


async def test_changes_that_a_new_run_does_not_take_up_are_kept_as_a_patch(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        await kill_after_edit(bench)
        bench.model.say("Nothing.")
        status, out, err = await bench.fix()
        assert (status, out) == (0, "")
        (left,) = bench.home.glob("code/*/left-*.patch")
        assert str(left) in err
        git(bench.root, "apply", str(left))
        assert "len(data)]" in (bench.root / "src/header.py").read_text()


async def test_a_copy_whose_origin_is_not_known_any_more_is_left_to_the_user(
    tmp_path: Path,
) -> None:
    async with code_bench(tmp_path) as bench:
        await kill_after_edit(bench)
        for file in bench.home.glob("checkpoints.db*"):
            file.unlink()
        bench.model.say("Nothing.")
        status, _, err = await bench.fix("--restore-session")
        assert status == 0, err
        (left,) = bench.home.glob("code/*/left-*")
        assert str(left) in err
        assert "len(data)]" in (left / "src/header.py").read_text()


async def test_at_any_moment_a_kill_leaves_all_of_the_users_as_it_was(tmp_path: Path) -> None:
    """Eight moments, from a seed; `npm run bench -- code-agent` takes 200."""
    chance = random.Random(25)
    async with code_bench(tmp_path) as bench:
        bench.leave_work()
        before = bench.state()
        await bench.measure()
        assert bench.state() == before
        for _ in range(8):
            await bench.kill_at(chance.random())
            assert bench.state() == before

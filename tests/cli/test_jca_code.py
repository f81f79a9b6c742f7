"""`jca -r`: an agent changes a copy, the user decides what becomes of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.support.agents import until
from tests.support.code_agent import OFF_BY_ONE, applied, code_bench, events
from tests.support.repositories import git, write

FIXED = "def parse_header(data):\n    return data[: len(data)]\n"


async def test_a_change_comes_as_a_patch_and_touches_nothing(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        before = bench.state()
        bench.model.call("edit_file", OFF_BY_ONE)
        bench.model.say("Fixed.")
        status, out, err = await bench.fix(wanted="fix the off by one in parse_header")
        assert status == 0, err
        assert applied(bench.root, out)["src/header.py"] == FIXED
        assert bench.state() == before
        assert git(bench.root, "status", "--porcelain") == ""


async def test_a_group_that_is_not_there_is_an_error_of_the_program(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        status, out, err = await bench.run("-r", "fix it", "--trust", "-g", "bogus")
        assert (status, out) == (2, "")
        assert "jca: Unknown model group 'bogus'. Use one of balanced" in err


async def test_the_user_sees_the_diff_and_accepts_or_refuses(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        before = bench.state()
        bench.model.call("edit_file", OFF_BY_ONE)
        bench.model.say("Fixed.")
        with bench.person("-r", "fix it", "--trust") as person:
            await person.sees("- " + "    return data[: len(data) - 1]")
            await person.sees("[m]ore to say:")
            person.type("n\r")
            assert await person.ended() == 1
        assert bench.state() == before
        bench.model.call("edit_file", OFF_BY_ONE)
        bench.model.say("Fixed.")
        with bench.person("-r", "fix it", "--trust") as person:
            await person.sees("[m]ore to say:")
            person.type("y\r")
            assert await person.ended() == 0, person.shown
        assert (bench.root / "src/header.py").read_text() == FIXED
        assert git(bench.root, "status", "--porcelain") == " M src/header.py\n"


async def test_what_the_user_says_more_is_worked_on_before_the_decision(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        bench.model.call("edit_file", OFF_BY_ONE)
        bench.model.say("Fixed.")
        with bench.person("-r", "fix it", "--trust") as person:
            await person.sees("[m]ore to say:")
            bench.edit("src/use.py", "    return parse", '    """Head."""\n    return parse')
            bench.model.say("Documented.")
            person.type("m\r")
            await person.sees("What else")
            person.type("\r")  # nothing more after all
            await person.sees("[m]ore to say:")
            person.type("m\r")
            await person.sees("What else")
            person.type("document it\r")
            await person.sees('+     """Head."""')
            await person.sees("Files: 2")
            await person.sees("[m]ore to say:")
            person.type("y\r")
            assert await person.ended() == 0, person.shown
        assert "Head." in (bench.root / "src/use.py").read_text()


async def test_a_commit_holds_the_change_and_nothing_that_is_not_committed(tmp_path: Path) -> None:
    long = "".join(f"line {number}\n" for number in range(30))
    async with code_bench(tmp_path, {"a.txt": long, "b.txt": "b\n", "run.sh": "#!/bin/sh\n"}) as b:
        (b.root / "run.sh").chmod(0o755)
        git(b.root, "commit", "--quiet", "-am", "mode")
        write(b.root, {"a.txt": long.replace("line 2\n", "mine\n"), "new.txt": "mine\n"})
        git(b.root, "add", "new.txt")
        write(b.root, {"b.txt": "stashed\n"})
        git(b.root, "stash", "push", "--quiet", "b.txt")
        before = b.state()
        b.edit("a.txt", "line 20\n", "line twenty\n")
        b.model.call("rewrite_file", {"file_path": "deep/er/c.txt", "content": "c\n"})
        b.model.say("Done.")
        status, _, err = await b.fix(
            "--branch", "fix/it", "--prefix", "[bot]", "--suffix", "Refs: 7", wanted="change it"
        )
        assert status == 0, err
        assert b.state() == {
            **before,
            ".git/refs/heads/fix/it": b.state()[".git/refs/heads/fix/it"],
        }
        assert git(b.root, "log", "-1", "--format=%B", "fix/it") == "[bot] change it\n\nRefs: 7\n\n"
        assert git(b.root, "log", "-1", "--format=%an <%ae>", "fix/it") == "A <a@example.org>\n"
        shown = git(b.root, "show", "--stat=200", "--format=", "fix/it")
        assert "a.txt" in shown and "deep/er/c.txt" in shown and "new.txt" not in shown
        assert git(b.root, "show", "fix/it:a.txt") == long.replace("line 20\n", "line twenty\n")
        git(b.root, "fsck", "--strict")
        modes = git(b.root, "ls-tree", "fix/it", "run.sh")
        assert modes.startswith("100755 ")
        b.edit("a.txt", "line 20\n", "line twenty\n")
        b.model.say("Done.")
        status, _, err = await b.fix("--branch", "fix/it")
        assert (status, "there is a branch fix/it already" in err) == (2, True)


async def test_a_change_of_uncommitted_lines_is_no_commit_but_a_patch(tmp_path: Path) -> None:
    async with code_bench(tmp_path, {"a.txt": "one\ntwo\nthree\n"}) as bench:
        write(bench.root, {"a.txt": "one\nmine\nthree\n"})
        before = bench.state()
        bench.edit("a.txt", "mine", "mine too")
        bench.model.say("Done.")
        status, _, err = await bench.fix("--commit")
        assert status == 2
        assert "a.txt holds changes of yours that are not committed" in err
        assert bench.state() == before
        bench.model.say("Nothing more.")
        status, out, _ = await bench.fix("--restore-session")
        assert (status, "+mine too\n" in out) == (0, True)
        assert bench.state() == before


async def test_refs_of_our_own_take_commits_of_a_repository_without_any(tmp_path: Path) -> None:
    async with code_bench(tmp_path, {}) as bench:
        git(bench.root, "update-ref", "-d", "HEAD")
        bench.model.call("rewrite_file", {"file_path": "a.txt", "content": "a\n"})
        bench.model.say("Done.")
        status, out, err = await bench.fix("--commit", "--json")
        assert status == 0, err
        (patch,) = [event for event in events(out) if event["type"] == "patch"]
        assert patch["state"] == "committed"
        assert patch["files"] == [{"path": "a.txt", "change": "create", "added": 1, "deleted": 0}]
        assert patch["reference"].startswith("refs/jarvis/")
        assert git(bench.root, "rev-parse", patch["reference"]).strip() == patch["commit"]
        assert git(bench.root, "show", f"{patch['commit']}:a.txt") == "a\n"
        assert events(out)[-1]["type"] == "end"
        bench.model.call("rewrite_file", {"file_path": "a.txt", "content": "b\n"})
        bench.model.say("Done.")
        status, out, err = await bench.fix("--commit", "--json", "--restore-session")
        assert status == 0, err
        (again,) = [event for event in events(out) if event["type"] == "patch"]
        assert again["reference"] == f"{patch['reference']}-2"


async def test_without_an_identity_nothing_is_begun_unless_it_is_only_warned_of(
    tmp_path: Path,
) -> None:
    async with code_bench(tmp_path) as bench:
        for name in ("NAME", "EMAIL"):
            for who in ("AUTHOR", "COMMITTER"):
                del bench.environment[f"GIT_{who}_{name}"]
        bench.environment["HOME"] = str(bench.home)
        status, _, err = await bench.fix()
        assert (status, "git does not know who you are" in err) == (2, True)
        bench.environment["JARVIS_GIT_CHECK_MODE"] = "warn"
        bench.model.say("Nothing to do.")
        status, _, err = await bench.fix()
        assert (status, "git does not know who you are" in err) == (0, True)
        del bench.environment["JARVIS_GIT_CHECK_MODE"]
        git(bench.root, "config", "user.name", "B")
        git(bench.root, "config", "user.email", "b@example.org")
        bench.model.call("edit_file", OFF_BY_ONE)
        bench.model.say("Done.")
        assert (await bench.fix("--branch", "b"))[0] == 0
        assert git(bench.root, "log", "-1", "--format=%an <%ae>", "b") == "B <b@example.org>\n"


async def test_nothing_is_done_in_a_folder_that_is_not_trusted_or_no_repository(
    tmp_path: Path,
) -> None:
    async with code_bench(tmp_path) as bench:
        status, _, err = await bench.run("-r", "fix it", "-n")
        assert (status, "use --trust" in err) == (2, True)
        status, _, err = await bench.run("-n", "--trust")
        assert (status, "-n needs -r" in err) == (2, True)
        status, _, err = await bench.run("-r", "x", "-n", "--trust", "-C", str(bench.home))
        assert (status, "is in no git repository" in err) == (2, True)
        assert not bench.model.requests


async def test_one_process_at_a_time_works_on_a_repository(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        bench.model.say("Slow.", silent=60)
        first = await bench.start("-r", "x", "-n", "--trust")
        await until(lambda: bench.model.requests)
        status, _, err = await bench.fix()
        assert (status, f"works on {bench.root} already" in err) == (2, True)
        first.kill()
        await first.wait()


async def test_settings_groups_and_further_tools_are_the_users(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        settings = (bench.home / "config.toml").read_text()
        other = bench.home / "other.toml"
        other.write_text(settings + '[tool_groups]\nfew = ["read_code", "edit_file"]\n')
        (bench.home / "config.toml").unlink()

        def offered() -> set[str]:
            return {tool["function"]["name"] for tool in bench.model.requests[-1].body["tools"]}

        bench.model.say("Done.")
        status, _, err = await bench.fix("-f", str(other), "-G", "few", "-g", "balanced")
        assert status == 0, err
        assert offered() == {"read_code", "edit_file"}
        bench.model.say("Done.")
        assert (await bench.fix("-f", str(other), "--append-tools", "echo"))[0] == 0
        assert {"echo", "edit_file", "execute_script"} <= offered()
        for wrong in (("-G", "none"), ("--append-tools", "no_such"), ("-f", "none.toml")):
            status, _, err = await bench.fix(
                *(["-f", str(other)] if "-f" not in wrong else []), *wrong
            )
            assert status == 2, err


async def test_names_kinds_and_bytes_survive_the_patch(tmp_path: Path) -> None:
    files = {"odd näme.txt": "a\n", "no-end.txt": "a", "crlf.txt": b"a\r\nb\r\n"}
    async with code_bench(tmp_path, files) as bench:
        (bench.root / "link").symlink_to("no-end.txt")
        git(bench.root, "add", "--all")
        git(bench.root, "commit", "--quiet", "-m", "link")
        bench.edit("odd näme.txt", "a\n", "b\n")
        bench.edit("no-end.txt", "a", "b")
        bench.edit("crlf.txt", "b", "c")
        script = "printf '\\000\\001\\377' > bin; mkdir d; echo x > d/x; chmod 755 d/x; rm link"
        bench.model.call("execute_script", {"script": script})
        bench.model.say("Done.")
        status, out, err = await bench.fix("--allow", "execute")
        assert status == 0, err
        there = tmp_path / "clone"
        git(tmp_path, "clone", "--quiet", str(bench.root), str(there))
        (tmp_path / "the.patch").write_bytes(out.encode())
        git(there, "apply", "--binary", "../the.patch")
        assert (there / "odd näme.txt").read_text() == "b\n"
        assert (there / "no-end.txt").read_bytes() == b"b"
        assert (there / "crlf.txt").read_bytes() == b"a\r\nc\r\n"
        assert (there / "bin").read_bytes() == b"\0\1\xff"
        assert os.access(there / "d/x", os.X_OK)
        assert not os.path.lexists(there / "link")


async def test_rules_of_all_places_reach_the_agent_and_memory_goes_to_the_project(
    tmp_path: Path,
) -> None:
    files = {".jarvis/rules/style.md": "Project style.", ".jarvis/rules/own.md": "Project only."}
    async with code_bench(tmp_path, files) as bench:
        central = {"style.md": "Central style.", "team.md": "Team rule."}
        write(tmp_path / "central", central)
        write(bench.home, {"rules/team.md": "Own team rule.", "rules/me.md": "My rule."})
        bench.environment["JARVIS_CENTRAL_RULES_REPO"] = str(tmp_path / "central")
        memory = {"memory_type": "project_long_term", "content": "It is small.", "tags": ["x"]}
        bench.model.call("save_memory", memory)
        bench.model.say("Saved.")
        status, _, err = await bench.fix("--allow", "write")
        assert status == 0, err
        (note,) = bench.root.glob(".jarvis/memory/**/*.json")
        assert "It is small." in note.read_text()
        system = str(bench.model.requests[0].body["messages"][0]["content"])
        for rule in ("Project only.", "Central style.", "Team rule.", "My rule."):
            assert rule in system
        assert "Project style." not in system and "Own team rule." not in system
        bench.environment["JARVIS_CENTRAL_RULES_REPO"] = "--upload-pack=touch"
        bench.model.say("Done.")
        _, _, err = await bench.fix()
        assert "rules.central must be a folder, or the address of a repository" in err


async def test_edits_and_what_is_accepted_are_counted(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        assert "Nothing has been counted" in (await bench.run("stats"))[1]
        bench.model.call("edit_file", OFF_BY_ONE)
        bench.model.say("Done.")
        status, _, err = await bench.fix("--allow", "write", "--commit", "--no-checks")
        assert status == 0, err
        status, out, _ = await bench.run("stats", "--format", "json")
        (counts,) = json.loads(out).values()
        assert status == 0 and counts == {
            "code_modifications": 1,
            "code_lines_inserted": 1,
            "code_lines_deleted": 1,
            "commits_generated": 1,
            "commits_accepted": 1,
        }
        assert "in all  edits: 1, lines added: 1" in (await bench.run("stats"))[1]


async def test_what_gitignore_lacks_is_proposed_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    files = {".gitignore": b"# mine\r\n__pycache__\r\nkeep.log", "a.py": "a = 1\n"}
    async with code_bench(tmp_path, files) as bench:
        before = bench.state()
        bench.model.say("Nothing else to do.")
        status, out, err = await bench.fix("--complete-gitignore", "--no-checks")
        assert status == 0, err
        assert bench.state() == before
        (tmp_path / "the.patch").write_bytes(out.encode())
        git(bench.root, "apply", "../the.patch")
        data = (bench.root / ".gitignore").read_bytes()
        assert data.startswith(b"# mine\r\n__pycache__\r\nkeep.log\r\n\r\n# Jarvis\r\n")
        assert b"*.pyc\r\n" in data and data.count(b"__pycache__") == 1 and b"target/" not in data


async def test_line_ends_are_left_alone_only_where_the_user_wants_that(tmp_path: Path) -> None:
    files = {"a.py": b"a = 1\r\n", "b.bat": b"rem\r\n", ".gitattributes": b"*.bat text eol=crlf\n"}
    async with code_bench(tmp_path, files) as bench:
        bench.model.say("Nothing to do.")
        assert "--keep-line-ends" not in (await bench.fix("--no-checks"))[2]
        git(bench.root, "config", "core.autocrlf", "true")
        before = bench.state()
        bench.model.say("Nothing to do.")
        status, out, err = await bench.fix("--no-checks")
        assert (status, out) == (0, "") and "--keep-line-ends" in err
        bench.model.say("Nothing to do.")
        status, out, err = await bench.fix("--no-checks", "--keep-line-ends")
        assert status == 0 and "--keep-line-ends" not in err, err
        assert bench.state() == before
        (tmp_path / "the.patch").write_bytes(out.encode())
        git(bench.root, "apply", "../the.patch")
        told = git(bench.root, "check-attr", "text", "eol", "whitespace", "--", "a.py", "b.bat")
        assert "a.py: text: unset" in told and "a.py: whitespace: cr-at-eol" in told
        assert "b.bat: text: set" in told and "b.bat: eol: crlf" in told
        bench.model.say("Nothing to do.")
        assert (await bench.fix("--no-checks", "--keep-line-ends"))[1] == ""


async def test_the_agent_is_told_which_places_the_task_is_about(tmp_path: Path) -> None:
    async with code_bench(tmp_path) as bench:
        bench.model.say("Nothing to do.")
        status, _, err = await bench.fix(wanted="fix the off by one in the header parser")
        assert status == 0, err
        asked = str(bench.model.requests[0].body["messages"])
        task, _, places = asked.partition("Places in the code")
        assert "off by one in the header parser" in task
        assert "src/header.py:1: def parse_header(data)" in places
        bench.model.say("Nothing to do.")
        await bench.fix(wanted="xyzzy")
        asked = str(bench.model.requests[-1].body["messages"])
        assert "xyzzy" in asked and "Places in the code" not in asked


async def test_scripts_of_agents_read_the_installed_packages_and_cannot_write_them(
    tmp_path: Path,
) -> None:
    files = {
        "package.json": '{"name": "p"}\n',
        ".gitignore": "node_modules\n",
        "node_modules/greet/index.js": "module.exports = 'hello from greet'\n",
    }
    async with code_bench(tmp_path, files) as bench:
        before = bench.state()
        asks = "node -e \"console.log(require('greet'))\"; echo x > node_modules/greet/index.js"
        bench.model.call("execute_script", {"script": f"{asks}; echo y > made.txt"})
        bench.model.say("Done.")
        status, out, err = await bench.fix("--allow", "execute", "--no-checks")
        assert status == 0, err
        assert "hello from greet" in json.dumps(bench.model.requests[-1].body)
        assert set(applied(bench.root, out)) == {"package.json", ".gitignore", "made.txt"}
        assert bench.state() == before

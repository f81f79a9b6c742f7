"""At a terminal: what a turn cost, words queued while it runs, going back, forks, budgets."""

from __future__ import annotations

import json
import sys

import pytest

from jarvis_ls.cli.language import locale_of
from jarvis_ls.cli.terminal_commands import read_budget
from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.base.events import Budget
from tests.cli.test_jarvis_command import place


async def test_what_a_turn_used_is_shown(tmp_path):
    async with place(tmp_path) as here:
        here.model.say("One.")
        status, out, err = await here.run("-m", "hi")
        assert (status, out) == (0, "One.\n")
        assert "11 tokens in · 7 out · session: 18 tokens · context" in err


async def test_words_typed_while_a_turn_runs_are_queued(tmp_path):
    async with place(tmp_path) as here:
        with here.person("--trust", "--color", "never") as person:
            await person.sees("\n>")
            here.model.say("First part and the rest of it.", pieces=8, delay=0.25)
            here.model.say("Second.")
            person.type("Begin\r")
            await person.sees("First")
            person.type("also look at cats\r")
            await person.sees("(queued: sent before the next answer)")
            await person.sees("Second.")
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0
        told = [m["content"] for m in here.model.requests[-1].body["messages"]]
        assert told[-1] == "also look at cats" and "First part" in str(told)


async def test_a_running_turn_is_paused_and_redirected(tmp_path):
    async with place(tmp_path) as here:
        with here.person("--trust", "--color", "never") as person:
            await person.sees("\n>")
            here.model.say("a b c d e f g h", pieces=8, stall_after=3)
            here.model.say("Now the other thing.")
            person.type("Begin\r")
            await person.sees("a b")
            person.type("/redirect Do the other thing\r")
            await person.sees("Now the other thing.")
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0
        assert "Do the other thing" in json.dumps(here.model.requests[-1].body["messages"])


async def test_where_nothing_is_at_work_nothing_is_said_to_be_held(tmp_path):
    async with place(tmp_path) as here:
        with here.person("--trust", "--color", "never") as person:
            await person.sees("\n>")
            here.model.say("One.")
            person.type("Begin\r")
            await person.sees("One.")
            await person.sees("\n>")
            person.type("/pause\r")
            await person.sees("Nothing is running.")
            person.type("/resume\r")
            await person.sees("Nothing is paused.")
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0


async def test_a_turn_is_taken_back_and_its_words_come_again(tmp_path):
    async with place(tmp_path) as here:
        (here.folder / "a.txt").write_text("old\n")
        with here.person("--trust", "--color", "never", "--allow", "write") as person:
            await person.sees("\n>")
            here.model.call("read_code", {"files": [{"path": "a.txt"}]})
            here.model.call("rewrite_file", {"file_path": "a.txt", "content": "new\n"})
            here.model.say("Written.")
            person.type("Change it\r")
            await person.sees("Written.")
            await person.sees("\n>")
            assert (here.folder / "a.txt").read_text() == "new\n"
            person.type("/rewind\r")
            await person.sees("1. Change it")
            await person.sees("\n>")
            person.type("/rewind 7\r")
            await person.sees("There is no turn 7")
            await person.sees("\n>")
            person.type("/rewind 1\r")
            await person.sees("Files restored: 1")
            await person.sees("> Change it")
            assert (here.folder / "a.txt").read_text() == "old\n"
            here.model.say("Otherwise.")
            person.type(" otherwise\r")
            await person.sees("Otherwise.")
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0
        told = json.dumps(here.model.requests[-1].body["messages"])
        assert "Change it otherwise" in told and "Written." not in told


async def test_a_session_is_forked_and_gone_on_with(tmp_path):
    async with place(tmp_path) as here:
        with here.person("--trust", "--color", "never") as person:
            await person.sees("\n>")
            for said, answer in (("One", "Answer one."), ("Two", "Answer two.")):
                here.model.say(answer)
                person.type(f"{said}\r")
                await person.sees(answer)
                await person.sees("\n>")
            person.type("/fork 1\r")
            await person.sees("Continuing in the new session")
            await person.sees("resuming: One (fork)")
            await person.sees("\n>")
            here.model.say("Answer three.")
            person.type("Three\r")
            await person.sees("Answer three.")
            await person.sees("\n>")
            person.type("/exit\r")
            assert await person.ended() == 0
        told = json.dumps(here.model.requests[-1].body["messages"])
        assert "Answer one." in told and "Two" not in told
        _, out, _ = await here.run("sessions", "list", "--format", "json")
        assert sorted(info["title"] for info in json.loads(out)) == ["One", "One (fork)"]


async def test_a_budget_is_set_and_asked_for(tmp_path):
    async with place(tmp_path) as here:
        with here.person("--trust", "--color", "never") as person:
            await person.sees("\n>")
            person.type("/budget 50 tokens\r")
            await person.sees("is 50 tokens; 0 tokens is used")
            await person.sees("\n>")
            here.model.say("Paid.")
            person.type("Hello\r")
            await person.sees("Continue without a limit")
            person.type("2\r")
            await person.sees("Paid.")
            await person.sees("\n>")
            person.type("/budget\r")
            await person.sees("No budget is set")
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0


async def test_deleted_sessions_are_found_by_a_part_of_their_id_and_others_forked(tmp_path):
    async with place(tmp_path) as here:
        for said in ("About cats", "About dogs"):
            here.model.say("Well.")
            await here.run("-m", said)
        _, out, _ = await here.run("sessions", "list", "--format", "json")
        ids = {info["title"]: info["id"] for info in json.loads(out)}
        assert (await here.run("sessions", "delete", ids["About cats"]))[0] == 0
        _, out, _ = await here.run("sessions", "deleted")
        assert "About cats" in out and "About dogs" not in out
        status, _, err = await here.run("sessions", "restore", ids["About dogs"])
        assert status == 2 and "no deleted session" in err
        status, out, _ = await here.run("sessions", "restore", ids["About cats"][-8:])
        assert (status, out.strip()) == (0, ids["About cats"])
        status, out, _ = await here.run("sessions", "fork", ids["About dogs"][-8:])
        assert status == 0 and out.strip() not in ids.values()
        assert (await here.run("sessions", "show", out.strip()))[1].count("About dogs") >= 1


@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's so far")
async def test_a_script_in_the_background_is_shown_and_its_changes_are_asked_for(tmp_path):
    async with place(tmp_path) as here:
        with here.person("--trust", "--color", "never", "--allow", "execute") as person:
            await person.sees("\n>")
            script = "until [ -e /tmp/never ] || [ $((n += 1)) -gt 40 ]; do sleep 0.05; done"
            script += "; echo made >a.txt"
            arguments = {"script": script, "background": True}
            here.model.call("execute_script", arguments)
            here.model.say("It runs.")
            person.type("Run it\r")
            await person.sees("… b1 runs in the background")
            await person.sees("It runs.")
            await person.sees("\n>")
            await person.sees("b1 has changed files; /background shows them")
            assert not (here.folder / "a.txt").exists()
            person.type("/background\r")
            await person.sees("create a.txt")
            await person.sees("Apply?")
            person.type("y\r")
            await person.sees("Changed files, now in the workspace: 1.")
            await person.sees("\n>")
            assert (here.folder / "a.txt").read_text() == "made\n"
            here.model.call("execute_script", {"script": "sleep 600", "background": True})
            here.model.say("It sleeps.")
            person.type("Another\r")
            await person.sees("It sleeps.")
            await person.sees("\n>")
            person.type("/background stop b2\r")
            await person.sees("`b2`: cancelled")
            await person.sees("\n>")
            here.model.call("execute_script", {"script": "sleep 600", "background": True})
            here.model.say("It sleeps too.")
            person.type("One more\r")
            await person.sees("It sleeps too.")
            await person.sees("\n>")
            person.type("\x04")
            await person.sees("Scripts in the background were ended: b3")
            assert await person.ended() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's so far")
async def test_what_runs_in_the_background_ends_with_the_program_and_this_is_said(tmp_path):
    async with place(tmp_path) as here:
        here.model.call("execute_script", {"script": "sleep 600", "background": True})
        here.model.say("It runs.")
        status, _, err = await here.run("--trust", "--allow", "execute", "-m", "run it")
        assert status == 0 and "Scripts in the background were ended: b1" in err
        here.model.call("execute_script", {"script": "sleep 600", "background": True})
        here.model.say("It runs.")
        status, out, _ = await here.run("--trust", "--allow", "execute", "--json", "-m", "run it")
        *before, last = map(json.loads, out.splitlines())
        assert (status, last["type"]) == (0, "end")
        tools = [line for line in before if line["type"] == "tool"]
        assert [line["state"] for line in tools][-1] == "cancelled"


async def test_a_chinese_terminal(tmp_path):
    async with place(tmp_path) as here:
        here.environment = {**here.environment, "LC_ALL": "zh_CN.UTF-8"}
        with here.person("--color", "never") as person:
            await person.sees("您信任")
            person.type("y\r")
            await person.sees("/help 列出命令")
            await person.sees("\n>")
            here.model.call("execute_script", {"script": "ls"})
            here.model.say("不可以。")
            person.type("列出文件\r")
            await person.sees("运行此 bash 脚本吗？")
            await person.sees("无网络 · 沙箱：")
            person.type("n\r")
            await person.sees("它应改做什么")
            person.type("\r")
            await person.sees("用户不允许")
            await person.sees("输入")
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("200,000", Budget(200_000)),
        ("5 tokens", Budget(5)),
        ("2.5 cost", Budget(None, 2.5)),
        ("5 tokens 0.5 cost", Budget(5, 0.5)),
        ("None", Budget()),
    ],
)
def test_budgets_are_read(text, budget):
    assert read_budget(text) == budget


@pytest.mark.parametrize("text", ["much", "5 euros", "5 tokens 6 tokens", "x cost", "5 6"])
def test_what_is_no_budget_is_refused(text):
    with pytest.raises(UsageError, match="A budget is"):
        read_budget(text)


@pytest.mark.parametrize(
    ("environment", "locale"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN.UTF-8"),
        ({"LC_ALL": "C", "LANG": "zh_CN"}, "C"),
        ({"LC_ALL": "", "LC_MESSAGES": "de"}, "de"),
        ({}, ""),
    ],
)
def test_the_language_is_that_of_the_environment(environment, locale):
    assert locale_of(environment) == locale

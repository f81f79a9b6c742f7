"""A script of an agent, from the model's wish to files that can be brought back."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from jarvis_ls.runtime.base.events import ToolEntry, UserEntry
from jarvis_ls.runtime.tools.permissions import Answer
from tests.assembly.test_conversation import House, asked, entries, house
from tests.support.agents import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's so far")

SETTINGS = '[sandbox]\nrungs = ["bwrap", "landlock"]\n'


async def test_a_script_changes_files_and_the_turn_is_taken_back(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(SETTINGS)
        (h.folder / "a.txt").write_text("old\n")
        h.server.call("execute_script", {"script": "echo new >a.txt; echo made >b.txt; ls"})
        h.server.say("Done.")
        c = await h.start()
        await c.ask("run it")
        (tool,) = entries(c, ToolEntry)
        assert tool.state == "done" and tool.isolation.startswith(("bwrap", "landlock"))
        assert tool.script.text == "echo new >a.txt; echo made >b.txt; ls"
        assert (tool.script.folder, tool.script.network) == (str(h.folder), False)
        assert tool.isolation.startswith(tool.script.isolation)
        assert "a.txt" in tool.output
        assert {edit.path: edit.change for edit in tool.edits} == {
            "a.txt": "modify",
            "b.txt": "create",
        }
        told = next(m["content"] for m in asked(h) if m["role"] == "tool")
        assert "Exit code 0" in told and "no network" in told
        assert (h.folder / "a.txt").read_text() == "new\n" and (h.folder / "b.txt").exists()
        await c.rewind(entries(c, UserEntry)[-1].id, "files")
        assert (h.folder / "a.txt").read_text() == "old\n" and not (h.folder / "b.txt").exists()


async def test_a_script_that_no_sandbox_could_run_is_not_asked_about(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure("[sandbox]\nrungs = []\n")
        h.server.call("execute_script", {"script": "ls"})
        h.server.say("I cannot run it.")
        c = await h.start()
        await c.ask("run it")
        told = next(m["content"] for m in asked(h) if m["role"] == "tool")
        assert "sandbox" in told and h.person.permits == []


async def test_a_script_that_fails_is_shown_as_failed(tmp_path: Path) -> None:
    """The model reads what it gave; the user sees at a glance that it did not succeed."""
    async with house(tmp_path) as h:
        h.configure(SETTINGS)
        h.server.call("execute_script", {"script": "echo broken; exit 3"})
        h.server.say("It fails.")
        c = await h.start()
        await c.ask("run it")
        (tool,) = entries(c, ToolEntry)
        assert tool.state == "failed" and "broken" in tool.output
        told = next(m["content"] for m in asked(h) if m["role"] == "tool")
        assert "Exit code 3" in told


async def test_what_the_user_types_runs_at_once_in_the_sandbox(tmp_path: Path) -> None:
    """Nobody is asked whether it may run; what it changed is shown before it is written."""
    async with house(tmp_path) as h:
        h.configure(SETTINGS)
        (h.folder / "a.txt").write_text("old\n")
        c = await h.start()
        await c.send("!echo new >a.txt; false")
        (tool,) = entries(c, ToolEntry)
        assert h.person.permits == [] and not h.server.requests
        assert tool.state == "failed" and tool.isolation.startswith(("bwrap", "landlock"))
        assert [edit.path for edit in tool.edits] == ["a.txt"]


COPIES = '[sandbox]\nisolation = "none"\n'
RUN_ANYTHING = '[[permissions]]\neffect = "allow"\nkind = "execute"\n'


async def test_the_workspace_is_copied_while_the_model_thinks(tmp_path: Path) -> None:
    """Where programs may be run, so that the first script has not to wait for it."""
    async with house(tmp_path) as h:
        h.configure(RUN_ANYTHING + COPIES)
        (h.folder / "a.txt").write_text("old\n")
        h.server.say("Thought.")
        c = await h.start()
        await c.ask("think")
        await until(lambda: prepared(h) == ["old\n"])
        (h.folder / "a.txt").write_text("new\n")
        h.server.call("execute_script", {"script": "cat a.txt"})
        h.server.say("Done.")
        await c.ask("run it")
        assert entries(c, ToolEntry)[0].output.count("new") == 1
        assert prepared(h) == ["new\n"]


async def test_the_workspace_is_copied_while_the_user_is_asked(tmp_path: Path) -> None:
    """And not before: where every program is asked about, none may ever run."""
    async with house(tmp_path) as h:
        h.configure(COPIES)
        (h.folder / "a.txt").write_text("old\n")
        h.server.say("Hello.")
        c = await h.start()
        await c.ask("hello")
        assert prepared(h) == []
        h.server.call("execute_script", {"script": "cat a.txt"})
        h.server.say("You did not want it.")
        h.person.answer = Answer(False)
        await c.ask("run it")
        await until(lambda: prepared(h) == ["old\n"])


async def test_closing_ends_what_is_prepared(tmp_path: Path) -> None:
    """Also while sandboxes are still being tried: nothing is left running or held."""
    async with house(tmp_path) as h:
        h.configure(RUN_ANYTHING + SETTINGS)
        for _ in range(3):
            h.server.say("Hello.")
            c = await h.start()
            await c.ask("hello")
            await c.close()
            assert not list((h.home / "sandbox").glob("run-*"))


async def test_in_plan_mode_nothing_is_copied(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(RUN_ANYTHING + COPIES)
        h.server.say("A plan.")
        c = await h.start()
        c.set_mode("plan")
        await c.ask("plan it")
        assert prepared(h) == [] and not (h.home / "sandbox").exists()


def prepared(h: House) -> list[str]:
    """Contents of `a.txt` in the copies that scripts will find."""
    return [path.read_text() for path in h.home.glob("sandbox/kept-*/copy0/a.txt")]


async def test_stopping_ends_the_script(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(SETTINGS)
        h.server.call("execute_script", {"script": "echo started; sleep 600"})
        c = await h.start()
        running = asyncio.ensure_future(c.ask("run it"))
        await until(lambda: any("started" in e.output for e in entries(c, ToolEntry)))
        await c.stop()
        await running
        assert entries(c, ToolEntry)[0].state == "cancelled"
        await until(lambda: not list((h.home / "sandbox").glob("run-*")))


async def test_wrong_settings_are_said_and_nothing_runs_on_less(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure('[sandbox]\nisolation = "nothing"\n')
        assembly = h.assembly()
        assert any("isolation" in problem for problem in assembly.problems)
        assert assembly.sandbox.settings.isolation == "best"

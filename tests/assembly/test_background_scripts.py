"""Scripts in the background, through a scripted model: started, read, waited for, ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.runtime.base.events import ToolEntry, UserEntry
from jarvis_ls.runtime.sandbox.background import MOST
from jarvis_ls.runtime.session.session import SessionBusy
from jarvis_ls.runtime.tools.interaction import Review
from jarvis_ls.runtime.tools.permissions import Answer
from tests.assembly.test_conversation import House, asked, entries, house
from tests.support.agents import Person, until
from tests.support.container_engine import container_engine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's so far")

RUNGS = ("engine", "bwrap", "landlock", "none")
SERVER = Path(__file__).resolve().parents[2] / "server"


@pytest.fixture(scope="module")
def engine() -> Iterator[str]:
    """Why no container engine can be tried; empty when one answers."""
    with container_engine() as problem:
        yield problem


@pytest.fixture(params=RUNGS)
def rung(request: pytest.FixtureRequest) -> str:
    if request.param == "engine" and (problem := request.getfixturevalue("engine")):
        pytest.skip(problem)
    return str(request.param)


@pytest.fixture
async def h(tmp_path: Path, rung: str) -> AsyncIterator[House]:
    async with house(tmp_path) as made:
        made.configure(sandbox(rung))
        yield made


def sandbox(rung: str) -> str:
    if rung == "none":
        return '[sandbox]\nisolation = "none"\n'
    return f'[sandbox]\nrungs = ["{rung}"]\n'


def start(h: House, script: str, **more: Any) -> None:
    h.server.call("execute_script", {"script": script, "background": True, **more})


def read(h: House, id: str = "b1", **more: Any) -> None:
    h.server.call("script_output", {"id": id, **more})


def results(h: House) -> list[str]:
    return [m["content"] for m in asked(h) if m["role"] == "tool"]


def card(c: Conversation, number: int = 0) -> ToolEntry:
    found: list[ToolEntry] = [e for e in entries(c, ToolEntry) if e.background]
    return found[number]


async def test_its_output_is_read_as_it_comes_and_its_changes_are_proposed(h: House) -> None:
    (h.folder / "a.txt").write_text("old\n")
    start(h, "echo first; until [ -e go ]; do sleep 0.05; done; echo second; echo new >a.txt")
    h.server.say("It runs.")
    c = await h.start()
    await c.ask("run it")
    assert re.match(r"b1 runs in the background", results(h)[-1])
    assert card(c).state == "running" and card(c).background == "b1"
    await until(lambda: "first" in card(c).output)

    read(h)
    read(h)
    h.server.say("Still running.")
    await c.ask("how far is it?")
    once, twice = results(h)[-2:]
    assert "has been running for" in once and "first" in once
    assert "first" not in twice and "(no new output)" in twice
    assert "b1: running" in str(asked(h))


async def test_when_it_has_ended_its_changes_are_proposed(h: House) -> None:
    (h.folder / "a.txt").write_text("old\n")
    start(h, "echo working; echo new >a.txt; exit 3")
    read(h, wait=60)
    h.server.say("Done.")
    c = await h.start()
    await c.ask("run it")
    told = results(h)[-1]
    assert "b1 has ended" in told and "Exit code 3" in told and "working" in told
    assert "Changed files, now in the workspace: 1." in told
    assert (h.folder / "a.txt").read_text() == "new\n"
    entry = card(c)
    assert (entry.state, [edit.path for edit in entry.edits]) == ("failed", ["a.txt"])
    assert "working" in entry.output and "Exit code 3" in entry.output
    again = await reopened(h, c)
    assert [e.state for e in entries(again, ToolEntry) if e.background] == ["failed"]


async def reopened(h: House, c: Conversation) -> Conversation:
    await c.close()
    for _ in range(100):
        try:
            return await h.start(c.id, assembly=h.assembly())
        except SessionBusy:
            await asyncio.sleep(0.05)
    raise AssertionError("the session stays busy")


async def test_changes_are_asked_for_though_the_turn_is_over(h: House) -> None:
    start(h, "sleep 1; echo made >b.txt")
    h.server.say("It runs.")
    c = await h.start()
    await c.ask("run it")
    assert not c.working
    await until(lambda: card(c).state == "done")
    assert (h.folder / "b.txt").exists()
    read(h)
    h.server.say("It is done.")
    await c.ask("and?")
    assert "b1: ended, not read yet" in str(asked(h))
    assert "b.txt" in results(h)[-1]


async def test_it_is_ended_on_demand_and_keeps_what_it_did(h: House) -> None:
    start(h, "echo made >c.txt; echo ready; sleep 600")
    h.server.say("It runs.")
    c = await h.start()
    await c.ask("run it")
    await until(lambda: "ready" in card(c).output)
    read(h, end=True)
    h.server.say("Ended.")
    await c.ask("end it")
    assert "It was ended: you ended it." in results(h)[-1]
    assert card(c).state == "cancelled" and (h.folder / "c.txt").exists()


async def test_a_script_meanwhile_works_on_a_copy_of_its_own(h: House) -> None:
    start(h, "echo mine >private; echo ready; sleep 600")
    h.server.say("It runs.")
    c = await h.start()
    await c.ask("run it")
    await until(lambda: "ready" in card(c).output)
    h.server.call("execute_script", {"script": "ls; echo other >d.txt"})
    h.server.say("Done.")
    await c.ask("another")
    assert "private" not in results(h)[-1] and (h.folder / "d.txt").exists()
    assert card(c).state == "running"
    await c.close()
    assert card_state(h, c) == "cancelled"


def card_state(h: House, c: Conversation) -> str:
    kept = [e.entry for e in c.session.events() if getattr(e, "entry", None) is not None]
    return next(e.state for e in kept if isinstance(e, ToolEntry) and e.background)


async def test_a_long_output_is_in_a_file_that_can_be_read(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(sandbox("bwrap"))
        start(h, "seq -f 'line %.0f of many' 1 200000; echo the end")
        read(h, wait=60)
        h.server.say("Long.")
        c = await h.start()
        await c.ask("run it")
        told = results(h)[-1]
        assert len(told) < 12_000 and "line 1 of many" in told and "the end" in told
        found = re.search(r"lines 1 to 200002: read_code (\S+)", told)
        assert found is not None, told[:300] + told[-300:]
        assert len(card(c).output) < 50_000 and "the end" in card(c).output
        h.server.call(
            "read_code",
            {"files": [{"path": found[1], "start_line": 100000, "end_line": 100001}]},
        )
        h.server.say("Read.")
        await c.ask("read the middle")
        assert "line 100000 of many" in results(h)[-1], results(h)[-1]


async def test_only_few_run_at_the_same_time(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(sandbox("landlock"))
        for _ in range(MOST + 1):
            start(h, "sleep 600")
        h.server.say("Enough.")
        c = await h.start()
        await c.ask("run them")
        assert f"{MOST} scripts run in the background already: b1, b2, b3, b4" in results(h)[-1]
        assert len(c.background.running) == MOST
        await c.send("/background stop b2")
        assert [script.id for script in c.background.running] == ["b1", "b3", "b4"]
        assert card(c, 1).state == "cancelled" and "the user stopped it" in card(c, 1).reason


async def test_the_gate_is_that_of_every_script(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(sandbox("bwrap"))
        h.person.answer = Answer(False, note="no scripts today")
        start(h, "touch made")
        h.server.say("Refused.")
        c = await h.start()
        await c.ask("run it")
        assert "no scripts today" in results(h)[-1] and not c.background.running
        assert entries(c, ToolEntry)[0].state == "denied"
        h.person.answer = Answer(True)
        c.set_mode("plan")
        start(h, "touch made")
        h.server.say("Planned.")
        await c.ask("run it now")
        assert len(h.person.permits) == 1 and not c.background.running


async def test_stopping_the_turn_ends_what_its_agent_has_started(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(sandbox("bwrap"))
        start(h, "echo ready; sleep 600")
        read(h, wait=600)
        c = await h.start()
        turn = asyncio.ensure_future(c.ask("run it and wait"))
        await until(lambda: any("ready" in e.output for e in entries(c, ToolEntry)))
        await c.stop()
        assert not c.background.running and card(c).state == "cancelled"
        await turn
        assert not list((h.home / "sandbox").glob("run-*"))


async def test_a_child_that_has_ended_leaves_nothing_running(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(sandbox("bwrap"))
        h.server.call("sub_agent", {"task": "start it", "title": "Starter"})
        start(h, "sleep 600")
        h.server.say("Started.")
        h.server.say("It has begun.")
        c = await h.start()
        ending = await c.ask("let a child start it")
        assert ending.text == "It has begun." and not c.background.running
        (entry,) = [e for e in entries(c, ToolEntry) if e.background]
        assert entry.state == "cancelled" and "has ended" in entry.reason


async def test_going_back_ends_them(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(sandbox("bwrap"))
        start(h, "sleep 600")
        h.server.say("It runs.")
        c = await h.start()
        await c.ask("run it")
        assert c.background.running
        await c.rewind(entries(c, UserEntry)[-1].id, "conversation")
        assert not c.background.running
        read(h)
        h.server.say("Gone.")
        await c.ask("how far?")
        assert "was ended: the conversation was rewound" in results(h)[-1]


async def test_what_is_still_looked_at_is_said_and_waited_for(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(sandbox("bwrap"))
        person = h.person = Slow()
        start(h, "echo made >a.txt")
        read(h, wait=1)
        h.server.say("Waiting for you.")
        c = await h.start()
        await c.ask("run it")
        assert "the user is still looking at what it changed" in results(h)[-1]
        assert not (h.folder / "a.txt").exists()
        person.open.set()
        await until(lambda: card(c).state == "done")
        assert (h.folder / "a.txt").exists()


class Slow(Person):
    """Looks at changes until the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.open = asyncio.Event()

    async def review(self, node: str, call: str, edits: Sequence[Any]) -> Review:
        await self.open.wait()
        return await super().review(node, call, edits)


PROGRAM = """\
import asyncio, sys
from pathlib import Path
from jarvis_ls.assembly.bootstrap import build
from jarvis_ls.runtime.tools.interaction import NonInteractive
from jarvis_ls.runtime.tools.permissions import PermissionRule
from jarvis_ls.assembly.workplace import Additions

async def main():
    assembly = build(home=Path(sys.argv[1]), environment={})
    rules = Additions(rules=[PermissionRule("allow", kind="execute")])
    conversation = await assembly.start(
        None, [Path(sys.argv[2])], NonInteractive(), trusted=True, additions=rules
    )
    await conversation.ask("run it")
    while not any(
        "ready" in getattr(getattr(event, "entry", None), "output", "")
        for event in assembly.feed.snapshot(conversation.id)
    ):
        await asyncio.sleep(0.05)
    print("ready", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_a_killed_server_takes_them_along(tmp_path: Path, rung: str) -> None:
    async with house(tmp_path) as h:
        h.configure(sandbox(rung))
        seconds = f"6{time.time_ns() % 10**8}"  # tells its processes from all others
        start(h, f"setsid sleep {seconds} & sleep {seconds} & echo ready; wait")
        h.server.say("It runs.")
        server = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            PROGRAM,
            str(h.home),
            str(h.folder),
            env={**os.environ, "PYTHONPATH": str(SERVER)},
            stdout=asyncio.subprocess.PIPE,
        )
        assert server.stdout is not None
        assert await asyncio.wait_for(server.stdout.readline(), 60) == b"ready\n"
        await until(lambda: len(processes(seconds)) == 2)  # begun, but another program until then
        server.kill()
        await server.wait()
        await until(lambda: not processes(seconds))


def processes(word: str) -> list[str]:
    """Return the processes that have a word among their arguments."""
    found = []
    for place in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if place.name.isdigit() and word in (place / "cmdline").read_text().split("\0"):
                found.append(place.name)
    return found

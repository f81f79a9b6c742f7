"""`jarvis auto` ended with SIGKILL at any moment, and resumed: no finished task is done twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.runtime.base.messages import Assistant
from jarvis_ls.runtime.session.store import SessionStore
from tests.support.auto_model import AutoModel, plan_of
from tests.support.model_server import Answer, Asked

if TYPE_CHECKING:
    from tests.cli.test_jarvis_command import Place

TASKS = {"a": [], "b": [], "c": ["a"], "d": ["b", "c"]}
OPTIONS = ("--interval", "60", "-n")


@dataclass(frozen=True)
class Killed:
    """What became of one run."""

    lines: int
    """It had written when it was killed."""
    was_killed: bool
    finished: tuple[str, ...]
    """Tasks that had ended by then."""


def script(here: Place) -> AutoModel:
    """Let each task take two rounds."""
    assert here.model is not None
    model = AutoModel(here.model, plan_of(**TASKS))

    def play(task: str, asked: Asked) -> Answer:
        has_looked = any(m.get("role") == "tool" for m in asked.body["messages"])
        if has_looked:
            return model.say(f"DO-{task} is done.", delay=0.01)
        return model.call("list_project_files", {}, delay=0.01)

    for task in TASKS:
        model.plays[f"DO-{task}"] = lambda asked, _, task=task: play(task, asked)
    return model


async def count_lines(here: Place) -> int:
    """How many lines a run writes that is not killed."""
    script(here)
    status, out, err = await here.run("auto", "-m", "All", *OPTIONS, "--json")
    assert status == 0, err
    return len(out.splitlines())


async def kill_and_resume(here: Place, lines: int, chance: random.Random) -> Killed:
    """Kill a run after so many lines and a moment, resume it, check what it has done."""
    model = script(here)
    process = await here.start("auto", "-m", "All", *OPTIONS, "--json")
    assert process.stdout is not None
    session, seen = "", 0
    while seen < lines and (line := await process.stdout.readline()):
        seen += 1
        session = session or json.loads(line).get("session", "")
    await asyncio.sleep(chance.random() * 0.02)
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.communicate()
    finished = finished_tasks(here.home, session)
    before = len(model.asked)
    status, out, err = await here.run("auto", "-s", session, *OPTIONS)
    if process.returncode == 0:
        assert (status, "can be resumed" in err) == (2, True), err
        assert len(model.asked) == before
        return Killed(seen, False, finished)
    if (status, out) == (2, ""):  # it had all been said and kept
        assert "can be resumed" in err, err
        assert model.asked[-1] == "summary"
    else:
        assert (status, out) == (0, "All is summed up.\n"), err
    again = set(model.asked[before:])
    assert not again & set(finished), f"{finished} had ended, {again} were asked again"
    assert finished_tasks(here.home, session) == tuple(f"DO-{task}" for task in TASKS)
    assert model.count("summary") <= 2
    return Killed(seen, True, finished)


def finished_tasks(home: Path, session: str) -> tuple[str, ...]:
    """Tasks whose last answer is in the session on disk."""
    with SessionStore(home).open(session, read_only=True) as kept:
        assert kept.damage == ()
        last = [kept.messages(node)[-1:] for node in kept.nodes]
        texts = [m.text for said in last for m in said if isinstance(m, Assistant)]
    return tuple(f"DO-{task}" for task in TASKS if f"DO-{task} is done." in texts)

"""Stalls, loops and failures that `jarvis auto` corrects without a person, as a process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_jarvis_command import place
from tests.support.auto_model import AutoModel, plan_of, written
from tests.support.model_server import Answer, Asked, chunk

FAULTS_OF_A_RUN = 16
NEVER = 3600.0
AGAIN = "Your work on this task was interrupted"
"""What an agent reads that is tried again."""
Play = Callable[[AutoModel, Asked, int], Answer]


@dataclass(frozen=True)
class Fault:
    """What an agent does wrong, and what must be done about it."""

    name: str
    play: Play
    corrected: tuple[str, ...]
    """Cause and kind of a correction, such as `stuck:redirect`; empty where the runtime itself
    corrects it."""
    diagnoses: list[Any] = field(default_factory=list)
    """What its parent says."""


def stalls(times: int = 1, first: int = 0, **answer: Any) -> Play:
    """Its answers `first` and later never come, so many times."""

    def play(model: AutoModel, asked: Asked, number: int) -> Answer:
        if number < first:
            return model.call("list_project_files", {})
        if number < first + times:
            return model.say(
                "Well then, let me see first what there is.", **(answer or {"silent": NEVER})
            )
        return model.say("Done after all.")

    return play


def fails(times: int, answer: Callable[[AutoModel], Answer]) -> Play:
    """Its first answers are of no use."""
    return lambda model, _, number: answer(model) if number < times else model.say("Done.")


def repeats(steps: list[tuple[str, dict[str, Any]]], until: str = AGAIN, attempts: int = 1) -> Play:
    """It does the same again and again until it reads some words so many times."""

    def play(model: AutoModel, asked: Asked, number: int) -> Answer:
        if written(asked).count(until) >= attempts:
            return model.say("Done in another way.")
        return model.call(*steps[number % len(steps)])

    return play


def misses(until: str) -> Play:
    """It asks for files that are not there, another one each time, until it reads some words."""

    def play(model: AutoModel, asked: Asked, number: int) -> Answer:
        if until in written(asked):
            return model.say("Done with what there is.")
        tool = ("read_code", {"files": [{"path": f"missing-{number * 'x'}.c"}]})
        return model.call(*tool)

    return play


def finishes(reason: str) -> Callable[[AutoModel], Answer]:
    """An answer that ends for another reason than that it is whole."""

    def answer(model: AutoModel) -> Answer:
        given = model.say("Half of")
        given.chunks[-2] = chunk({}, reason)
        return given

    return answer


LIST = ("list_project_files", {})
READ = ("read_code", {"files": [{"path": "there.c"}]})
MISSING = ("read_code", {"files": [{"path": "nowhere.c"}]})
FAULTS = [
    Fault("no first byte", stalls(), ("stuck:redirect",)),
    Fault("stops in the middle", stalls(stall_after=2), ("stuck:redirect",)),
    Fault("stops after a call", stalls(first=1), ("stuck:redirect",)),
    Fault("stops after two calls", stalls(first=2), ("stuck:redirect",)),
    Fault("stalls twice", stalls(2), ("stuck:redirect",)),
    Fault("stalls more often than its parent helps", stalls(4), ("stuck:redirect", "stuck:retry")),
    Fault("is only slow", stalls(silent=6.0), ("stuck:wait",), [{"action": "wait"}]),
    Fault("a dead end", stalls(), ("stuck:restart",), [{"action": "restart"}]),
    Fault("its parent talks nonsense", stalls(), ("stuck:redirect",), ["Hm. Not sure."]),
    Fault("its parent wants what is not there", stalls(), ("stuck:redirect",), [{"action": "x"}]),
    Fault("its parent cannot answer", stalls(), ("stuck:redirect",), [400]),
    Fault("its parent never answers", stalls(), ("stuck:redirect",), [NEVER]),
    Fault("its parent first waits", stalls(2), ("stuck:wait",), [{"action": "wait"}, {}]),
    Fault("works too long", stalls(delay=1.0, pieces=20), ("timeout:retry",)),
    Fault("works too long twice", stalls(2, delay=1.0, pieces=20), ("timeout:retry",)),
    Fault("one call again and again", repeats([LIST]), ("failed:retry",)),
    Fault("another call again and again", repeats([READ]), ("failed:retry",)),
    Fault("two calls in turn", repeats([LIST, READ]), ("failed:retry",)),
    Fault("one error again and again", repeats([MISSING]), ("failed:retry",)),
    Fault("repeats itself in two attempts", repeats([LIST], attempts=2), ("failed:retry",)),
    Fault("repeats itself in three attempts", repeats([READ], attempts=3), ("failed:retry",)),
    Fault("repeats itself until told", repeats([LIST], until="Note: you have made"), ()),
    Fault("calls fail", misses("tool calls failed"), ("errors:adjust",)),
    Fault("calls fail all the same", misses("Go another way"), ("errors:adjust",)),
    Fault(
        "calls fail until it is begun anew",
        misses("Read there.c"),
        ("errors:restart",),
        [{"action": "restart", "instructions": "Read there.c"}],
    ),
    Fault("refused once", fails(1, lambda m: m.refuse(400, "no")), ("failed:retry",)),
    Fault("refused three times", fails(3, lambda m: m.refuse(400, "no")), ("failed:retry",)),
    Fault("says it cannot", fails(1, lambda m: m.say("No. !!!FAILED!!!")), ("failed:retry",)),
    Fault("its words are filtered", fails(1, finishes("content_filter")), ("failed:retry",)),
    Fault("says nothing", fails(3, lambda m: m.say("")), ()),
    Fault("no such tool", repeats([("nothing_like_it", {})]), ("failed:retry",)),
    Fault("its arguments are no JSON", repeats([("read_code", {"file": 1})]), ("failed:retry",)),
]


@pytest.mark.parametrize("start", range(0, len(FAULTS), FAULTS_OF_A_RUN))
async def test_faults_are_corrected_without_a_person(tmp_path: Path, start: int) -> None:
    chosen = {f"f{n}": fault for n, fault in enumerate(FAULTS[start : start + FAULTS_OF_A_RUN])}
    async with place(tmp_path) as here:
        (here.folder / "there.c").write_text("int there;\n")
        config = here.home / "config.toml"
        config.write_text(config.read_text() + "[agents]\nparallel = 16\n")
        model = AutoModel(here.model, plan_of(**dict.fromkeys(chosen, ())))
        for id, fault in chosen.items():
            model.plays[f"DO-{id}"] = lambda asked, n, fault=fault: fault.play(model, asked, n)
            if fault.diagnoses:
                model.diagnoses[f"DO-{id}"] = [_diagnosis(model, d) for d in fault.diagnoses]
        limits = ("--interval", "1", "--timeout", "8")
        status, out, err = await here.run("auto", "-m", "All", *limits, "-n", "--json")
        lines = [json.loads(line) for line in out.splitlines()]
        shown = [line for line in lines if line["type"] == "tasks"][-1]
        wrong = []
        for task in shown["tasks"]:
            fault = chosen[task["id"]]
            done = [f"{it['cause']}:{it['kind']}" for it in task["corrections"]]
            if task["state"] != "done" or not set(fault.corrected) <= set(done):
                wrong.append((fault.name, task["state"], done, task["error"]))
        assert wrong == [], err
        assert (status, lines[-1]["text"]) == (0, "All is summed up.")


def _diagnosis(model: AutoModel, given: Any) -> Any:
    if given == NEVER:
        return model.say("Late.", silent=NEVER)
    return model.refuse(400) if given == 400 else given


async def test_what_its_parent_gives_up_has_failed(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        model = AutoModel(here.model, plan_of(a=[], b=[]))
        model.plays["DO-a"] = lambda _asked, _number: model.say("Never", silent=NEVER)
        model.diagnoses["DO-a"] = [{"action": "give_up", "instructions": "There is no way."}]
        status, out, err = await here.run("auto", "-m", "All", "--interval", "1", "-n")
        assert (status, out) == (1, ""), err
        assert "“Task a” is given up: There is no way." in err
        assert model.count("DO-a") == 1


async def test_what_never_gets_better_is_tried_as_often_as_allowed(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        model = AutoModel(here.model, plan_of(a=[], b=[]))
        model.plays["DO-a"] = lambda _asked, _number: model.refuse(400, "never")
        status, _, _ = await here.run("auto", "-m", "All", "--interval", "5", "-n")
        assert (status, model.count("DO-a")) == (1, 4)

"""Kills a process that writes a session, again and again, and checks what is left.

Run as a script: `session_killing.py FOLDER KILLS SEED`. It forks a writer, lets it work, ends it
with SIGKILL at a random moment, opens the session and compares it with what the writer had told
it had done. Prints what was counted as JSON; ends with an error at the first difference.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from jarvis_ls.runtime.base.events import EntryPut, NoticeEntry
from jarvis_ls.runtime.base.messages import Assistant, Message, System, Usage, User
from jarvis_ls.runtime.session.session import Session
from jarvis_ls.runtime.session.store import SessionStore

PER_SESSION = 20
"""Kills that one session goes through."""


def run(folder: Path, kills: int, seed: int, timeout: float = 300) -> dict[str, int]:
    """What was counted in a process of its own. Raises `AssertionError` with its words when
    anything was lost or doubled."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, __file__, str(folder), str(kills), str(seed)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    counted: dict[str, int] = json.loads(done.stdout)
    return counted


def main(folder: Path, kills: int, seed: int) -> None:
    """Kill as often as asked, and print what was counted."""
    chance = random.Random(seed)
    counted = {"kills": 0, "acknowledged": 0, "in_flight_kept": 0, "in_flight_gone": 0, "forks": 0}
    store = SessionStore(folder)
    while counted["kills"] < kills:
        with store.create("/work") as session:
            name = session.id
        state: list[list[Any]] = []
        for _ in range(min(PER_SESSION, kills - counted["kills"])):
            told = _killed_writer(folder, name, state, chance)
            state = _checked(store, name, state, told, counted)
            counted["kills"] += 1
    counted["forks"] = _check_forks(store)
    print(json.dumps(counted))


def _killed_writer(
    folder: Path, name: str, state: list[list[Any]], chance: random.Random
) -> list[dict[str, Any]]:
    """What a writer told before it was killed."""
    reading, writing = os.pipe()
    seed = chance.random()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            _write(SessionStore(folder), name, len(state), random.Random(seed), writing)
        finally:
            os._exit(1)  # only a kill ends a writer; anything else is told by this
    os.close(writing)
    first = os.read(reading, 1)  # it has begun
    assert first, "the writer ended by itself"
    time.sleep(chance.choice((0.0, 0.001, 0.005, 0.02)) * chance.random())
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"the writer ended by itself: {status}"
    with os.fdopen(reading, "rb") as pipe:
        lines = (first + pipe.read()).split(b"\n")
    return [json.loads(line) for line in lines[:-1]]


def _write(store: SessionStore, name: str, number: int, chance: random.Random, pipe: int) -> None:
    """Work until killed: each step is told before it begins and when it is done."""
    session = store.open(name)
    assert session.read_only == "", session.read_only
    while True:
        number += 1
        step = _step(session, number, chance)
        os.write(pipe, json.dumps({"try": step}).encode() + b"\n")
        _do(store, session, step)
        os.write(pipe, json.dumps({"done": step}).encode() + b"\n")


def _step(session: Session, number: int, chance: random.Random) -> list[Any]:
    messages = session.messages("root")
    kind = chance.choices(
        ["say", "answer", "show", "replace", "cut", "sync", "fork"], [8, 8, 4, 2, 1, 1, 0.3]
    )[0]
    if kind in ("replace", "cut") and len(messages) < 4:
        kind = "say"
    if kind == "cut":
        said = [_id(m) for m in session.transcript("root") if _id(m)]
        return ["cut", number, chance.choice(said[-6:])]
    if kind == "replace":
        return ["replace", number, chance.randrange(len(messages))]
    return [kind, number, "x" * chance.choice((0, 10, 3000))]


def _do(store: SessionStore, session: Session, step: list[Any]) -> None:
    kind, number, value = step
    if kind == "say":
        session.append("root", User(f"{number} {value}"))
    elif kind == "answer":
        session.append("root", Assistant(f"{number} {value}"))
        session.spend("root", Usage(1))
    elif kind == "show":
        session.put(EntryPut(session.id, "root", NoticeEntry(f"e{number}", "info", value)))
    elif kind == "replace":
        rest = session.messages("root")[value:]
        session.replace("root", [System("rules"), User(f"{number} summary"), *rest])
    elif kind == "cut":
        session.cut("root", value)
    elif kind == "sync":
        session.sync()
    else:
        store.fork(session.id).close()


def _checked(
    store: SessionStore,
    name: str,
    state: list[list[Any]],
    told: list[dict[str, Any]],
    counted: dict[str, int],
) -> list[list[Any]]:
    """The steps the session holds: all that were done, and perhaps the one that was tried."""
    done = [line["done"] for line in told if "done" in line]
    tried = [line["try"] for line in told if "try" in line]
    counted["acknowledged"] += len(done)
    with store.open(name) as session:
        assert session.read_only == "", session.read_only
        assert session.damage == (), session.damage
        found = _seen(session)
        if found == _expected([*state, *done]):
            counted["in_flight_gone"] += len(tried) - len(done)
            kept = [*state, *done]
        else:
            kept = [*state, *done, *tried[len(done) :]]
            assert found == _expected(kept), f"lost or doubled after {tried[-3:]}"
            counted["in_flight_kept"] += 1
        assert session.info == next(info for info in store.list() if info.id == name)
    return kept


def _seen(session: Session) -> tuple[list[str], list[str], list[str]]:
    entries = [e.entry.id for e in session.events() if isinstance(e, EntryPut)]
    return _numbers(session.messages("root")), _numbers(session.transcript("root")), entries


def _expected(steps: list[list[Any]]) -> tuple[list[str], list[str], list[str]]:
    """What a session holds after these steps, worked out without a journal."""
    log: list[tuple[str, Any, str]] = []
    entries: list[str] = []
    given = 0
    for kind, number, value in steps:
        if kind in ("say", "answer"):
            given += 1
            log.append(("said", str(number), f"m{given}"))
        elif kind == "replace":
            given += 1
            log.append(("now", ["rules", str(number), *_now(log)[value:]], ""))
        elif kind == "cut":
            del log[next(n for n, (_, _, name) in enumerate(log) if name == value) :]
        elif kind == "show":
            entries.append(f"e{number}")
    return _now(log), [value for what, value, _ in log if what == "said"], entries


def _now(log: list[tuple[str, Any, str]]) -> list[str]:
    found: list[str] = []
    for what, value, _ in log:
        found = [*found, value] if what == "said" else list(value)
    return found


def _numbers(messages: list[Message]) -> list[str]:
    return [message.text.split()[0] for message in messages]


def _check_forks(store: SessionStore) -> int:
    """A fork is there as a whole or not at all."""
    forks = 0
    for info in store.list():
        fork = store.open(info.id, read_only=True)
        assert fork.damage == (), fork.damage
        forks += bool(fork.forked)
    return forks


def _id(message: Message) -> str:
    return "" if isinstance(message, System) else message.id


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

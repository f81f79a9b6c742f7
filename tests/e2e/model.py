"""A scripted model for tests in the workbench: `python tests/e2e/model.py [--security|--auto]`.

Prints its base URL, then reads one JSON object per line: what holds for the server (`server`: its
only `key`, the `models` it lists), or who answers (`of`: the name in brackets
in an agent's task, empty for the main one), and either `say` with a text, `calls` with tools and
arguments, or `refuse` with an HTTP status. More keys (`delay`, `thinking`, `pieces`, `stall_after`)
are given on. Ends with its input. With `--security` it answers the agents of `jsec agent` by
itself: everything is a flaw. With `--auto` it answers the agents of auto mode: `plan` is the plan,
`held` names tasks that are not done before `release` is told.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import defaultdict, deque
from functools import partial
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from tests.support.auto_model import AutoModel  # noqa: E402
from tests.support.model_server import Answer, Asked, ModelServer  # noqa: E402
from tests.support.security_model import SecurityModel  # noqa: E402


async def main() -> None:
    """Serve until the input ends."""
    scripts: dict[str, deque[Answer]] = defaultdict(deque)

    def decide(asked: Asked) -> Answer | None:
        script = scripts[of(asked)]
        return script.popleft() if script else None

    is_security = "--security" in sys.argv
    async with SecurityModel() if is_security else ModelServer() as server:
        auto = AutoModel(server, {}) if "--auto" in sys.argv else None
        if not is_security and auto is None:
            server.decide = decide
        print(server.url, flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            told = json.loads(line)
            name = told.pop("of", "")
            if auto is not None:
                _tell(auto, told)
                print("ok", flush=True)
                continue
            if "server" in told:
                vars(server).update(told["server"])
                print("ok", flush=True)
                continue
            if "say" in told:
                server.say(told.pop("say"), **told)
            elif "refuse" in told:
                server.refuse(told.pop("refuse"), **told)
            else:
                server.call_all([tuple(one) for one in told.pop("calls")], **told)
            scripts[name].append(server.answers.pop())
            print("ok", flush=True)


def _tell(auto: AutoModel, told: dict[str, Any]) -> None:
    """Let auto mode's model know its plan, or let tasks that are held be done."""
    held: set[str] = set(told.get("held", ()))

    def play(task: str, _: Asked, turn: int) -> Answer:
        if task in auto.plays and turn < 300:
            file = {"path": "list.txt", "start_line": turn + 1, "end_line": turn + 1}
            arguments = {"files": [file]}  # another call each time: no loop
            return auto.call("read_code", arguments, silent=0.5)
        return auto.say(f"{task} is done.")

    if "plan" in told:
        auto.plan = [told["plan"]]
    if told.get("release"):
        auto.plays.clear()
    for task in held:
        auto.plays[task] = partial(play, task)


def of(asked: Asked) -> str:
    """The name of the agent that asks."""
    for message in asked.body.get("messages", ()):
        if message["role"] == "user" and (
            found := re.search(r"\[(\w+)\]", str(message["content"]))
        ):
            return found[1]
    return ""


asyncio.run(main())

"""A scripted model for tests in the workbench: `python tests/e2e/model.py [--security]`.

Prints its base URL, then reads one JSON object per line: what holds for the server (`server`: its
only `key`, the `models` it lists), or who answers (`of`: the name in brackets
in an agent's task, empty for the main one), and either `say` with a text, `calls` with tools and
arguments, or `refuse` with an HTTP status. More keys (`delay`, `thinking`, `pieces`, `stall_after`)
are given on. Ends with its input. With `--security` it answers the agents of `jsec agent` by
itself: everything is a flaw.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import defaultdict, deque
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

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
        if not is_security:
            server.decide = decide
        print(server.url, flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            told = json.loads(line)
            name = told.pop("of", "")
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


def of(asked: Asked) -> str:
    """The name of the agent that asks."""
    for message in asked.body.get("messages", ()):
        if message["role"] == "user" and (
            found := re.search(r"\[(\w+)\]", str(message["content"]))
        ):
            return found[1]
    return ""


asyncio.run(main())

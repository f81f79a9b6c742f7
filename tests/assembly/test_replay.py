"""A session whose models are recordings of another one, set up as any provider is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jarvis_ls.assembly.bootstrap import build
from tests.support.agents import Person
from tests.support.model_server import Answer, Asked, ModelServer, chunk, usage

SERVED = (
    '[model_providers.mine]\nbase = "{url}"\nenv_keys = ["MINE_KEY"]\n'
    '[model_groups.balanced]\nmodels = ["mine/m"]\n'
)
RECORDED = (
    '[model_providers.recorded]\ntype = "replay"\nbase = "{folder}"\n'
    '[model_groups.balanced]\nmodels = ["recorded/m"]\n'
)


async def session(home: Path, work: Path, settings: str) -> list[dict[str, Any]]:
    """What a session with two children said and ran, without ids."""
    home.mkdir()
    (home / "config.toml").write_text(settings)
    assembly = build(home=home, environment={"MINE_KEY": "key-0123456789"})
    assert not assembly.problems
    conversation = await assembly.start(None, [work], Person(), trusted=True)
    ending = await conversation.ask("Count both")
    assert ending.state == "completed", ending.error
    found = []
    for node in conversation.tree.walk():
        for message in conversation.session.messages(node.id):
            calls = [(c.name, c.arguments) for c in getattr(message, "tool_calls", ())]
            if message.kind == "assistant":
                found.append({"text": message.text, "calls": calls})
    await assembly.close()
    return sorted(found, key=str)


def answer(asked: Asked) -> Answer | None:
    """The answer of a child, by its task."""
    words = str(asked.body["messages"])
    for name in ("left", "right"):
        if f"Count the {name} one" in words and "Count both" not in words:
            said = chunk({"content": f"The {name} one has {len(name)}."})
            return Answer([said, chunk({}, "stop"), usage()])
    return None


async def test_a_tree_of_agents_is_replayed(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    async with ModelServer() as server:
        server.decide = answer
        calls = [
            ("sub_agent", {"task": f"Count the {name} one", "title": name})
            for name in ("left", "right")
        ]
        server.call_all(calls, "I let others count.")
        server.say("4 and 5.")
        first = await session(tmp_path / "a", work, SERVED.format(url=server.url))
        asked = len(server.requests)
        (folder,) = (tmp_path / "a").rglob("calls")
        again = await session(tmp_path / "b", work, RECORDED.format(folder=folder))
        assert len(server.requests) == asked == 4
    assert again == first and len(first) == 4

"""A whole conversation by way of the assembly: everything of it is kept, nothing of the key."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from jarvis_ls.assembly.bootstrap import build
from jarvis_ls.runtime.base.events import AnswerEntry, EntryPut, ToolEntry, UserEntry
from jarvis_ls.runtime.base.messages import Assistant, ToolResult
from jarvis_ls.runtime.llm.call_log import CallLog
from jarvis_ls.runtime.session.history import History
from jarvis_ls.runtime.session.store import SessionStore
from tests.support.agents import Person, until
from tests.support.model_server import Answer, ModelServer, chunk, usage
from tests.support.patience import HANGS

CANARY = "canary-Zq3v9XkT1w7b5R0m"
ROOT = "root"


def everything(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file, and what git has packed into its objects. Checkpoints hold copies of the
    user's own files, whatever they say."""
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            yield path, str(path).encode() + data
            if "objects" in path.parts and "checkpoints" not in str(path):
                yield path, zlib.decompress(data)


async def test_a_conversation_is_kept_whole_and_without_its_key(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / "secrets.txt").write_text(f"the key is {CANARY}\n")
    async with ModelServer() as server:
        environment = {
            "JARVIS_MODEL": "openai/scripted",
            "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": CANARY,
        }
        assembly = build(home=home, environment=environment)
        conversation = await assembly.start(None, [work], Person(), trusted=True)
        name = conversation.id
        server.add(Answer([chunk({}, "stop"), usage(50, 0, 0, 0)]))  # broken, but billed
        server.call("read_code", {"files": [{"path": "secrets.txt"}]}, headers={"x-echo": CANARY})
        server.say(f"It is {CANARY}. !!!COMPLETE!!!", pieces=9)
        await asyncio.wait_for(conversation.ask(f"What is my key, {CANARY}?"), HANGS)
        await until(
            lambda: (
                conversation.session.path / "history" / ".git" / "refs" / "heads" / "main"
            ).exists()
        )
        server.refuse(401, {}, f"wrong key {CANARY}")
        await asyncio.wait_for(conversation.ask("And now?"), HANGS)
        reported = len(server.requests) - 1
        await assembly.close()
        assert CANARY in server.requests[0].headers["authorization"]
        assert CANARY in str(server.requests[2].body), "the model was shown what the file says"

    store = SessionStore(home)
    (info,) = store.list()
    assert (info.id, info.title) == (name, "What is my key, [redacted]?")
    assert (info.usage.input, info.usage.output) == (50 + 11 * (reported - 1), 7 * (reported - 1))
    with store.open(name) as session:
        assert session.damage == ()
        kinds = [type(message) for message in session.transcript(ROOT)]
        assert kinds.count(Assistant) >= 2 and ToolResult in kinds
        shown = [e.entry for e in session.events() if isinstance(e, EntryPut)]
        for kind in (UserEntry, AnswerEntry, ToolEntry):
            assert any(isinstance(entry, kind) for entry in shown)
        assert session.totals.subtree(ROOT).calls == reported
        logged = [
            [json.loads(line) for line in path.read_text().splitlines()]
            for path in CallLog(session.path / "calls").files()
        ]
        assert len(logged) == reported + 1
        assert {call[0]["node"] for call in logged} == {ROOT}
        counted = [line["usage"] for call in logged for line in call if line["is"] == "response"]
        assert sum(c["input"] for c in counted if c) == info.usage.input
        versions = await History(session.path).versions()
        assert [v.words for v in versions] == ["And now?", "What is my key, [redacted]?"]
    holding = {path for path, data in everything(home) if CANARY[:14].encode() in data}
    assert not [path for path in holding if "checkpoints" not in path.parts[len(home.parts)]]
    assert any(b"[redacted]" in data for _, data in everything(home))

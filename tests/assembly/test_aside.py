"""`/clear`, `/save` and `/restore`: a conversation is let go, put aside, and taken up elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jarvis_ls.agents.records import ROOT
from jarvis_ls.assembly.bootstrap import build
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.assembly.saved_session_commands import USER_DATA
from jarvis_ls.runtime.base.events import EntryPut
from tests.support.agents import Person, until
from tests.support.model_server import Answer, ModelServer, chunk

CANARY = "canary-Zq3v9XkT1w7b5R0m"


def environment(server: ModelServer, model: str = "large") -> dict[str, str]:
    return {
        "JARVIS_MODEL": f"openai/{model}",
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": CANARY,
    }


def said(conversation: Conversation) -> str:
    """The last thing that was shown."""
    entries: list[Any] = [e.entry for e in conversation.session.events() if isinstance(e, EntryPut)]
    return str(getattr(entries[-1], "text", "") or getattr(entries[-1], "output", ""))


def sent(server: ModelServer) -> str:
    return str(server.requests[-1].body["messages"])


async def test_a_conversation_is_put_aside_and_taken_up_in_another_session(tmp_path: Path) -> None:
    async with ModelServer() as server:
        assembly = build(home=tmp_path, environment=environment(server))
        first = await assembly.start(None, [tmp_path], Person())
        await first.send("/save")
        assert "No messages yet" in said(first)
        server.say("The answer is 42. !!!COMPLETE!!!")
        await first.ask(f"What is the answer? {CANARY}")
        first.session.data[f"{USER_DATA}mood"] = "curious"
        await first.send("/save")
        assert "messages saved" in said(first)
        (file,) = (tmp_path / "saved").iterdir()
        assert file.name == "saved_session_Jarvis_openai_large.json"
        assert CANARY not in file.read_text()

        before = first.session.messages(ROOT)
        await first.send("/restore")
        assert "already in this conversation" in said(first)
        assert first.session.messages(ROOT) == before and file.exists()

        second = await assembly.start(None, [tmp_path], Person())
        await second.send("/restore")
        assert "messages restored" in said(second)
        assert not file.exists()
        assert second.session.data[f"{USER_DATA}mood"] == "curious"
        server.say("As I said, 42. !!!COMPLETE!!!")
        await second.ask("Again?")
        assert "What is the answer? [redacted]" in sent(server)
        assert "The answer is 42." in sent(server)
        await second.send("/restore")
        assert "No conversation was saved" in said(second)
        await assembly.close()


async def test_other_models_take_nothing_back(tmp_path: Path) -> None:
    async with ModelServer() as server:
        assembly = build(home=tmp_path, environment=environment(server))
        first = await assembly.start(None, [tmp_path], Person())
        server.say("Yes. !!!COMPLETE!!!")
        await first.ask("Well?")
        await first.send("/save")
        other = build(home=tmp_path, environment=environment(server, "small"))
        second = await other.start(None, [tmp_path], Person())
        await second.send("/restore")
        assert "No conversation was saved" in said(second)
        (tmp_path / "saved" / "saved_session_Jarvis_openai_small.json").write_text("{broken")
        await second.send("/restore")
        assert "cannot be restored" in said(second)
        await other.close()
        await assembly.close()


async def test_clearing_keeps_the_system_prompt_and_the_session(tmp_path: Path) -> None:
    async with ModelServer() as server:
        assembly = build(home=tmp_path, environment=environment(server))
        conversation = await assembly.start(None, [tmp_path], Person())
        server.say("One. !!!COMPLETE!!!")
        await conversation.ask("first question")
        system = server.requests[-1].body["messages"][0]
        assert system["role"] == "system"
        await conversation.send("/clear")
        server.say("Two. !!!COMPLETE!!!")
        await conversation.ask("second question")
        assert "first question" not in sent(server)
        assert server.requests[-1].body["messages"][0]["role"] == "system"
        assert "second question" in sent(server)
        assert "first question" in str(conversation.session.transcript("root"))
        await assembly.close()


async def test_nothing_of_it_while_an_agent_works(tmp_path: Path) -> None:
    async with ModelServer() as server:
        assembly = build(home=tmp_path, environment=environment(server))
        conversation = await assembly.start(None, [tmp_path], Person())
        server.add(Answer([chunk({"content": "hm"})] * 2, stall_after=1))
        await conversation.send("think")
        await until(lambda: server.requests)
        for command in ("/clear", "/save", "/restore"):
            await conversation.send(command)
            assert "stop it first" in said(conversation)
        await conversation.stop()
        await assembly.close()

"""The same agent on Anthropic's protocol: tools, thinking, cost, going on in another process."""

from __future__ import annotations

import json
from pathlib import Path

from jarvis_ls.assembly.bootstrap import build
from jarvis_ls.runtime.base.messages import Assistant, ToolResult
from tests.support.agents import Person
from tests.support.anthropic_server import AnthropicServer

ROOT = "root"


def configure(home: Path, server: AnthropicServer) -> dict[str, str]:
    (home / "config.toml").write_text(
        f'[model_providers.mine]\ntype = "anthropic"\nbase = "{server.url}"\n'
        'env_keys = ["MINE_KEY"]\n[model_groups.balanced]\nmodels = ["mine/claude"]\n'
        '[models."mine/claude"]\ninput_price = 3\noutput_price = 15\ncached_price = 0.3\n'
    )
    return {"MINE_KEY": "key-of-mine-0123456789"}


async def test_an_agent_calls_tools_and_goes_on_later(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / "a.c").write_text("int answer = 42;\n")
    async with AnthropicServer() as server:
        environment = configure(home, server)
        assembly = build(home=home, environment=environment)
        conversation = await assembly.start(None, [work], Person(), trusted=True)
        calls: list[tuple[str, dict[str, object] | str]] = [
            ("read_code", {"files": [{"path": "a.c"}]}),
            ("read_code", {"files": [{"path": "none.c"}]}),
        ]
        server.call_all(calls, "I look.", thinking="where is it")
        server.say("It is 42. !!!COMPLETE!!!")
        ending = await conversation.ask("What is the answer?")
        assert "It is 42." in ending.text
        session = conversation.session
        kept = session.messages(ROOT)
        assert [type(m) for m in kept][-4:] == [Assistant, ToolResult, ToolResult, Assistant]
        second = server.requests[1].body
        assert second["system"][0]["text"]
        called, results = second["messages"][-2:]
        assert [b["type"] for b in called["content"]] == [
            "thinking",
            "text",
            "tool_use",
            "tool_use",
        ]
        uses = [b["id"] for b in called["content"] if b["type"] == "tool_use"]
        assert [b["tool_use_id"] for b in results["content"][:2]] == uses
        assert "int answer = 42" in results["content"][0]["content"]
        counted = session.spent()
        assert (counted.input, counted.cached, counted.output) == (2 * 18, 2 * 4, 2 * 7)
        assert abs(counted.cost - 2 * (14 * 3 + 4 * 0.3 + 7 * 15) / 1e6) < 1e-12
        await assembly.close()

        later = build(home=home, environment=environment)
        resumed = await later.start(session.id, [work], Person(), trusted=True)
        server.say("Still 42. !!!COMPLETE!!!")
        ending = await resumed.ask("Are you sure?")
        assert "Still 42." in ending.text
        third = server.requests[2].body["messages"]
        assert [turn["role"] for turn in third] == ["user", "assistant"] * 2 + ["user"]
        before, after = json.dumps(second["messages"]), json.dumps(third)
        marked = ', "cache_control": {"type": "ephemeral"}'
        assert after.replace(marked, "").startswith(before.replace(marked, "")[:-1])
        assert resumed.session.spent().input == 3 * 18
        await later.close()


async def test_a_signature_that_is_not_known_any_more_is_done_without(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    async with AnthropicServer() as server:
        assembly = build(home=home, environment=configure(home, server))
        conversation = await assembly.start(None, [work], Person(), trusted=True)
        server.call_all([("list_project_files", {})], thinking="where is it")
        words = "messages.1.content.0: Invalid `signature` in `thinking` block"
        server.refuse(400, message=words, code="invalid_request_error")
        server.say("Nothing there. !!!COMPLETE!!!")
        ending = await conversation.ask("What is there?")
        assert ending.text == "Nothing there."
        assert "signed where" in str(server.requests[1].body)
        assert "signed where" not in json.dumps(server.requests[2].body["messages"])
        await assembly.close()

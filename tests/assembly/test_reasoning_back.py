"""Models that want their reasoning back, over rounds, restarts and summaries; parameters and
protocols that only some models take.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.assembly.bootstrap import Assembly, build
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.runtime.base.messages import Assistant, FileRef, Image, User
from jarvis_ls.runtime.llm.platforms.base import ModelInfo
from jarvis_ls.runtime.llm.platforms.openai_responses import to_input
from jarvis_ls.runtime.llm.providers import read_models
from tests.support.agents import Person
from tests.support.model_server import Answer, Asked, ModelServer, ScriptedServer, chunk, usage
from tests.support.strict_servers import (
    DEEPSEEK,
    MOONSHOT,
    ResponsesServer,
    refuses_max_tokens,
    wants_details,
    wants_reasoning,
)

READ: tuple[str, dict[str, Any]] = ("read_code", {"files": [{"path": "a.c"}]})
DONE = "It is 42. !!!COMPLETE!!!"


class House:
    """A home, a folder, and one model behind a server."""

    def __init__(self, folder: Path, server: ScriptedServer, model: str) -> None:
        self.home, self.work = folder / "home", folder / "work"
        self.home.mkdir()
        self.work.mkdir()
        (self.work / "a.c").write_text("int answer = 42;\n")
        (self.home / "config.toml").write_text(
            f'[model_providers.mine]\nbase = "{server.url}"\nenv_keys = ["MINE_KEY"]\n'
            f'[model_groups.balanced]\nmodels = ["mine/m"]\n[models."mine/m"]\n{model}\n'
        )
        self.environment = {
            "MINE_KEY": "key-of-mine-0123456789",
            "GATEWAY": "gateway-secret-value-1",
        }

    @contextlib.asynccontextmanager
    async def open(self, session: str | None = None) -> AsyncIterator[Conversation]:
        """A process of its own that works in the folder."""
        assembly: Assembly = build(home=self.home, environment=self.environment)
        assert not assembly.problems
        yield await assembly.start(session, [self.work], Person(), trusted=True)
        await assembly.close()


def prefixes(server: ScriptedServer, key: str = "messages") -> list[bool]:
    """Whether each request begins with all of the one before, byte by byte."""
    bodies = [[json.dumps(m) for m in r.body[key]] for r in server.requests if key in r.body]
    return [after[: len(before)] == before for before, after in itertools.pairwise(bodies)]


@pytest.mark.parametrize("words", [DEEPSEEK, MOONSHOT])
@pytest.mark.parametrize("setting", ["reasoning_back = true", ""])
async def test_reasoning_goes_back_over_rounds_and_restarts(
    tmp_path: Path, words: str, setting: str
) -> None:
    async with ModelServer() as server:
        server.decide = wants_reasoning(words)
        house = House(tmp_path, server, setting)
        async with house.open() as conversation:
            server.call_all([READ]).chunks.insert(0, thought("Where is it?"))
            server.call_all([READ])  # without any reasoning
            server.say(DONE, thinking="There.")
            assert (await conversation.ask("What is the answer?")).text == "It is 42."
        learned = 0 if setting else 1  # it is refused once, then it is known
        assert len(server.requests) == 3 + learned
        async with house.open(conversation.id) as conversation:
            server.say(DONE)
            assert (await conversation.ask("Are you sure?")).state == "completed"
        answers = [m for m in server.requests[-1].body["messages"] if m["role"] == "assistant"]
        back = [m.get("reasoning_content") for m in answers]
        assert back == ["Where is it?", "", "There."]
        assert len(server.requests) == 4 + 2 * learned
        if setting:
            assert all(prefixes(server))


def thought(text: str) -> dict[str, Any]:
    """An event that holds reasoning."""
    delta = {"role": "assistant", "reasoning_content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice]}


SIGNED = {
    "type": "reasoning.text",
    "text": "Where is it?",
    "signature": "c2lnbmVk",
    "format": "anthropic-claude-v1",
    "index": 0,
}
SEALED = {
    "type": "reasoning.encrypted",
    "data": "Z2VtaW5p",
    "id": "tool_0_read",
    "format": "google-gemini-v1",
    "index": 1,
}
CALL = {
    "index": 0,
    "id": "tool_0_read",
    "type": "function",
    "function": {"name": READ[0], "arguments": json.dumps(READ[1])},
}


def streamed() -> Answer:
    """An answer whose details come in pieces, before and after its call."""
    begun = {**SIGNED, "text": "Where ", "signature": None}
    pieces = [begun, {"type": "reasoning.text", "text": "is it?", "index": 0}]
    pieces.append({"type": "reasoning.text", "signature": "c2lnbmVk", "index": 0})
    chunks: list[dict[str, Any] | bytes] = [
        chunk({"reasoning": piece.get("text"), "reasoning_details": [piece]}) for piece in pieces
    ]
    chunks.append(chunk({"tool_calls": [CALL]}))
    chunks.append(chunk({"reasoning_details": [SEALED]}))
    return Answer([*chunks, chunk({}, "tool_calls"), usage()])


def whole() -> Answer:
    """The same answer from a server that streams nothing."""
    call = {name: value for name, value in CALL.items() if name != "index"}
    said = {
        "role": "assistant",
        "content": None,
        "reasoning": SIGNED["text"],
        "reasoning_details": [SIGNED, SEALED],
        "tool_calls": [call],
    }
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls"}
    answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    counted = {"usage": usage()["usage"], "choices": [choice]}
    return Answer(body=json.dumps({**answer, **counted}).encode())


@pytest.mark.parametrize("answered", [streamed, whole])
async def test_details_of_reasoning_go_back_unchanged(
    tmp_path: Path, answered: Callable[[], Answer]
) -> None:
    async with ModelServer() as server:
        server.decide = wants_details([[SIGNED, SEALED], [], [SIGNED, SEALED]])
        house = House(tmp_path, server, "")
        async with house.open() as conversation:
            server.add(answered())
            server.call_all([READ])  # without any reasoning
            server.say(DONE)
            assert (await conversation.ask("What is the answer?")).text == "It is 42."
            answers = [m for m in conversation.session.messages("root") if isinstance(m, Assistant)]
        assert (answers[0].thinking, answers[0].usage.output) == ("Where is it?", 7)
        assert len({call.id for m in answers for call in m.tool_calls}) == 2
        async with house.open(conversation.id) as conversation:
            server.add(answered())  # with the same id as before
            server.say(DONE)
            assert (await conversation.ask("Are you sure?")).text == "It is 42."
        assert len(server.requests) == 5
        assert all(prefixes(server))


async def test_details_of_another_model_do_not_go_back(tmp_path: Path) -> None:
    async with ModelServer() as server:
        house = House(tmp_path, server, "")
        async with house.open() as conversation:
            server.add(streamed())
            server.say(DONE)
            await conversation.ask("What is the answer?")
            conversation.pick_model("mine/other")
            server.say(DONE)
            assert (await conversation.ask("Are you sure?")).state == "completed"
        assert "reasoning_details" in str(server.requests[1].body)
        assert "reasoning_details" not in str(server.requests[2].body)
        assert "tool_0_read" not in str(server.requests[2].body)


async def test_details_with_a_signature_that_is_refused_are_left_out(tmp_path: Path) -> None:
    words = "messages.1.content.0: Invalid `signature` in `thinking` block"
    async with ModelServer() as server:

        def decide(asked: Asked) -> Answer | None:
            told = {"raw": json.dumps({"error": {"message": words}})}
            error = {"message": "Provider returned error", "code": 400, "metadata": told}
            body = json.dumps({"error": error}).encode()
            refused = "reasoning_details" in str(asked.body)
            return Answer(status=400, body=body) if refused else None

        server.decide = decide
        house = House(tmp_path, server, "")
        async with house.open() as conversation:
            server.add(streamed())
            server.say(DONE)
            assert (await conversation.ask("What is the answer?")).text == "It is 42."
        assert len(server.requests) == 3


async def test_what_the_provider_behind_a_router_said_is_shown(tmp_path: Path) -> None:
    async with ModelServer() as server:
        error = {"message": "Provider returned error", "metadata": {"raw": "No such region."}}
        body = json.dumps({"error": error}).encode()
        server.add(Answer(status=400, body=body))
        house = House(tmp_path, server, "")
        async with house.open() as conversation:
            ending = await conversation.ask("What is the answer?")
        assert "Provider returned error: No such region." in ending.error


async def test_reasoning_goes_back_after_a_summary(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.decide = wants_reasoning(DEEPSEEK)
        house = House(tmp_path, server, "reasoning_back = true")
        async with house.open() as conversation:
            for text in ("First.", "Second."):
                server.call_all([READ], text="<!!!SUMMARY!!!>").chunks.insert(0, thought(text))
                server.say("It was read.")
            server.say(DONE)
            assert (await conversation.ask("What is the answer?")).state == "completed"
        answers = [m for m in server.requests[-1].body["messages"] if m["role"] == "assistant"]
        assert [m["reasoning_content"] for m in answers] == ["Second."]


async def test_thinking_that_is_off_is_neither_asked_for_nor_sent_back(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.decide = wants_reasoning(DEEPSEEK)
        house = House(tmp_path, server, "thinking = false\nreasoning_back = true")
        async with house.open() as conversation:
            server.call_all([READ])
            server.say(DONE)
            assert (await conversation.ask("What is it?")).state == "completed"
        assert all(r.body["thinking"] == {"type": "disabled"} for r in server.requests)
        assert "reasoning_content" not in str(server.requests[-1].body)


async def test_what_a_model_is_sent_is_set_per_model(tmp_path: Path) -> None:
    settings = (
        'max_output = 500\nmax_completion_tokens = true\nreasoning_effort = "low"\n'
        'extra = { top_k = 20, provider = { sort = "price" } }\n'
        'headers = { X-Team = "compilers" }\nenv_headers = { X-Gateway-Token = "GATEWAY" }'
    )
    async with ModelServer() as server:
        house = House(tmp_path, server, settings)
        async with house.open() as conversation:
            server.say(DONE)
            assert (await conversation.ask("What is it?")).state == "completed"
        asked = server.requests[-1]
        logs = "".join(p.read_text() for p in house.home.rglob("calls/*.jsonl"))
    body = asked.body
    assert body["max_completion_tokens"] == 500 and "max_tokens" not in body
    assert (body["reasoning_effort"], body["top_k"]) == ("low", 20)
    assert body["provider"] == {"sort": "price"}
    assert asked.headers["x-team"] == "compilers"
    assert asked.headers["x-gateway-token"] == "gateway-secret-value-1"
    assert "compilers" in logs and "gateway-secret" not in logs


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ('headers = { Authorization = "Bearer abcdefgh" }', "env_headers"),
        ('headers = { X-Api-Key = "abc" }', "env_headers"),
        ('headers = { X-Note = "sk-0123456789abcdefgh" }', "env_headers"),
        ("extra = { messages = [] }", "messages cannot be set"),
        ('extra = { api_key = "abcdefghijk" }', "keys do not belong"),
        ('reasoning_effort = "very"', "one of none, minimal, low"),
        ('api = "completions"', "chat or responses"),
        ('thinking = "yes"', "true, false or a number of tokens"),
        ("window = true", "a whole number"),
        ('headers = { "X Y" = "a" }', "a table of names and texts"),
        ("effort = 1", "Unknown setting"),
    ],
)
async def test_settings_of_a_model_that_are_wrong_are_said(
    tmp_path: Path, setting: str, words: str
) -> None:
    (tmp_path / "config.toml").write_text(f'[models."p/m"]\n{setting}\n')
    assembly = build(home=tmp_path, environment={})
    assert any(words in str(problem) for problem in assembly.problems)
    assert "abcdefgh" not in str(assembly.problems)


async def test_a_variable_of_a_header_that_is_not_set_is_named(tmp_path: Path) -> None:
    async with ModelServer() as server:
        house = House(tmp_path, server, 'env_headers = { X-Gateway-Token = "NO_SUCH" }')
        async with house.open() as conversation:
            ending = await conversation.ask("What is it?")
    assert ending.state == "failed" and "NO_SUCH" in ending.error


async def test_a_refused_limit_is_sent_by_its_new_name(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.decide = refuses_max_tokens
        house = House(tmp_path, server, "max_output = 500")
        async with house.open() as conversation:
            server.call_all([READ])
            server.say(DONE)
            assert (await conversation.ask("What is it?")).state == "completed"
        sent = [r.body.get("max_completion_tokens") for r in server.requests]
    assert sent == [None, 500, 500]


@pytest.mark.parametrize("setting", ['api = "responses"', ""])
async def test_a_model_that_has_only_responses(tmp_path: Path, setting: str) -> None:
    async with ResponsesServer() as server:
        house = House(tmp_path, server, f'{setting}\nmax_output = 900\nreasoning_effort = "high"')
        async with house.open() as conversation:
            server.call(*READ, thinking="Where is it?", text="I look.")
            server.call(*READ, thinking="Again.")
            server.say(DONE, thinking="There.")
            assert (await conversation.ask("What is the answer?")).text == "It is 42."
            answers = [m for m in conversation.session.messages("root") if isinstance(m, Assistant)]
        assert [m.thinking for m in answers] == ["Where is it?", "Again.", "There."]
        assert answers[0].usage.cached == 64 and answers[0].usage.reasoning == 12
        async with house.open(conversation.id) as conversation:
            server.cut("It is ")
            server.say("42. !!!COMPLETE!!!")
            assert (await conversation.ask("Are you sure?")).text == "It is 42."
        last = [r for r in server.requests if "input" in r.body][-2].body
        kinds = [item.get("type") or item["role"] for item in last["input"]]
        assert [k for k in kinds if k not in ("system", "user")] == [
            *("reasoning", "assistant", "function_call", "function_call_output"),
            *("reasoning", "function_call", "function_call_output"),
            *("reasoning", "assistant"),
        ]
        assert last["reasoning"] == {"effort": "high"} and last["max_output_tokens"] == 900
        refused = [r for r in server.requests if r.path.endswith("/chat/completions")]
        assert len(refused) == (0 if setting else 2)  # once in each process
        assert all(prefixes(server, "input")[:2])


async def test_reasoning_that_cannot_be_read_any_more_is_left_out(tmp_path: Path) -> None:
    async with ResponsesServer() as server:
        house = House(tmp_path, server, 'api = "responses"')
        async with house.open() as conversation:
            server.call(*READ, thinking="Where is it?")
            server.say(DONE)
            await conversation.ask("What is the answer?")
            server.given.clear()  # as with the key of another organisation
            server.say(DONE)
            assert (await conversation.ask("Are you sure?")).state == "completed"
        assert "encrypted_content" not in str(server.requests[-1].body["input"])


async def test_an_answer_that_fails_in_the_middle_is_asked_for_again(tmp_path: Path) -> None:
    async with ResponsesServer() as server:
        house = House(tmp_path, server, 'api = "responses"')
        async with house.open() as conversation:
            server.fail("server_error", "oops")
            server.say(DONE)
            assert (await conversation.ask("What is the answer?")).text == "It is 42."
            server.fail("content_policy", "not that")
            ending = await conversation.ask("And now?")
            assert ending.state == "failed" and "not that" in ending.error


@pytest.mark.parametrize(
    ("name", "back", "limit", "api"),
    [
        ("deepseek/deepseek-chat", True, None, ""),
        ("moonshot/kimi-k2.5", True, None, ""),
        ("minimax-cn/MiniMax-M2", True, None, ""),
        ("zhipuai/glm-5", True, None, ""),
        ("openai/gpt-5", None, True, ""),
        ("openai/gpt-5.1-codex", None, True, "responses"),
        ("openai/o3-pro", None, True, "responses"),
        ("local/qwen3", None, None, ""),
    ],
)
def test_what_is_known_of_models_without_settings(
    name: str, back: bool | None, limit: bool | None, api: str
) -> None:
    providers = ("DEEPSEEK", "MOONSHOT", "MINIMAX", "ZHIPU", "OPENAI")
    environment = {f"{provider}_API_KEY": "k" for provider in providers}
    (candidate,) = read_models({}, environment).candidates(name, environment)
    model = candidate.model
    assert (model.reasoning_back, model.max_completion_tokens, model.api) == (back, limit, api)


def test_pictures_and_files_have_their_form_in_both_protocols() -> None:
    said = User("Look", (Image("image/png", "aGk="),), files=(FileRef("file-1", "a.md"),))
    (item,) = to_input([said], ModelInfo("m"))
    assert [part["type"] for part in item["content"]] == ["input_text", "input_image", "input_file"]
    assert item["content"][1]["image_url"] == "data:image/png;base64,aGk="

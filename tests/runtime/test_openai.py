"""The OpenAI-compatible platform against a real HTTP server that behaves in every way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from jarvis_ls.runtime.base import errors
from jarvis_ls.runtime.base.messages import (
    Assistant,
    Image,
    System,
    ToolCall,
    ToolResult,
    Usage,
    User,
)
from jarvis_ls.runtime.llm.platforms.base import (
    Delta,
    FinishDelta,
    ModelInfo,
    Request,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolSpec,
    UsageDelta,
)
from jarvis_ls.runtime.llm.platforms.openai import OpenAICompatible
from jarvis_ls.runtime.llm.platforms.streaming import Deadlines
from tests.support.agents import until
from tests.support.model_server import Answer, ModelServer, chunk, usage
from tests.support.patience import HANGS, PATIENT

MODEL = ModelInfo("scripted", input_price=1.0, output_price=2.0)
KEY = "sk-secret-canary"


@pytest_asyncio.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest_asyncio.fixture
async def platform(server: ModelServer) -> AsyncIterator[OpenAICompatible]:
    made = OpenAICompatible(server.url, KEY, deadlines=PATIENT)
    yield made
    await made.close()


async def ask(platform: OpenAICompatible, text: str = "hi", **request: object) -> list[Delta]:
    return [d async for d in platform.stream(MODEL, Request([User(text)], **request))]  # type: ignore[arg-type]


async def test_text_thinking_usage_and_finish(
    platform: OpenAICompatible, server: ModelServer
) -> None:
    server.say("Hello there", thinking="hm")
    found = await ask(platform)
    assert "".join(d.text for d in found if isinstance(d, TextDelta)) == "Hello there"
    assert [d.text for d in found if isinstance(d, ThinkingDelta)] == ["hm"]
    (counted,) = [d.usage for d in found if isinstance(d, UsageDelta)]
    assert counted == Usage(11, 7, 4, 2, cost=pytest.approx((11 + 2 * 7) / 1e6))
    assert found[-1] == FinishDelta("stop")


async def test_tool_calls_are_told_apart_by_index(
    platform: OpenAICompatible, server: ModelServer
) -> None:
    server.call_all([("read_code", {"path": "a.c"}), ("search", {"q": "free"})])
    found = await ask(platform, tools=[ToolSpec("read_code", "Read.", {"type": "object"})])
    pieces: dict[int, str] = {}
    names: dict[int, str] = {}
    for delta in found:
        if isinstance(delta, ToolCallDelta):
            pieces[delta.index] = pieces.get(delta.index, "") + delta.arguments
            names[delta.index] = names.get(delta.index, "") + delta.name
    assert names == {0: "read_code", 1: "search"}
    assert pieces == {0: '{"path": "a.c"}', 1: '{"q": "free"}'}
    assert found[-1] == FinishDelta("tool_calls")
    assert server.requests[0].body["tools"][0]["function"]["name"] == "read_code"


async def test_the_whole_conversation_is_sent(
    platform: OpenAICompatible, server: ModelServer
) -> None:
    server.say("ok")
    conversation = [
        System("rules"),
        User("see", images=(Image("image/png", "AAAA"),)),
        Assistant("", tool_calls=(ToolCall("1", "t", {"a": 1}), ToolCall("2", "t", {}, "{bro"))),
        ToolResult("1", "t", "fine"),
        ToolResult("2", "t", "no JSON", is_error=True),
    ]
    async for _ in platform.stream(MODEL, Request(conversation)):
        pass
    sent = server.requests[0].body["messages"]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "tool", "tool"]
    assert sent[1]["content"][1]["image_url"]["url"] == "data:image/png;base64,AAAA"
    assert sent[2]["tool_calls"][1]["function"]["arguments"] == '{"_raw": "{bro"}'


async def test_nothing_about_this_machine_is_sent(
    platform: OpenAICompatible, server: ModelServer
) -> None:
    server.say("ok")
    await ask(platform)
    headers = server.requests[0].headers
    assert not [name for name in headers if name.startswith("x-stainless")]


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "bad schema", errors.ModelRefused),
        (401, "bad key", errors.ModelRefused),
        (403, "no right", errors.ModelRefused),
        (404, "no model", errors.ModelRefused),
        (400, "maximum context length is 10 tokens", errors.ContextTooLong),
        (413, "prompt is too long", errors.ContextTooLong),
        (413, "request entity too large", errors.ContextTooLong),
        (429, "slow down", errors.ModelBusy),
        (500, "boom", errors.ModelBusy),
        (529, "overloaded", errors.ModelBusy),
    ],
)
async def test_refusals_say_what_to_do(
    platform: OpenAICompatible,
    server: ModelServer,
    status: int,
    message: str,
    kind: type[errors.ModelError],
) -> None:
    server.refuse(status, {"retry-after": "7"}, message)
    with pytest.raises(kind) as raised:
        await ask(platform)
    assert type(raised.value) is kind
    assert message in str(raised.value) and KEY not in str(raised.value)
    if isinstance(raised.value, errors.ModelBusy):
        assert raised.value.retry_after == 7
    assert len(server.requests) == 1, "trying again is for the model group to decide"


PARTIAL = [chunk({"content": "par"}), chunk({"content": "tial"}), chunk({}, "stop"), usage()]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(PARTIAL, cut_after=1), errors.ModelUnreachable),
        (Answer([PARTIAL[0], b"data: {not json\n\n"]), errors.AnswerBroken),
        (Answer([PARTIAL[0], b'data: "text"\n\n']), errors.AnswerBroken),
        (Answer([b"data: \xff\xfe\n\n"]), errors.AnswerBroken),
        (Answer([chunk({"content": {"a": 1}})]), errors.AnswerBroken),
        (
            Answer([chunk({"tool_calls": [{"index": 0, "id": "c", "function": {"name": ["x"]}}]})]),
            errors.AnswerBroken,
        ),
        (
            Answer(
                [
                    chunk(
                        {
                            "tool_calls": [
                                {"index": 0, "id": "c", "function": {"name": "x", "arguments": [1]}}
                            ]
                        }
                    )
                ]
            ),
            errors.AnswerBroken,
        ),
        (Answer([b'data: {"error": {"message": "overloaded"}}\n\n']), errors.ModelBusy),
        (
            Answer([b'data: {"error": {"message": "prompt is too long"}}\n\n']),
            errors.ContextTooLong,
        ),
    ],
    ids=[
        "cut",
        "broken-json",
        "not-an-object",
        "not-utf8",
        "text-no-text",
        "name-no-text",
        "arguments-no-text",
        "error-event",
        "too-long-event",
    ],
)
async def test_faults_in_the_middle(
    platform: OpenAICompatible, server: ModelServer, answer: Answer, kind: type[errors.ModelError]
) -> None:
    server.add(answer)
    with pytest.raises(kind):
        await ask(platform)


@pytest.mark.parametrize(
    ("answer", "deadlines"),
    [
        (Answer(PARTIAL, stall_after=1), replace(PATIENT, idle=1)),
        (Answer(PARTIAL, silent=600), replace(PATIENT, first=1)),
        (Answer([chunk({"content": "x"})] * 12_000, delay=0.05), replace(PATIENT, total=2)),
    ],
    ids=["stall", "silent", "drip"],
)
async def test_who_says_nothing_more_is_given_up(
    server: ModelServer, answer: Answer, deadlines: Deadlines
) -> None:
    short = OpenAICompatible(server.url, KEY, deadlines=deadlines)
    server.add(answer)
    with pytest.raises(errors.ModelUnreachable):
        await asyncio.wait_for(ask(short), HANGS)
    await short.close()


@pytest.mark.parametrize(
    ("chunks", "done"),
    [([PARTIAL[0]], True), ([PARTIAL[0]], False), ([], True)],
    ids=["no-finish", "no-done", "empty"],
)
async def test_an_end_without_a_reason_is_called_truncated(
    platform: OpenAICompatible, server: ModelServer, chunks: list[dict[str, object]], done: bool
) -> None:
    server.add(Answer(list(chunks), done=done))
    assert (await ask(platform))[-1] == FinishDelta("truncated")


async def test_odd_but_harmless_events_are_taken(
    platform: OpenAICompatible, server: ModelServer
) -> None:
    odd = {**chunk({}), "choices": None}
    server.add(Answer([b": keep-alive\n\n", odd, chunk({"content": "a"}), chunk({}, "odd")]))
    assert await ask(platform) == [TextDelta("a"), FinishDelta("stop")]


async def test_shapes_of_other_servers_are_taken(
    platform: OpenAICompatible, server: ModelServer
) -> None:
    """Text in parts, arguments as an object, counts that are none."""
    parts = [{"type": "text", "text": "par"}, {"type": "text", "text": "tial"}]
    call = {"index": 0, "id": "c", "function": {"name": "look", "arguments": {"a": 1}}}
    counted = {**usage(), "usage": {"prompt_tokens": "11", "completion_tokens": None}}
    pieces = [chunk({"content": parts}), chunk({"tool_calls": [call]}), chunk({}, "tool_calls")]
    server.add(Answer([*pieces, counted]))
    deltas = await ask(platform)
    assert TextDelta("partial") in deltas and UsageDelta(Usage()) in deltas
    assert ToolCallDelta(0, "c", "look", '{"a": 1}') in deltas


async def test_an_endless_answer_is_given_up(server: ModelServer) -> None:
    small = OpenAICompatible(server.url, KEY, longest=1000)
    server.add(Answer([chunk({"content": "x" * 400})] * 10))
    with pytest.raises(errors.AnswerBroken, match="longer than 1000"):
        await ask(small)
    await small.close()


async def test_cancelling_hangs_up(platform: OpenAICompatible, server: ModelServer) -> None:
    server.add(Answer([chunk({"content": "x"})] * 60_000, delay=0.01))
    task = asyncio.create_task(ask(platform))
    await until(lambda: server.requests)
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: server.dropped)  # the answer goes on for ten minutes
    assert server.dropped == 1


async def test_no_server_at_all() -> None:
    nobody = OpenAICompatible("http://127.0.0.1:9/v1", KEY, deadlines=PATIENT)
    with pytest.raises(errors.ModelUnreachable, match="could not be reached"):
        await ask(nobody)
    with pytest.raises(errors.ModelUnreachable):
        await nobody.models()
    await nobody.close()


async def test_models_are_listed(platform: OpenAICompatible, server: ModelServer) -> None:
    server.models = ["b", "a"]
    assert await platform.models() == ["a", "b"]

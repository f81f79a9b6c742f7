"""Anthropic's protocol over real HTTP: what is sent, what is understood, every fault."""

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
    Message,
    System,
    ToolCall,
    ToolResult,
    Usage,
    User,
)
from jarvis_ls.runtime.llm.model_group import ModelGroup, Patience
from jarvis_ls.runtime.llm.platforms.anthropic import Anthropic
from jarvis_ls.runtime.llm.platforms.anthropic_turns import to_anthropic
from jarvis_ls.runtime.llm.platforms.base import (
    Delta,
    FinishDelta,
    ModelInfo,
    Request,
    TextDelta,
    ThinkingDelta,
    ToolSpec,
    UsageDelta,
)
from jarvis_ls.runtime.llm.platforms.streaming import Deadlines
from jarvis_ls.runtime.llm.providers import Candidate, Provider, read_models
from tests.support.agents import until
from tests.support.anthropic_server import (
    AnthropicServer,
    content,
    end,
    event,
    said,
    start,
    whole,
)
from tests.support.model_server import Answer
from tests.support.patience import HANGS, PATIENT

KEY = "sk-ant-canary-0123456789"
MODEL = ModelInfo("scripted", input_price=1, output_price=2, cached_price=0.5)
CACHED = {"type": "ephemeral"}
THINK = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


@pytest_asyncio.fixture
async def server() -> AsyncIterator[AnthropicServer]:
    async with AnthropicServer() as running:
        yield running


@pytest_asyncio.fixture
async def platform(server: AnthropicServer) -> AsyncIterator[Anthropic]:
    made = Anthropic(server.url, KEY, deadlines=PATIENT)
    yield made
    await made.close()


async def ask(platform: Anthropic, *messages: Message, **request: object) -> list[Delta]:
    asked = Request(list(messages) or [User("hi")], **request)  # type: ignore[arg-type]
    return [d async for d in platform.stream(MODEL, asked)]


async def answer(platform: Anthropic, *messages: Message, **request: object) -> Assistant:
    candidate = Candidate(Provider("p", "anthropic"), MODEL, KEY)
    group = ModelGroup([candidate], lambda _: platform, patience=Patience(attempts=1))
    return await group.ask(Request(list(messages) or [User("hi")], **request))  # type: ignore[arg-type]


async def test_text_thinking_usage_and_finish(platform: Anthropic, server: AnthropicServer) -> None:
    server.say("Hello there", thinking="hm")
    found = await ask(platform)
    assert "".join(d.text for d in found if isinstance(d, TextDelta)) == "Hello there"
    assert [d.text for d in found if isinstance(d, ThinkingDelta)] == ["hm"]
    last = [d.usage for d in found if isinstance(d, UsageDelta)][-1]
    cost = (11 + 3) * 1 + 4 * 0.5 + 7 * 2
    assert last == Usage(11 + 4 + 3, 7, 4, 0, cost=pytest.approx(cost / 1e6))
    assert found[-1] == FinishDelta("stop")


async def test_tool_calls_are_put_together(platform: Anthropic, server: AnthropicServer) -> None:
    server.call_all([("read_code", {"path": "a.c"}), ("now", "")], text="Looking.")
    found = await answer(platform, tools=[ToolSpec("read_code", "Read.", {"type": "object"})])
    assert found.text == "Looking."
    assert [(c.name, c.arguments, c.raw) for c in found.tool_calls] == [
        ("read_code", {"path": "a.c"}, None),
        ("now", {}, None),
    ]
    assert found.finish == "tool_calls"
    assert server.requests[0].body["tools"] == [
        {"name": "read_code", "description": "Read.", "input_schema": {"type": "object"}}
    ]


async def test_what_is_sent(platform: Anthropic, server: AnthropicServer) -> None:
    server.say("ok")
    await ask(
        platform,
        System("rules"),
        User("hi"),
        max_output=100,
        temperature=0.5,
        extra={"top_k": 3},
    )
    asked = server.requests[0]
    assert asked.path == "/v1/messages"
    assert asked.body == {
        "model": "scripted",
        "max_tokens": 100,
        "stream": True,
        "system": [{"type": "text", "text": "rules", "cache_control": CACHED}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": CACHED}]}
        ],
        "temperature": 0.5,
        "top_k": 3,
    }
    assert not [name for name in asked.headers if name.startswith("x-stainless")]
    assert KEY in {asked.headers.get("x-api-key"), asked.headers.get("authorization", "")[7:]}


async def test_thinking_can_be_asked_for_in_settings(server: AnthropicServer) -> None:
    settings = {
        "model_providers": {"p": {"type": "anthropic", "base": server.url, "needs_key": False}},
        "models": {"p/m": {"thinking": 2000, "max_output": 500}},
    }
    (way,) = read_models(settings, {}).candidates("p/m", {})
    platform = Anthropic(server.url, KEY)
    server.say("ok", thinking="hm")
    request = Request([User("hi")], temperature=0.2)
    assert [d async for d in platform.stream(way.model, request)][-1] == FinishDelta("stop")
    body = server.requests[0].body
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert body["max_tokens"] == 2500
    assert "temperature" not in body
    await platform.close()


def test_turns_alternate_results_come_first_and_nothing_is_empty() -> None:
    found = to_anthropic(
        [
            System("a"),
            System(" "),
            System("b"),
            Assistant("It began with me."),
            User("one"),
            User(""),
            User("see", (Image("image/png", "AAAA"),)),
            Assistant(
                "",
                tool_calls=(
                    ToolCall("functions.t:0", "t", {"a": 1}),
                    ToolCall("2", "t", {}, "{bro"),
                ),
            ),
            User("said while it worked"),
            ToolResult("functions.t:0", "t", ""),
            ToolResult("2", "t", "no JSON", is_error=True),
            Assistant(" "),
            User("more"),
        ]
    )
    assert found.system == "a\n\nb"
    assert [turn["role"] for turn in found.messages] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    begin, began, question, calls, results = (turn["content"] for turn in found.messages)
    assert begin[0]["text"] and began[0]["text"] == "It began with me."
    assert [block["type"] for block in question] == ["text", "image", "text"]
    assert question[1]["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert [(b["type"], b["id"], b["input"]) for b in calls] == [
        ("tool_use", "functions_t_0", {"a": 1}),
        ("tool_use", "2", {"_raw": "{bro"}),
    ]
    assert results[:2] == [
        {"type": "tool_result", "tool_use_id": "functions_t_0"},
        {"type": "tool_result", "tool_use_id": "2", "content": "no JSON", "is_error": True},
    ]
    assert [b["text"] for b in results[2:]] == ["said while it worked", "more"]
    assert results[-1]["cache_control"] == CACHED


def test_a_conversation_of_nothing_is_still_a_conversation() -> None:
    assert to_anthropic([]).messages[0]["role"] == "user"
    assert to_anthropic([User(" ")]).messages[0]["content"][0]["text"]


async def test_signed_thinking_goes_back_with_its_calls(
    platform: Anthropic, server: AnthropicServer
) -> None:
    server.call_all([("t", {"a": 1})], thinking="I must look")
    server.say("done")
    question = User("hi")
    called = await answer(platform, question, extra=THINK)
    called = replace(called, tool_calls=(replace(called.tool_calls[0], id="given anew"),))
    result = ToolResult("given anew", "t", "found")
    await ask(platform, question, called, result, extra=THINK)
    body = server.requests[1].body
    assert body["thinking"] == THINK["thinking"]
    assert body["messages"][1]["content"][0] == {
        "type": "thinking",
        "thinking": "I must look",
        "signature": "signed I must look",
    }


async def test_thinking_that_nobody_may_read_goes_back_too(
    platform: Anthropic, server: AnthropicServer
) -> None:
    hidden = {"type": "redacted_thinking", "data": "xyz"}
    tool = {"type": "tool_use", "id": "toolu_1", "name": "t", "input": {"a": 1}}
    blocks = [content(0, hidden, []), said(1, "I look."), content(2, tool, [])]
    server.add(Answer(whole(*blocks, reason="tool_use")))
    server.say("done")
    called = await answer(platform, extra=THINK)
    assert called.tool_calls[0].arguments == {"a": 1}
    await ask(platform, User("hi"), called, ToolResult("toolu_1", "t", "found"), extra=THINK)
    assert server.requests[1].body["messages"][1]["content"][0] == hidden


async def test_lost_thinking_is_done_without_for_the_turn_that_goes_on(
    platform: Anthropic, server: AnthropicServer
) -> None:
    for _ in range(2):
        server.say("done")
    resumed: list[Message] = [
        User("hi"),
        Assistant("", "lost", (ToolCall("c", "t", {}),)),
        ToolResult("c", "t", "found"),
    ]
    await ask(platform, *resumed, extra=THINK)
    assert "thinking" not in server.requests[0].body
    await ask(platform, *resumed, Assistant("done"), User("next"), extra=THINK)
    assert server.requests[1].body["thinking"] == THINK["thinking"]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("refusal", "filtered"),
        ("model_context_window_exceeded", "length"),
        ("something new", "stop"),
        (None, "truncated"),
    ],
)
async def test_reasons_to_end(
    platform: Anthropic, server: AnthropicServer, reason: str | None, finish: str
) -> None:
    server.add(Answer(whole(said(0, "text"), reason=reason)))
    assert (await ask(platform))[-1] == FinishDelta(finish)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (400, "invalid_request_error", "bad schema", errors.ModelRefused),
        (401, "authentication_error", "bad key", errors.ModelRefused),
        (402, "billing_error", "no credit", errors.ModelRefused),
        (403, "permission_error", "no right", errors.ModelRefused),
        (404, "not_found_error", "no model", errors.ModelRefused),
        (400, "invalid_request_error", "prompt is too long: 9 tokens", errors.ContextTooLong),
        (413, "request_too_large", "prompt is too long", errors.ContextTooLong),
        (429, "rate_limit_error", "slow down", errors.ModelBusy),
        (500, "api_error", "boom", errors.ModelBusy),
        (504, "timeout_error", "late", errors.ModelBusy),
        (529, "overloaded_error", "overloaded", errors.ModelBusy),
    ],
)
async def test_refusals_say_what_to_do(
    platform: Anthropic,
    server: AnthropicServer,
    status: int,
    code: str,
    message: str,
    kind: type[errors.ModelError],
) -> None:
    server.refuse(status, {"retry-after": "7"}, message, code)
    with pytest.raises(kind) as raised:
        await ask(platform)
    assert type(raised.value) is kind
    assert message in str(raised.value) and KEY not in str(raised.value)
    if isinstance(raised.value, errors.ModelBusy):
        assert raised.value.retry_after == 7
    assert len(server.requests) == 1, "trying again is for the model group to decide"


def failing(kind: str, message: str) -> bytes:
    return event("error", error={"type": kind, "message": message})


PARTIAL = whole(said(0, "partial"))


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (Answer(PARTIAL, cut_after=4), errors.ModelUnreachable),
        (Answer([start(), b"event: message_delta\ndata: {not json\n\n"]), errors.AnswerBroken),
        (Answer([start(), b'event: message_delta\ndata: "text"\n\n']), errors.AnswerBroken),
        (Answer([b"event: message_start\ndata: \xff\xfe\n\n"]), errors.AnswerBroken),
        (
            Answer(
                [
                    start(),
                    event(
                        "content_block_delta",
                        index=5,
                        delta={"type": "thinking_delta", "thinking": "x"},
                    ),
                ]
            ),
            errors.AnswerBroken,
        ),
        (Answer([start(), failing("overloaded_error", "overloaded")]), errors.ModelBusy),
        (Answer([start(), failing("api_error", "boom")]), errors.ModelBusy),
        (Answer([start(), b"event: error\ndata: nonsense\n\n"]), errors.ModelBusy),
        (Answer([start(), failing("invalid_request_error", "no")]), errors.ModelRefused),
        (
            Answer([start(), failing("invalid_request_error", "prompt is too long")]),
            errors.ContextTooLong,
        ),
    ],
    ids=[
        "cut",
        "broken-json",
        "not-an-object",
        "not-utf8",
        "unknown-block",
        "overloaded-event",
        "api-error-event",
        "unreadable-error",
        "refused-event",
        "too-long-event",
    ],
)
async def test_faults_in_the_middle(
    platform: Anthropic, server: AnthropicServer, given: Answer, kind: type[errors.ModelError]
) -> None:
    server.add(given)
    with pytest.raises(errors.ModelError) as raised:
        await ask(platform)
    assert type(raised.value) is kind


@pytest.mark.parametrize(
    ("given", "deadlines"),
    [
        (Answer(PARTIAL, stall_after=4), replace(PATIENT, idle=1)),
        (Answer(PARTIAL, silent=600), replace(PATIENT, first=1)),
    ],
    ids=["stall", "silent"],
)
async def test_who_says_nothing_more_is_given_up(
    server: AnthropicServer, given: Answer, deadlines: Deadlines
) -> None:
    short = Anthropic(server.url, KEY, deadlines=deadlines)
    server.add(given)
    with pytest.raises(errors.ModelUnreachable):
        await asyncio.wait_for(ask(short), HANGS)
    await short.close()


async def test_an_end_without_a_reason_is_called_truncated(
    platform: Anthropic, server: AnthropicServer
) -> None:
    server.add(Answer([start(), *said(0, "half")]))
    assert (await ask(platform))[-1] == FinishDelta("truncated")
    server.add(Answer([]))
    assert (await ask(platform))[-1] == FinishDelta("truncated")


async def test_blocks_and_events_that_are_new_do_no_harm(
    platform: Anthropic, server: AnthropicServer
) -> None:
    odd = [
        event("content_block_start", index=0, content_block={"type": "new", "x": 1}),
        event("content_block_delta", index=0, delta={"type": "new_delta", "x": 1}),
        event("new_event", x=1),
        *content(1, {"type": "redacted_thinking", "data": "xyz"}, []),
    ]
    server.add(Answer([b": keep-alive\n\n", start(), *odd, *said(2, "a"), *end()]))
    found = [d for d in await ask(platform) if not isinstance(d, UsageDelta)]
    assert found == [TextDelta("a"), FinishDelta("stop")]


async def test_what_was_counted_before_a_cut_is_known(
    platform: Anthropic, server: AnthropicServer
) -> None:
    server.add(Answer(PARTIAL, cut_after=4))
    counted = Usage()
    with pytest.raises(errors.ModelUnreachable):
        async for delta in platform.stream(MODEL, Request([User("hi")])):
            if isinstance(delta, UsageDelta):
                counted = delta.usage
    assert (counted.input, counted.output) == (18, 1)


async def test_an_endless_answer_is_given_up(server: AnthropicServer) -> None:
    small = Anthropic(server.url, KEY, longest=1000)
    server.add(Answer([start(), *said(0, "x" * 5000, 20), *end()]))
    with pytest.raises(errors.AnswerBroken, match="longer than 1000"):
        await ask(small)
    await small.close()


async def test_cancelling_hangs_up(platform: Anthropic, server: AnthropicServer) -> None:
    server.add(Answer([start(), *said(0, "x" * 60_000, 60_000)], delay=0.01))
    task = asyncio.create_task(ask(platform))
    await until(lambda: server.requests)
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: server.dropped)  # the answer goes on for ten minutes
    assert server.dropped == 1


async def test_no_server_at_all() -> None:
    nobody = Anthropic("http://127.0.0.1:9", KEY, deadlines=PATIENT)
    with pytest.raises(errors.ModelUnreachable, match="could not be reached"):
        await ask(nobody)
    with pytest.raises(errors.ModelUnreachable):
        await nobody.models()
    await nobody.close()


async def test_models_are_listed(platform: Anthropic, server: AnthropicServer) -> None:
    server.models = ["b", "a"]
    assert await platform.models() == ["b", "a"], "as they come: the newest first"

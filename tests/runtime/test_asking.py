"""A group of models keeps asking until one has answered, over real HTTP."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.runtime.base import errors
from jarvis_ls.runtime.base.messages import Usage, User
from jarvis_ls.runtime.llm.model_group import (
    Again,
    Begun,
    CallGuard,
    ModelGroup,
    Patience,
    Progress,
    Waiting,
)
from jarvis_ls.runtime.llm.platforms.base import ModelInfo, Request, TextDelta
from jarvis_ls.runtime.llm.platforms.openai import OpenAICompatible
from jarvis_ls.runtime.llm.platforms.streaming import Deadlines
from jarvis_ls.runtime.llm.providers import Candidate, Provider, read_models
from tests.support.agents import until
from tests.support.model_server import Answer, ModelServer, chunk, usage
from tests.support.patience import HANGS, PATIENT

QUESTION = Request([User("hi")])
QUICK = Patience(first_wait=0.05, longest_wait=1.0)


@contextlib.asynccontextmanager
async def group_of(
    servers: int = 1,
    keys: int = 1,
    patience: Patience = QUICK,
    deadlines: Deadlines = PATIENT,
) -> AsyncIterator[tuple[ModelGroup, list[ModelServer]]]:
    async with contextlib.AsyncExitStack() as stack:
        running = [await stack.enter_async_context(ModelServer()) for _ in range(servers)]
        candidates = [
            Candidate(Provider(f"p{s}", base=server.url), ModelInfo(f"m{s}"), f"key{k}")
            for k in range(keys)
            for s, server in enumerate(running)
        ]
        platforms: dict[Candidate, OpenAICompatible] = {}
        for candidate in candidates:
            platforms[candidate] = OpenAICompatible(
                candidate.provider.base, candidate.key, deadlines=deadlines
            )
            stack.push_async_callback(platforms[candidate].close)
        yield ModelGroup(candidates, platforms.__getitem__, patience=patience), running


class Watcher:
    def __init__(self) -> None:
        self.seen: list[Progress] = []

    async def __call__(self, progress: Progress) -> None:
        self.seen.append(progress)

    def of(self, kind: type[Any]) -> list[Any]:
        return [p for p in self.seen if isinstance(p, kind)]


async def test_an_answer_is_put_together() -> None:
    async with group_of() as (group, (server,)):
        server.call_all([("a", {"x": 1}), ("b", {"y": [2]})], text="Looking.")
        answer = await group.ask(QUESTION)
    assert (answer.text, answer.finish, answer.model) == ("Looking.", "tool_calls", "p0/m0")
    assert [(c.name, c.arguments, c.raw) for c in answer.tool_calls] == [
        ("a", {"x": 1}, None),
        ("b", {"y": [2]}, None),
    ]
    assert (answer.usage.input, answer.usage.output) == (11, 7)


async def test_models_take_turns() -> None:
    async with group_of(servers=2) as (group, servers):
        for server in servers:
            server.say("one")
            server.say("two")
        models = [(await group.ask(QUESTION)).model for _ in range(4)]
    assert models == ["p0/m0", "p1/m1", "p0/m0", "p1/m1"]


async def test_a_busy_model_rests_while_another_answers() -> None:
    async with group_of(servers=2) as (group, (busy, free)):
        busy.refuse(429, {"retry-after": "600"})
        free.say("first")
        free.say("second")
        assert (await group.ask(QUESTION)).text == "first"
        assert (await group.ask(QUESTION)).text == "second"
        assert len(busy.requests) == 1


async def test_a_second_key_helps() -> None:
    async with group_of(keys=2) as (group, (server,)):
        server.refuse(401, message="key0 is bad")
        server.say("ok")
        assert (await group.ask(QUESTION)).text == "ok"
        assert [r.headers["authorization"] for r in server.requests] == [
            "Bearer key0",
            "Bearer key1",
        ]


async def test_waiting_is_told_and_ends() -> None:
    watcher = Watcher()
    async with group_of() as (group, (server,)):
        server.refuse(503, message="overloaded")
        server.refuse(429, {"retry-after": "0.1"}, "slow down")
        server.say("finally")
        assert (await group.ask(QUESTION, watcher)).text == "finally"
    assert [b.attempt for b in watcher.of(Begun)] == [1, 2, 3]
    assert "slow down" in watcher.of(Waiting)[1].reason


async def test_an_attempt_that_failed_is_told_when_the_next_follows_at_once() -> None:
    watcher = Watcher()
    async with group_of(servers=2) as (group, (bad, good)):
        bad.refuse(401, message="no such key")
        good.say("Half of it", cut_after=1)
        good.add(Answer([b"data: {half\n\n"]))
        good.say("whole")
        bad.say("never")
        group = ModelGroup(group._candidates, group._platform_of, patience=Patience(first_wait=0))
        assert (await group.ask(QUESTION, watcher)).text == "whole"
    assert not watcher.of(Waiting)
    told = [(again.label, again.reason) for again in watcher.of(Again)]
    assert [label for label, _ in told] == ["p1/m1", "", ""]
    assert "no such key" in told[0][1] and all(reason for _, reason in told)


async def test_nobody_waits_for_an_hour() -> None:
    async with group_of() as (group, (server,)):
        server.refuse(429, {"retry-after": "3600"})
        with pytest.raises(errors.ModelBusy, match="wait 60 min"):
            await asyncio.wait_for(group.ask(QUESTION), HANGS)
        server.say("sooner")  # who asks again means it
        assert (await asyncio.wait_for(group.ask(QUESTION), HANGS)).text == "sooner"


async def test_who_must_wait_for_what_another_met_is_told_why() -> None:
    watcher = Watcher()
    async with group_of(patience=Patience(attempts=1, first_wait=0.2)) as (group, (server,)):
        server.refuse(503, message="too many of you")
        with pytest.raises(errors.ModelBusy):
            await group.ask(QUESTION)
        server.say("now")
        assert (await group.ask(QUESTION, watcher)).text == "now"
    assert "too many of you" in watcher.of(Waiting)[0].reason


@pytest.mark.parametrize(
    "fault",
    [
        Answer([chunk({"content": "half"}), chunk({}, "stop")], cut_after=1),
        Answer([chunk({"content": "half"})]),
        Answer([chunk({"content": "half"}), b"data: {\n\n"]),
        Answer([chunk({}, "stop")]),
        Answer([chunk({"tool_calls": [{"index": 0, "id": "1", "function": {"name": "t"}}]})]),
    ],
    ids=["cut", "no-finish", "broken-json", "empty", "half-a-call"],
)
async def test_a_broken_answer_is_asked_again(fault: Answer) -> None:
    watcher = Watcher()
    async with group_of() as (group, (server,)):
        server.add(fault)
        server.say("whole")
        assert (await group.ask(QUESTION, watcher)).text == "whole"
    last = max(i for i, p in enumerate(watcher.seen) if isinstance(p, Begun))
    assert "".join(p.text for p in watcher.seen[last:] if isinstance(p, TextDelta)) == "whole"


async def test_an_answer_that_stalls_is_asked_for_again() -> None:
    short = replace(PATIENT, idle=1.5)
    async with group_of(deadlines=short) as (group, (server,)):
        server.add(Answer([chunk({"content": "half"}), chunk({}, "stop")], stall_after=1))
        for _ in range(3):  # the second may meet a machine that stands still
            server.say("whole")
        assert (await group.ask(QUESTION)).text == "whole"
        assert len(server.requests) > 1


async def test_broken_answers_are_not_asked_for_ever() -> None:
    async with group_of() as (group, (server,)):
        for _ in range(9):
            server.add(Answer([chunk({"content": "half"})]))
        with pytest.raises(errors.AnswerBroken):
            await group.ask(QUESTION)
        assert len(server.requests) == QUICK.broken


async def test_tokens_of_lost_attempts_count() -> None:
    async with group_of() as (group, (server,)):
        server.add(Answer([chunk({"content": "half"}), usage(prompt=100, answer=50)]))
        server.say("whole")
        answer = await group.ask(QUESTION)
    assert (answer.usage.input, answer.usage.output) == (111, 57)


async def test_what_cannot_be_helped_is_raised_at_once() -> None:
    async with group_of() as (group, (server,)):
        server.refuse(400, message="maximum context length")
        with pytest.raises(errors.ContextTooLong):
            await group.ask(QUESTION)
        server.refuse(401, message="bad key")
        with pytest.raises(errors.ModelRefused, match="bad key"):
            await group.ask(QUESTION)
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (401, "", "Set a valid key in A_KEY or B_KEY."),
        (402, "", "Add credit at shop, or choose another model."),
        (429, "insufficient_quota", "Add credit at shop, or choose another model."),
        (400, "", "The model refused the request (HTTP 400): not with key [redacted]"),
        (404, "", "Check the model name and the base of shop in"),
    ],
)
async def test_a_refusal_says_which_model_and_what_to_do(status: int, code: str, said: str) -> None:
    async with ModelServer() as server:
        key = "secret-of-the-shop"
        provider = Provider("shop", base=server.url, env_keys=("A_KEY", "B_KEY"))
        platform = OpenAICompatible(server.url, key)
        group = ModelGroup([Candidate(provider, ModelInfo("m"), key)], lambda _: platform)
        server.refuse(status, message=f"not with key {key}", code=code)
        with pytest.raises(errors.ModelRefused) as raised:
            await group.ask(QUESTION)
        text = str(raised.value)
        assert text.startswith("shop/m: ") and said in text
        assert key not in text and "Error code" not in text
        assert len(server.requests) == 1
        await platform.close()


async def test_who_is_not_reached_is_named_with_the_address() -> None:
    async with ModelServer() as server:
        gone = server.url
    platform = OpenAICompatible(gone, "none")
    candidate = Candidate(Provider("here", base=gone), ModelInfo("m"), "none")
    group = ModelGroup([candidate], lambda _: platform, patience=Patience(2, first_wait=0.01))
    with pytest.raises(errors.ModelUnreachable, match=f"here/m: .*answers at {gone} on"):
        await group.ask(QUESTION)
    await platform.close()


async def test_a_server_of_this_machine_that_is_not_there_is_told_at_once() -> None:
    """Three tries within about a second; what to do is said in the first line, once."""
    async with ModelServer() as server:
        gone = server.url
    platform = OpenAICompatible(gone, "none")
    candidate = Candidate(Provider("here", base=gone), ModelInfo("m"), "none")
    group = ModelGroup([candidate], lambda _: platform)
    seen: list[Any] = []

    async def watch(progress: Any) -> None:
        seen.append(progress)

    with pytest.raises(errors.ModelUnreachable, match="start the model server"):
        await group.ask(QUESTION, watch)
    await platform.close()
    waits = [one for one in seen if isinstance(one, Waiting)]
    assert [isinstance(one, Begun) for one in seen].count(True) == 3
    assert all(one.seconds <= 0.5 for one in waits)
    assert ["start the model server" in one.reason for one in waits] == [True, False]
    assert all("here/m: The model could not be reached" in one.reason for one in waits)


async def test_who_is_away_elsewhere_is_waited_for() -> None:
    """A refused connection is final soon only on this machine: elsewhere a proxy restarts."""
    async with ModelServer() as server:
        gone = server.url
    platform = OpenAICompatible(gone, "none")
    provider = Provider("far", base="https://models.example/v1")
    group = ModelGroup(
        [Candidate(provider, ModelInfo("m"), "none")],
        lambda _: platform,
        patience=Patience(5, first_wait=0.01),
    )
    begun: list[Any] = []

    async def watch(progress: Any) -> None:
        begun.extend([progress] if isinstance(progress, Begun) else [])

    with pytest.raises(errors.ModelUnreachable, match=r"that https://models\.example/v1 is"):
        await group.ask(QUESTION, watch)
    await platform.close()
    assert len(begun) == 5


async def test_arguments_that_are_no_object_are_kept_raw() -> None:
    async with group_of() as (group, (server,)):
        server.call("t", '{"a": ')
        server.call("t", "[1]")
        server.call("t", "")
        server.call("t", "[" * 5_000)
        calls = [(await group.ask(QUESTION)).tool_calls[0] for _ in range(4)]
    assert [(c.arguments, (c.raw or "")[:6]) for c in calls] == [
        ({}, '{"a": '),
        ({}, "[1]"),
        ({}, ""),
        ({}, "[[[[[["),
    ]


async def test_calls_that_share_an_index_are_told_apart_by_id() -> None:
    def piece(id: str, arguments: str) -> dict[str, Any]:
        call = {"index": 0, "id": id, "function": {"name": "t", "arguments": arguments}}
        return chunk({"tool_calls": [call]})

    more = chunk({"tool_calls": [{"index": 1, "function": {"arguments": "2}"}}]})
    async with group_of() as (group, (server,)):
        server.add(
            Answer([piece("one", '{"a":1}'), piece("two", '{"a":'), more, chunk({}, "tool_calls")])
        )
        answer = await group.ask(QUESTION)
    assert [(c.id, c.arguments) for c in answer.tool_calls] == [
        ("one", {"a": 1}),
        ("two", {"a": 2}),
    ]


async def test_stopping_is_immediate_while_waiting() -> None:
    watcher, hours = Watcher(), Patience(first_wait=3600, longest_wait=7200)
    async with group_of(patience=hours) as (group, (server,)):
        server.refuse(500)
        task = asyncio.create_task(group.ask(QUESTION, watcher))
        await until(lambda: watcher.of(Waiting))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, HANGS)


SETTINGS: dict[str, Any] = {
    "model_providers": {
        "office": {"base": "http://localhost:1/v1", "env_keys": ["A_KEY", "B_KEY"]}
    },
    "model_groups": {"balanced": {"models": ["office/large", "local/small"]}},
    "models": {"office/large": {"window": 64000, "input_price": 0.5}},
}


def test_models_and_keys_alternate() -> None:
    models = read_models(SETTINGS, {})
    found = models.candidates("normal", {"A_KEY": "a", "B_KEY": "b"})
    assert [(c.label, c.key) for c in found] == [
        ("office/large", "a"),
        ("local/small", "none"),
        ("office/large", "b"),
    ]
    assert found[0].model.window == 64000
    assert "'a'" not in repr(found)
    assert [c.label for c in models.candidates("cheap", {})] == ["local/small"], "falls back"
    assert models.standing_for("cheap") == "balanced", "and says so"


def test_one_model_by_environment() -> None:
    environment = {"JARVIS_MODEL": "openai/m", "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://x"}
    (only,) = read_models({}, environment).candidates("balanced", environment)
    assert (only.provider.base, only.model.name, only.key) == ("http://x", "m", "k")


def test_what_is_missing_is_said() -> None:
    with pytest.raises(errors.ModelMissing, match="JARVIS_MODEL"):
        read_models({}, {}).candidates("balanced", {})
    chosen = read_models({}, {"JARVIS_MODEL": "deepseek/x"})
    with pytest.raises(errors.ModelMissing, match="DEEPSEEK_API_KEY"):
        chosen.candidates("balanced", {})
    with pytest.raises(errors.ModelMissing):
        read_models(SETTINGS, {}).candidates("image", {"A_KEY": "a"})
    with pytest.raises(errors.ModelMissing, match="jarvis setup"):
        read_models({}, {}).candidates("think", {})
    with pytest.raises(
        ConfigError, match=r"Unknown model group 'ballanced'. Use one of .*balanced"
    ):
        read_models(SETTINGS, {}).candidates("ballanced", {"A_KEY": "a"})


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"model_providers": {"x": {"api_key": "sk-1"}}}, "do not belong"),
        ({"model_providers": {"x": {"bse": "http://a"}}}, "Unknown setting model_providers.x.bse"),
        ({"model_providers": {"x": {"base": "file:///etc/passwd"}}}, "http"),
        ({"model_providers": {"x": 1}}, "must be a table"),
        ({"model_groups": {"balanced": {"models": "a/b"}}}, "must be a list"),
        ({"model_groups": {"balanced": {"models": ["nowhere/b"]}}}, "providers are"),
        ({"model_groups": {"balanced": {"models": ["openai/text-embedding-3-small"]}}}, "embed"),
        ({"model_groups": {"balanced": {"models": ["local/bge-reranker-v2"]}}}, "rerank"),
        ({"models": {"a/b": {"wndow": 1}}}, "wndow"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        read_models(settings, {})


async def test_a_guard_stands_before_every_request_of_its_asker_only() -> None:
    class Keeper(CallGuard):
        def __init__(self, most: int) -> None:
            self.most = most
            self.let_through = 0
            self.after_calls: list[tuple[int, bool]] = []

        async def before(self, request: Request, model: ModelInfo) -> None:
            if self.let_through == self.most:
                raise errors.ModelRefused("enough")
            self.let_through += 1

        def after(self, usage: Usage, answered: bool) -> None:
            self.after_calls.append((usage.input, answered))

    async with group_of() as (group, (server,)):
        server.refuse(503)
        server.add(Answer([chunk({"content": "half"})], done=False))
        server.say("whole")
        guard = Keeper(3)
        guarded = group.guarded(guard)
        assert (await guarded.ask(QUESTION)).text == "whole"
        assert guard.after_calls == [(0, False), (0, True), (11, True)]
        with pytest.raises(errors.ModelRefused, match="enough"):
            await guarded.ask(QUESTION)
        assert len(server.requests) == 3 == len(guard.after_calls)
        server.say("free")
        assert (await group.ask(QUESTION)).text == "free"

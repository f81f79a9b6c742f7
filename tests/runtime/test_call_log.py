"""Every call of a model is in the log, whole, bounded and without a key."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

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
from jarvis_ls.runtime.base.redaction import HIDDEN, Redactor
from jarvis_ls.runtime.llm import call_log
from jarvis_ls.runtime.llm.call_log import Bounds, CallLog, Logged, asked_by
from jarvis_ls.runtime.llm.model_group import ModelGroup, Patience
from jarvis_ls.runtime.llm.platforms.base import ModelInfo, Request, ToolSpec
from jarvis_ls.runtime.llm.platforms.openai import OpenAICompatible
from jarvis_ls.runtime.llm.providers import Candidate, Provider
from jarvis_ls.runtime.llm.registry import PlatformRegistry
from jarvis_ls.runtime.session.store import SessionStore
from tests.support.anthropic_server import AnthropicServer
from tests.support.model_server import Answer, ModelServer, chunk, usage
from tests.support.patience import PATIENT

CANARY = "canary-Zq3v9XkT1w7b5R0m"
MODEL = ModelInfo("scripted", input_price=1, output_price=2)
ONCE = Patience(attempts=1)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@contextlib.asynccontextmanager
async def logged(
    server: ModelServer, folder: Path, bounds: Bounds | None = None
) -> AsyncIterator[ModelGroup]:
    platform = OpenAICompatible(server.url, CANARY, deadlines=PATIENT)
    log = CallLog(folder, Redactor([CANARY]), bounds)
    wrapped = Logged(platform, "p", log=log)
    candidate = Candidate(Provider("p", base=server.url), MODEL, CANARY)
    yield ModelGroup([candidate], lambda _: wrapped, patience=ONCE)
    await wrapped.close()


def calls(folder: Path) -> list[list[dict[str, Any]]]:
    return [
        [json.loads(line) for line in path.read_text().splitlines()]
        for path in CallLog(folder).files()
    ]


def everything(folder: Path) -> Iterator[bytes]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.read_bytes()


async def test_a_call_is_written_from_request_to_response(
    server: ModelServer, tmp_path: Path
) -> None:
    server.call_all(
        [("read_code", {"path": "a.c"})], text="Looking.", headers={"x-request-id": "7"}
    )
    tools = [ToolSpec("read_code", "Read.", {"type": "object"})]
    async with logged(server, tmp_path) as group:
        await group.ask(Request([System("rules"), User("hi")], tools, max_output=9))
    ((asked, headers, *chunks, answer),) = calls(tmp_path)
    assert asked["is"] == "request"
    assert (asked["label"], asked["model"], asked["max_output"]) == ("p/scripted", "scripted", 9)
    assert [m["text"] for m in asked["messages"]] == ["rules", "hi"]
    assert asked["tools"][0]["name"] == "read_code"
    assert (headers["is"], headers["status"]) == ("headers", 200)
    assert headers["url"].startswith(server.url)
    assert headers["request"]["authorization"] == HIDDEN
    assert headers["response"]["x-request-id"] == "7"
    assert {c["is"] for c in chunks} == {"chunk"}
    assert [c["kind"] for c in chunks][-2:] == ["usage", "finish"]
    assert answer["text"] == "Looking."
    assert answer["calls"] == [{"name": "read_code", "arguments": '{"path": "a.c"}'}]
    assert answer["usage"] == {
        "input": 11,
        "output": 7,
        "cached": 4,
        "reasoning": 2,
        "cost": pytest.approx(25e-6),
    }
    assert 0 <= headers["ms"] <= answer["first_ms"] <= answer["ms"]


async def test_the_asking_session_gets_the_log(server: ModelServer, tmp_path: Path) -> None:
    registry = PlatformRegistry(tmp_path)
    candidate = Candidate(Provider("p", base=server.url), MODEL, CANARY)
    group = ModelGroup([candidate], registry.platform_for, patience=ONCE)

    async def agent(folder: str, node: str) -> None:
        asked_by(tmp_path / folder, node)
        await group.ask(Request([User(f"from {node}")]))

    server.decide = lambda asked: Answer(
        [chunk({"content": f"to {asked.body['messages'][0]['content']}"}), chunk({}, "stop")],
        headers={"x-for": asked.body["messages"][0]["content"].split()[-1]},
        delay=0.02,
    )
    async with asyncio.TaskGroup() if hasattr(asyncio, "TaskGroup") else _Group() as tasks:
        for number in range(8):
            tasks.create_task(agent(f"s{number % 2}", f"n{number}"))
    await group.ask(Request([User("from nobody")]))
    await registry.close()
    ((asked, *_),) = calls(tmp_path / "calls")
    assert (asked["node"], asked["messages"][0]["text"]) == ("", "from nobody")
    for number in range(2):
        found = calls(tmp_path / f"s{number}" / "calls")
        assert len(found) == 4
        for asked, headers, *_, answer in found:  # those that ran together are not mixed up
            node = asked["node"]
            assert headers["response"]["x-for"] == node
            assert answer["text"] == f"to from {node}"


class _Group:
    """What `asyncio.TaskGroup` is, where there is none."""

    async def __aenter__(self) -> _Group:
        self._tasks: list[asyncio.Task[None]] = []
        return self

    def create_task(self, work: Any) -> None:
        self._tasks.append(asyncio.ensure_future(work))

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*self._tasks)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
async def test_no_key_is_written_anywhere(protocol: str, tmp_path: Path) -> None:
    """The canary is the key; the provider gives it back in every way it can, in pieces too."""
    store = SessionStore(tmp_path, redactor := Redactor())
    registry = PlatformRegistry(None, redactor)
    form = base64.b64encode(f"user:{CANARY}".encode()).decode()
    said = f"Your key is {CANARY}, in base64 {form}. " + "And more. " * 60
    async with ModelServer() if protocol == "openai" else AnthropicServer() as server:
        candidate = Candidate(Provider("p", protocol, server.url), MODEL, CANARY)
        group = ModelGroup([candidate], registry.platform_for, patience=ONCE)
        session = store.create("/work")
        asked_by(session.path, "root")
        messages: list[Message] = [System("rules"), User("What is my key?")]
        for number in range(6):
            if number == 3:
                server.refuse(401, {"x-your-key": CANARY}, f"wrong key {CANARY}")
            elif number == 4:
                answer = server.call_all([("echo", {"text": CANARY})], said)  # type: ignore[attr-defined]
                answer.cut_after = len(answer.chunks) - 3
            elif number == 5:
                server.call_all([(CANARY, {"text": CANARY})], said, headers={"echo": CANARY})  # type: ignore[attr-defined]
            else:
                pieces = (1, 40, 400)[number]
                server.say(said, thinking=said, pieces=pieces, headers={"set-cookie": CANARY})  # type: ignore[attr-defined]
            try:
                found = await group.ask(Request(messages, extra={"user": CANARY}))
            except errors.ModelError as error:
                found = Assistant(str(error))
            kept = session.append("root", found)
            results = [ToolResult(c.id, c.name, f"echo {CANARY}") for c in found.tool_calls]
            messages += [kept, *(session.append("root", r) for r in results)]
            messages.append(session.append("root", User(f"again, {CANARY}?")))
        session.set_title(f"about {CANARY}")
        session.close()
        await registry.close()
        assert any(CANARY in str(asked.headers) for asked in server.requests), "it was really sent"
    written = list(everything(tmp_path))
    assert len(CallLog(session.path / "calls").files()) == 6
    for secret in (CANARY, CANARY[:12], CANARY[8:], form, form[8:20], CANARY.encode().hex()):
        assert not [data for data in written if secret.encode() in data], secret
    joined = b"".join(written).decode()
    assert "And more." in joined and HIDDEN in joined
    texts = [call[-1].get("text", "") for call in calls(session.path / "calls")]
    assert texts[0].startswith(f"Your key is {HIDDEN}, in base64 ")


async def test_a_call_is_readable_while_it_goes_on(server: ModelServer, tmp_path: Path) -> None:
    server.add(Answer([chunk({"content": "word " * 200})] * 3, stall_after=2))
    async with logged(server, tmp_path) as group:
        task = asyncio.create_task(group.ask(Request([User("hi")])))
        while not calls(tmp_path) or len(calls(tmp_path)[0]) < 4:
            await asyncio.sleep(0.01)
        (lines,) = calls(tmp_path)
        assert [line["is"] for line in lines] == ["request", "headers", "chunk", "chunk"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    (lines,) = calls(tmp_path)
    assert lines[-1] == {"is": "error", "ms": lines[-1]["ms"], "error": "given up by who asked"}
    assert lines[-2]["text"].startswith("word word")


@pytest.mark.parametrize(
    ("answer", "kind", "status"),
    [
        (Answer(status=429, headers={"retry-after": "9"}, body=b"{}"), "ModelBusy", 429),
        (Answer([chunk({"content": "x"})] * 3, cut_after=2), "ModelUnreachable", 200),
        (Answer([b"data: {broken\n\n"]), "AnswerBroken", 200),
    ],
)
async def test_failures_are_logged(
    server: ModelServer, tmp_path: Path, answer: Answer, kind: str, status: int
) -> None:
    server.add(answer)
    async with logged(server, tmp_path) as group:
        with pytest.raises(errors.ModelError):
            await group.ask(Request([User("hi")]))
    (lines,) = calls(tmp_path)
    assert [line["status"] for line in lines if line["is"] == "headers"] == [status]
    assert lines[-1]["error"].startswith(kind)


async def test_a_file_is_bounded(server: ModelServer, tmp_path: Path) -> None:
    bounds = Bounds(file_bytes=40_000)
    server.add(Answer([chunk({"content": "answer " * 100})] * 200 + [chunk({}, "stop"), usage()]))
    picture = Image("image/png", "A" * 100_000)
    long: list[Message] = [System("rules " * 200), User("begin", (picture,))]
    long += [User(f"{n} " + "question " * 100) for n in range(200)]
    tools = [ToolSpec(f"t{n}", "what it does " * 50, {}) for n in range(50)]
    async with logged(server, tmp_path, bounds) as group:
        await group.ask(Request(long, tools))
    (path,) = CallLog(tmp_path).files()
    assert path.stat().st_size <= bounds.file_bytes
    ((asked, _, *chunks, answer),) = calls(tmp_path)
    texts = [m["text"].split()[0] for m in asked["messages"]]
    assert texts[:3] == ["rules", "begin", texts[2]]
    assert texts[-1] == "199"
    assert asked["left_out"] == len(long) - len(texts)
    assert asked["messages"][1]["images"][0]["base64"] == "(100000 characters)"
    assert asked["tools"] == [f"t{n}" for n in range(50)]
    assert answer["unwritten"] > 0
    assert "characters left out" in answer["text"]
    assert answer["usage"]["input"] == 11
    assert len(chunks) > 5


async def test_old_calls_are_deleted(server: ModelServer, tmp_path: Path) -> None:
    async with logged(server, tmp_path, Bounds(files=5)) as group:
        for number in range(9):
            server.say(f"answer {number}")
            await group.ask(Request([User("hi")]))
    assert [call[-1]["text"] for call in calls(tmp_path)] == [f"answer {n}" for n in range(4, 9)]
    bounds = Bounds(file_bytes=20_000, all_bytes=40_000)
    async with logged(server, tmp_path, bounds) as group:
        for _ in range(8):
            server.say("x" * 3000, pieces=2)
            await group.ask(Request([User("y" * 3000)]))
    files = CallLog(tmp_path).files()
    assert sum(path.stat().st_size for path in files) <= bounds.all_bytes
    assert len(files) > 1


async def test_a_log_that_cannot_be_written_keeps_no_one_from_working(
    server: ModelServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "calls").write_text("a file in the way")
    with caplog.at_level(logging.WARNING, logger=call_log.__name__):
        async with logged(server, tmp_path / "calls") as group:
            for _ in range(3):
                server.say("fine")
                assert (await group.ask(Request([User("hi")]))).text == "fine"
    assert len(caplog.records) == 1
    assert "could not be logged" in caplog.text


async def test_files_are_the_users_alone(server: ModelServer, tmp_path: Path) -> None:
    server.say("fine")
    async with logged(server, tmp_path / "calls") as group:
        await group.ask(
            Request(
                [
                    User("hi"),
                    Assistant("", tool_calls=(ToolCall("c", "t", {}),)),
                    ToolResult("c", "t", "ok"),
                ]
            )
        )
    for path in (tmp_path / "calls", *CallLog(tmp_path / "calls").files()):
        assert path.stat().st_mode & 0o077 == 0


async def test_what_a_provider_reported_adds_up_with_retries_and_broken_answers(
    server: ModelServer, tmp_path: Path
) -> None:
    platform = OpenAICompatible(server.url, CANARY, deadlines=PATIENT)
    candidate = Candidate(Provider("p", base=server.url), MODEL, CANARY)
    wrapped = Logged(platform, "p", log=CallLog(tmp_path))
    quick = Patience(first_wait=0.01)
    group = ModelGroup([candidate], lambda _: wrapped, patience=quick)
    server.add(Answer([chunk({}, "stop"), usage(100, 1)]))  # empty, but billed
    server.refuse(500)
    server.add(Answer([chunk({"content": "half"}), usage(30, 2)]))  # no end, but billed
    server.say("whole")
    answer = await group.ask(Request([User("hi")]))
    await wrapped.close()
    logged_usage = [
        call_["usage"]
        for lines in calls(tmp_path)
        for call_ in lines
        if call_["is"] == "response" and call_["usage"]
    ]
    assert len(calls(tmp_path)) == 4
    total = sum((Usage(**{**u, "cost": 0.0}) for u in logged_usage), Usage())
    assert (total.input, total.output) == (141, 10) == (answer.usage.input, answer.usage.output)

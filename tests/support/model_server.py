"""A scripted server that speaks the OpenAI chat completions protocol over real HTTP.

No real model is reached by any test. A test says what the server answers, in order, and reads
afterwards what it was asked:

    async with ModelServer() as server:
        server.say("Hello")                       # a streamed answer
        server.call("read_code", {"path": "a.c"}) # an answer that asks for a tool
        server.refuse(429, {"retry-after": "0.1"})
        ...
        assert server.requests[0].body["model"] == "scripted"

Every fault of a real connection can be played: see `Answer`.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import Self

WRONG_KEY = "Authentication Fails, Your api key: ****beef is invalid"
"""What a server says to a wrong key."""


@dataclass
class Answer:
    """One answer to one request."""

    chunks: list[dict[str, Any] | bytes] = field(default_factory=list)
    """Streamed events; bytes are sent as they are."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    """Sent instead of a stream when the status is not 200 or when it is set."""
    delay: float = 0.0
    """Seconds before each event."""
    stall_after: int | None = None
    """Send this many events, then nothing, until the client goes away."""
    cut_after: int | None = None
    """Send this many events, then drop the connection."""
    silent: float = 0.0
    """Seconds before the first byte."""
    done: bool = True
    """Whether the stream ends with `[DONE]`."""


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    """Empty when it was no JSON."""
    raw: bytes = b""


class ScriptedServer(ABC):
    """What servers of every protocol share: HTTP, and the faults of it."""

    path = "/v1"
    """What follows the host in a client's base URL."""
    ending = b""
    """What ends a stream that is `done`."""

    @abstractmethod
    def refuse(
        self,
        status: int,
        headers: dict[str, str] | None = None,
        message: str = "no",
        code: str = "",
    ) -> Answer:
        """Answer with an error."""

    @abstractmethod
    def listed(self) -> dict[str, Any]:
        """How the list of models is answered."""

    def __init__(self) -> None:
        self.requests: list[Asked] = []
        self.answers: deque[Answer] = deque()
        self.decide: Callable[[Asked], Answer | None] | None = None
        """Gives the answer to a request where the order of requests is not known; what it leaves
        open is answered in turn."""
        self.dropped = 0
        """How often a client went away in the middle of an answer."""
        self.models = ["scripted"]
        self.key = ""
        """The only key that is taken; empty takes any."""
        self.listing: Answer | None = None
        """How the list of models is answered instead."""
        self.files = 0
        """How many files were handed over."""
        self.refuse_files = False
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        """Base URL for a client."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{self.path}"

    def add(self, answer: Answer) -> Answer:
        """Answer with `answer` when its turn comes."""
        self.answers.append(answer)
        return answer

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (asked := await self._read(reader)) is not None:
                self.requests.append(asked)
                if not await self._answer(asked, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.dropped += 1
        except asyncio.CancelledError:
            pass  # the server closes; asyncio would print the cancelled task of a connection
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Asked | None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        request, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = request.split(" ")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines) if k}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        is_json = raw and "json" in headers.get("content-type", "json")
        return Asked(method, path, headers, json.loads(raw) if is_json else {}, raw)

    async def _answer(
        self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Whether the connection may be used again."""
        if self.key and not self._has_key(asked):
            refused = self.refuse(401, message=WRONG_KEY)
            self.answers.remove(refused)
            await self._plain(writer, 401, {}, refused.body)
            return True
        if asked.method == "GET":
            listing = self.listing or Answer(body=json.dumps(self.listed()).encode())
            await asyncio.sleep(listing.silent)
            await self._plain(writer, listing.status, listing.headers, listing.body)
            return True
        if asked.path.endswith("/files"):
            await self._take_file(writer)
            return True
        decided = self.decide(asked) if self.decide is not None else None
        if decided is None and not self.answers:
            await self._plain(writer, 500, {}, b'{"error": {"message": "nothing scripted"}}')
            return True
        answer = decided or self.answers.popleft()
        await asyncio.sleep(answer.silent)
        if answer.status != 200 or answer.body:
            await self._plain(writer, answer.status, answer.headers, answer.body)
            return True
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
            + b"".join(f"{k}: {v}\r\n".encode() for k, v in answer.headers.items())
            + b"\r\n"
        )
        return await self._stream(answer, reader, writer)

    def _has_key(self, asked: Asked) -> bool:
        given = asked.headers.get("authorization", "").removeprefix("Bearer ")
        return self.key in (given, asked.headers.get("x-api-key"))

    async def _take_file(self, writer: asyncio.StreamWriter) -> None:
        if self.refuse_files:
            await self._plain(writer, 400, {}, b'{"error": {"message": "no files here"}}')
            return
        self.files += 1
        made = {
            "id": f"file-{self.files}",
            "object": "file",
            "bytes": 1,
            "created_at": 1,
            "filename": "f",
            "purpose": "user_data",
            "status": "processed",
        }
        await self._plain(writer, 200, {}, json.dumps(made).encode())

    async def _stream(
        self, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        for number, event in enumerate(answer.chunks):
            if number == answer.stall_after:
                await reader.read(1)  # until the client gives up
                raise ConnectionResetError
            if number == answer.cut_after:
                writer.transport.abort()
                return False
            await asyncio.sleep(answer.delay)
            raw = (
                event if isinstance(event, bytes) else b"data: %s\n\n" % json.dumps(event).encode()
            )
            await self._piece(writer, raw)
        if answer.done:
            await self._piece(writer, self.ending)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    @staticmethod
    async def _piece(writer: asyncio.StreamWriter, raw: bytes) -> None:
        if raw:
            writer.write(b"%x\r\n%s\r\n" % (len(raw), raw))
            await writer.drain()

    @staticmethod
    async def _plain(
        writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes
    ) -> None:
        lines = {"content-type": "application/json", "content-length": str(len(body)), **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"HTTP/1.1 {status} Scripted\r\n{head}\r\n".encode() + body)
        await writer.drain()


def without_models(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables of an environment that name neither models nor keys of them."""
    return {
        name: value
        for name, value in environment.items()
        if not name.endswith("_API_KEY") and name not in ("JARVIS_MODEL", "OPENAI_BASE_URL")
    }


class ModelServer(ScriptedServer):
    """The server of OpenAI's protocol; use it as an async context manager."""

    ending = b"data: [DONE]\n\n"

    def listed(self) -> dict[str, Any]:
        """See `ScriptedServer`."""
        data = [{"id": m, "object": "model", "created": 0, "owned_by": "t"} for m in self.models]
        return {"object": "list", "data": data}

    def say(self, text: str, *, thinking: str = "", pieces: int = 3, **answer: Any) -> Answer:
        """Answer with text, streamed in `pieces`."""
        chunks: list[dict[str, Any]] = []
        if thinking:
            chunks.append(chunk({"role": "assistant", "reasoning_content": thinking}))
        size = max(1, -(-len(text) // pieces))
        chunks += [chunk({"content": text[i : i + size]}) for i in range(0, len(text), size)]
        return self.add(Answer([*chunks, chunk({}, "stop"), usage()], **answer))

    def call(self, name: str, arguments: dict[str, Any] | str, **answer: Any) -> Answer:
        """Answer with one tool call; a string is sent as arguments as it is."""
        return self.call_all([(name, arguments)], **answer)

    def call_all(
        self, calls: list[tuple[str, dict[str, Any] | str]], text: str = "", **answer: Any
    ) -> Answer:
        """Answer with several tool calls, arguments in pieces."""
        chunks = [chunk({"role": "assistant", "content": text})] if text else []
        for index, (name, arguments) in enumerate(calls):
            written = arguments if isinstance(arguments, str) else json.dumps(arguments)
            first = {"index": index, "id": f"call_{len(self.requests)}_{index}", "type": "function"}
            chunks.append(chunk({"tool_calls": [{**first, "function": {"name": name}}]}))
            chunks += [
                chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
                for part in (written[i : i + 7] for i in range(0, len(written), 7))
            ]
        return self.add(Answer([*chunks, chunk({}, "tool_calls"), usage()], **answer))

    def refuse(
        self,
        status: int,
        headers: dict[str, str] | None = None,
        message: str = "no",
        code: str = "",
    ) -> Answer:
        """Answer with an error."""
        error = {"error": {"message": message, "type": "error", "code": code or None}}
        return self.add(
            Answer(status=status, headers=headers or {}, body=json.dumps(error).encode())
        )


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """One event of a chat completion stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**_HEAD, "choices": [choice]}


def usage(prompt: int = 11, answer: int = 7, cached: int = 4, reasoning: int = 2) -> dict[str, Any]:
    """The event that reports tokens."""
    return {
        **_HEAD,
        "choices": [],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": prompt + answer,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        },
    }


_HEAD = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}

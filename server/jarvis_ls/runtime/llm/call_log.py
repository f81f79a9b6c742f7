"""Every request to a model, written down: what was asked, what came back, how long it took.

One file per request in the session's `calls` folder (`~/.jarvis/calls` for what is asked outside
of sessions, such as the organising of memories), one JSON object a line, written as things
happen, so that it is there too when the process is killed in the middle:

    {"is": "request", "at": …, "label": "provider/model", "node": …, "messages": […], …}
    {"is": "headers", "ms": …, "url": …, "status": …, "request": {…}, "response": {…}}
    {"is": "chunk", "ms": …, "kind": "text", "text": …}
    {"is": "response", "ms": …, "first_ms": …, "text": …, "calls": […], "usage": {…}, …}
    {"is": "error", "ms": …, "error": …}

Nothing is written that the redactor takes for a secret; also not one that came in pieces. Files
are bounded one by one, in number and together; the oldest go first. A log that cannot be written
keeps no one from working: it says so once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import write_error
from jarvis_ls.core.store import Appender, line_of
from jarvis_ls.runtime.base.messages import FileRef, Image, Message, User, to_json
from jarvis_ls.runtime.base.redaction import Redactor
from jarvis_ls.runtime.llm.answer_record import Heard, cut_middle
from jarvis_ls.runtime.llm.platforms.base import (
    Delta,
    Exchange,
    ModelInfo,
    Platform,
    Request,
    exchange_seen,
)

logger = logging.getLogger(__name__)

FOLDER = "calls"
_FILE = re.compile(r"(\d{6,})\.jsonl")
_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is kept."""

    files: int = 200
    """Requests of one session; older ones are deleted."""
    file_bytes: int = 1 << 20
    """Of one request; what is longer is cut and says so."""
    all_bytes: int = 64 << 20
    """Of one session's requests together."""


@dataclass(frozen=True, slots=True)
class Caller:
    """For whom models are asked from here on."""

    folder: Path
    """The session's folder."""
    node: str
    """The agent."""


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


def asked_by(folder: Path, node: str) -> None:
    """From here on, in this task and those it starts, models are asked for this agent of the
    session in `folder`: their calls are logged there."""
    _caller.set(Caller(folder, node))


class CallLog:
    """The log of one session."""

    def __init__(
        self, folder: Path, redactor: Redactor | None = None, bounds: Bounds | None = None
    ) -> None:
        """`folder` is made when something is written."""
        self._folder = folder
        self._redactor = redactor or Redactor()
        self._bounds = bounds or Bounds()

    def begin(self, label: str, model: ModelInfo, request: Request, node: str = "") -> Call:
        """Return a request goes out to `label` (`provider/model`) for an agent.

        Raises `JarvisError` when it cannot be written.
        """
        appender = self._next_file(self._make_room())
        call = Call(appender, self._redactor, self._bounds.file_bytes)
        call.asked(label, model, request, node)
        return call

    def files(self) -> list[Path]:
        """Return the files there are, the oldest first."""
        return [path for _, path, _ in self._list_files()]

    def _list_files(self) -> list[tuple[int, Path, int]]:
        """Return number, path and size of each file, the oldest first."""
        found = []
        with contextlib.suppress(OSError):
            for entry in os.scandir(self._folder):
                if match := _FILE.fullmatch(entry.name):
                    size = entry.stat(follow_symlinks=False).st_size
                    found.append((int(match[1]), Path(entry.path), size))
        return sorted(found)

    def _next_file(self, number: int) -> Appender:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise write_error(self._folder, error) from None
        while True:
            path = self._folder / f"{number:06}.jsonl"
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            except FileExistsError:
                number += 1
                continue
            except OSError as error:
                raise write_error(path, error) from None
            return Appender(path)

    def _make_room(self) -> int:
        """Delete the oldest files until one more fits; the result is its number."""
        known = self._list_files()
        total = sum(size for *_, size in known) + self._bounds.file_bytes
        left = len(known) + 1
        for _, path, size in known:
            if left <= self._bounds.files and total <= self._bounds.all_bytes:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            left, total = left - 1, total - size
        return known[-1][0] + 1 if known else 1


class Call:
    """One request as it continues. After the first failure to write, nothing more is written."""

    def __init__(self, appender: Appender, redactor: Redactor, limit: int) -> None:
        self._appender: Appender | None = appender
        self._redactor = redactor
        self._left = limit
        self._answer_room = limit // 4
        self._begun = time.monotonic()
        self._heard = Heard(redactor)

    def asked(self, label: str, model: ModelInfo, request: Request, node: str) -> None:
        """Write the request; for `CallLog.begin`."""
        record = {
            "is": "request",
            "at": round(time.time(), 3),
            "label": label,
            "model": model.name,
            "node": node,
            "tools": [asdict(tool) for tool in request.tools],
            "max_output": request.max_output,
            "temperature": request.temperature,
            "extra": request.extra,
        }
        record = self._redactor.values(record)
        room = self._left // 2
        head = len(line_of(record))
        if head > room // 2:
            record["tools"] = [tool.name for tool in request.tools]
            head = len(line_of(record))
        record["messages"], left_out = self._messages(request, room - head)
        if left_out:
            record["left_out"] = left_out
        self._write(record)

    def headers(self, exchange: Exchange) -> None:
        """Write the headers of the HTTP exchange."""
        self._write(
            {
                "is": "headers",
                "ms": self._ms(),
                "url": self._redactor.text(exchange.url),
                "status": exchange.status,
                "request": self._redactor.headers(exchange.request),
                "response": self._redactor.headers(exchange.response),
            }
        )

    def chunk(self, delta: Delta) -> None:
        """Write a piece of the answer."""
        said = self._heard.add(delta, self._ms())
        if said is None:
            return
        if self._left <= self._answer_room:
            self._heard.unwritten += 1
            return
        self._write({"is": "chunk", "ms": self._ms(), **said})

    def end(self, error: BaseException | None = None) -> None:
        """Write the end; with `error` when it failed or was abandoned."""
        answer = self._heard.answer(self._answer_room // 4)
        self._write({"is": "response", "ms": self._ms(), **answer})
        if error is not None:
            words = self._redactor.text(f"{type(error).__name__}: {error}")
            if isinstance(error, (asyncio.CancelledError, GeneratorExit)):
                words = "given up by who asked"
            self._write({"is": "error", "ms": self._ms(), "error": cut_middle(words, _TEXT)})
        self._close()

    def _messages(self, request: Request, room: int) -> tuple[list[Any], int]:
        """Return the first two and the last messages that fit, and how many are left out. Those
        that do not are not examined: a conversation may be long.
        """
        messages = request.messages
        first: list[Any] = []
        for message in messages[:2]:
            written, size = self._message(message)
            if size > room // 2:
                break
            first.append(written)
            room -= size
        last: list[Any] = []
        for message in reversed(messages[len(first) :]):
            written, size = self._message(message)
            if size > room:
                break
            last.append(written)
            room -= size
        return first + last[::-1], len(messages) - len(first) - len(last)

    def _message(self, message: Message) -> tuple[Any, int]:
        """Return the logged form of a message, and its size."""
        if isinstance(message, User) and message.images:
            images = tuple(
                Image(i.media_type, f"({len(i.base64)} characters)") for i in message.images
            )
            message = replace(message, images=images)
        # Cut twice: a secret that the first cut goes through is gone with the second.
        record = _shorten(to_json(message), 2 * _TEXT)
        line = line_of(record)
        if record.get("tool_calls") or self._redactor.suspects(line.decode("utf-8", "replace")):
            record = self._redactor.values(record)
        record = _shorten(record, _TEXT)
        return record, len(line_of(record))

    def _ms(self) -> int:
        return round((time.monotonic() - self._begun) * 1000)

    def _write(self, record: dict[str, Any]) -> None:
        if self._appender is None:
            return
        line = line_of(record)
        try:
            self._appender.append(line)
            self._left -= len(line)
        except JarvisError as error:
            _say_once(error)
            self._close()

    def _close(self) -> None:
        if self._appender is not None:
            self._appender.close()
            self._appender = None


class Logged(Platform):
    """A platform whose calls are written to the log of the caller (`asked_by`)."""

    def __init__(
        self,
        wrapped: Platform,
        provider: str,
        *,
        log: CallLog | None = None,
        redactor: Redactor | None = None,
        bounds: Bounds | None = None,
        home: Path | None = None,
    ) -> None:
        """`log` None takes the asking session's own, and that in `home` where no session asks.
        `redactor` must know the platform's key."""
        self.wrapped = wrapped
        self.name = wrapped.name
        self._provider = provider
        self._log = log
        self._redactor = redactor or Redactor()
        self._bounds = bounds
        self._home = home

    async def stream(self, model: ModelInfo, request: Request) -> AsyncGenerator[Delta, None]:
        """See `Platform.stream`."""
        call = await asyncio.to_thread(self._begin, model, request)  # long ones take a while
        stream: Any = self.wrapped.stream(model, request)
        error: BaseException | None = None
        try:
            async with aclosing(stream):
                pieces = aiter(stream)
                while True:
                    try:
                        with _seen_by(call.headers if call is not None else None):
                            delta = await anext(pieces)
                    except StopAsyncIteration:
                        break
                    if call is not None:
                        call.chunk(delta)
                    yield delta
        except BaseException as raised:
            error = raised
            raise
        finally:
            if call is not None:
                call.end(error)

    async def models(self) -> list[str]:
        """See `Platform`."""
        return await self.wrapped.models()

    async def upload(self, name: str, data: bytes) -> FileRef:
        """See `Platform`."""
        return await self.wrapped.upload(name, data)

    async def close(self) -> None:
        """See `Platform`."""
        await self.wrapped.close()

    def _begin(self, model: ModelInfo, request: Request) -> Call | None:
        caller = _caller.get()
        log, folder = self._log, caller.folder if caller is not None else self._home
        if log is None and folder is not None:
            log = CallLog(folder / FOLDER, self._redactor, self._bounds)
        if log is None:
            return None
        try:
            label = f"{self._provider}/{model.name}"
            return log.begin(label, model, request, caller.node if caller else "")
        except JarvisError as error:
            _say_once(error)
            return None


@contextlib.contextmanager
def _seen_by(seen: Callable[[Exchange], None] | None) -> Iterator[None]:
    """Exchanges that are made in here are passed to `seen`, and none that are made outside."""
    token = exchange_seen.set(seen)
    try:
        yield
    finally:
        exchange_seen.reset(token)


_said: set[str] = set()


def _say_once(error: JarvisError) -> None:
    if str(error) not in _said:
        _said.add(str(error))
        logger.warning("a call of a model could not be logged: %s", error)


def _shorten(value: Any, room: int) -> Any:
    if isinstance(value, str):
        return cut_middle(value, room)
    if isinstance(value, dict):
        return {name: _shorten(part, room) for name, part in value.items()}
    return [_shorten(part, room) for part in value] if isinstance(value, (list, tuple)) else value

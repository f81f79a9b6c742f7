"""Bytes to messages: the base protocol's framing, which never loses the thread.

Replaces ``pygls.io_.run_async``, which (2.1.1) goes deaf for good after a header in lower case,
a length that is too small, or a negative one, ends with ``MemoryError`` after a huge one, and
reads any nested object with a ``"jsonrpc"`` key as a message of its own.

The way back into step rests on one fact: a raw line break never stands inside a JSON string,
so ``Content-Length: 5<CR><LF>`` in the middle of a body is always the head of the next message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

MAX_BODY = 256 * 1024 * 1024
"""Bytes of the largest message believed; above it the length is taken for a mistake."""

_MAX_HEADER = 8 * 1024
_MAX_UNKNOWN = 1024 * 1024
_EARLY_LIMIT = 64 * 1024
_EARLY_ATTEMPTS = 16

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*([^\r\n]*)\r?\n", re.IGNORECASE)
_BLANK_LINE = re.compile(rb"\n\r?\n")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class FramingError(Exception):
    """Bytes that are no message; reading goes on behind them."""


class FrameDecoder:
    """Takes bytes as they come and gives the messages in them."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._in_body = False
        self._length: int | None = None
        self._attempts = 0

    def feed(self, data: bytes) -> Iterator[Any | FramingError]:
        """Add ``data``; yield each message that is now complete, as decoded JSON.

        What cannot be read is yielded as a `FramingError` in its place, never raised.
        """
        self._buffer += data
        while True:
            if not self._in_body and not self._read_header():
                return
            if self._length is None:
                yield FramingError("Content-Length is not a number of bytes that can be read")
                self._length = MAX_BODY
            message = self._read_body()
            if message is None:
                return
            yield message
            self._in_body = False

    def _read_header(self) -> bool:
        """Go to the start of the next body; False when it has not arrived."""
        first = _LENGTH.search(self._buffer)
        if first is None:
            del self._buffer[:-_MAX_HEADER]
            return False
        blank = _BLANK_LINE.search(self._buffer, first.end() - 1)
        if blank is None:
            if len(self._buffer) - first.start() > _MAX_HEADER:
                del self._buffer[: first.end()]
                return self._read_header()
            return False
        lengths = _LENGTH.findall(self._buffer, first.start(), blank.start() + 1)
        self._length = _length(lengths[-1])
        self._in_body, self._attempts = True, 0
        del self._buffer[: blank.end()]
        return True

    def _read_body(self) -> Any | FramingError | None:
        assert self._length is not None
        if len(self._buffer) >= self._length:
            return self._complete(self._length)
        following = _LENGTH.search(self._buffer)
        if following is not None:
            return self._salvage(following.start())
        if self._length == MAX_BODY and len(self._buffer) > _MAX_UNKNOWN:
            self._buffer.clear()
            return FramingError("message without a usable length")
        return self._early()

    def _complete(self, length: int) -> Any | FramingError:
        try:
            message = _load(bytes(self._buffer[:length]))
        except FramingError:
            following = _LENGTH.search(self._buffer)
            return self._salvage(following.start() if following else len(self._buffer), length)
        del self._buffer[:length]
        return message

    def _salvage(self, end: int, length: int = 0) -> Any | FramingError:
        """Return the body up to ``end``, whatever the header said of its length."""
        body = bytes(self._buffer[:end])
        message, used = _load_prefix(body)
        broken = isinstance(message, FramingError)
        del self._buffer[: min(end, max(length, used)) if not broken else min(end, length or end)]
        return message

    def _early(self) -> Any | None:
        """Return the message when it is whole although the header promised more bytes."""
        if len(self._buffer) > _EARLY_LIMIT or self._attempts >= _EARLY_ATTEMPTS:
            return None
        if not self._buffer.rstrip().endswith(b"}"):
            return None
        self._attempts += 1
        try:
            message = _load(bytes(self._buffer))
        except FramingError:
            return None
        self._buffer.clear()
        return message


def _length(value: bytes) -> int | None:
    text = value.strip()
    if not text.isdigit() or len(text) > 12:
        return None
    length = int(text)
    return length if 0 < length < MAX_BODY else None


def _load(body: bytes) -> Any:
    try:
        return _whole(json.loads(body.decode("utf-8"), parse_constant=_refuse_constant))
    except (ValueError, RecursionError) as error:
        raise FramingError(f"not a JSON message: {error}"[:200]) from None


def _load_prefix(body: bytes) -> tuple[Any | FramingError, int]:
    """Return the JSON value ``body`` begins with, and how many bytes it takes."""
    text = body.decode("utf-8", "replace")
    start = len(text) - len(text.lstrip())
    try:
        message, end = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode(text, start)
        return _whole(message), len(text[:end].encode("utf-8"))
    except (ValueError, RecursionError) as error:
        return FramingError(f"not a JSON message: {error}"[:200]), 0


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _whole(value: Any) -> Any:
    """``value`` with halves of surrogate pairs replaced, which no encoder would take later.

    U+FFFD is one UTF-16 unit, as the half was, so positions stay as the client counts them.
    """
    if isinstance(value, str):
        return value if value.isascii() else _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value

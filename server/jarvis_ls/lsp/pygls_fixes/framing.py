"""Bytes to messages: the base protocol's framing, which never loses the thread.

Replaces ``pygls.io_.run_async``, which (2.1.1) goes deaf for good after a header in lower case,
a length that is too small, or a negative one, ends with ``MemoryError`` after a huge one, and
reads any nested object with a ``"jsonrpc"`` key as a message of its own.

The way back into step rests on one fact: a raw line break never is inside a JSON string,
so ``Content-Length: 5<CR><LF>`` in the middle of a body is always the head of the next message.
Each byte is examined once for that, however many pieces a message comes in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from jarvis_ls.lsp.pygls_fixes.json_body import Body, load, load_prefix

MAX_BODY = 256 * 1024 * 1024
"""Bytes of the largest message believed; above it the length is taken for a mistake."""

_MAX_HEADER = 8 * 1024
_MAX_UNKNOWN = 1024 * 1024
_EARLY_LIMIT = 64 * 1024
_EARLY_ATTEMPTS = 16
_ENDING = 64
"""Bytes among which a message that seems whole has its last bracket."""

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*([^\r\n]*)\r?\n", re.IGNORECASE)
_BLANK_LINE = re.compile(rb"\n\r?\n")


class FramingError(Exception):
    """Bytes that are no message; reading continues behind them."""


class _Incomplete:
    """What represents a message that has not come whole: ``None`` is one, ``null``."""


_INCOMPLETE: Final = _Incomplete()


class FrameDecoder:
    """Takes bytes as they come and gives the messages in them."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._in_body = False
        self._length: int | None = None
        self._attempts = 0
        self._searched = 0
        """How much of a body holds no head of a next message."""
        self._body = Body()

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
            if message is _INCOMPLETE:
                return
            self._in_body = False
            yield message

    def _read_header(self) -> bool:
        """Go to the start of the next body; False when it has not arrived."""
        while True:
            first = _LENGTH.search(self._buffer)
            if first is None:
                del self._buffer[:-_MAX_HEADER]
                return False
            limit = first.start() + _MAX_HEADER
            blank = _BLANK_LINE.search(self._buffer, first.end() - 1, limit)
            if blank is not None:
                break
            if len(self._buffer) <= limit:
                return False
            del self._buffer[: first.end()]
        lengths = _LENGTH.findall(self._buffer, first.start(), blank.start() + 1)
        self._length = _length(lengths[-1])
        self._in_body, self._attempts, self._searched = True, 0, 0
        self._body = Body()
        del self._buffer[: blank.end()]
        return True

    def _read_body(self) -> Any | FramingError | _Incomplete:
        assert self._length is not None
        self._body.read(self._buffer, self._length)
        if len(self._buffer) >= self._length:
            return self._complete(self._length)
        following = self._following()
        if following is not None:
            return self._salvage(following)
        if self._length == MAX_BODY and len(self._buffer) > _MAX_UNKNOWN:
            self._buffer.clear()
            return FramingError("message without a usable length")
        return self._early()

    def _following(self) -> int | None:
        """Return where the head of a next message begins; only what is new is searched, and a head
        ends with a line break, which most bodies have none of."""
        new, self._searched = self._searched, len(self._buffer)
        if self._buffer.find(b"\n", new) < 0:
            return None
        following = _LENGTH.search(self._buffer, max(0, new - _MAX_HEADER))
        return following.start() if following is not None else None

    def _complete(self, length: int) -> Any | FramingError:
        try:
            message = _or_error(self._body.load, self._buffer, length)
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

    def _early(self) -> Any | _Incomplete:
        """Return the message when it is whole although the header promised more bytes."""
        if len(self._buffer) > _EARLY_LIMIT or self._attempts >= _EARLY_ATTEMPTS:
            return _INCOMPLETE
        if not self._buffer[-_ENDING:].rstrip().endswith(b"}"):
            return _INCOMPLETE
        self._attempts += 1
        try:
            message = _or_error(load, bytes(self._buffer))
        except FramingError:
            return _INCOMPLETE
        self._buffer.clear()
        return message


def _length(value: bytes) -> int | None:
    text = value.strip()
    if not text.isdigit() or len(text) > 12:
        return None
    length = int(text)
    return length if 0 < length < MAX_BODY else None


def _or_error(decode: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return decode(*arguments)
    except (ValueError, RecursionError) as error:
        raise FramingError(f"not a JSON message: {error}"[:200]) from None


def _load_prefix(body: bytes) -> tuple[Any | FramingError, int]:
    """Return the JSON value ``body`` begins with, and how many bytes it takes."""
    try:
        return load_prefix(body)
    except (ValueError, RecursionError) as error:
        return FramingError(f"not a JSON message: {error}"[:200]), 0

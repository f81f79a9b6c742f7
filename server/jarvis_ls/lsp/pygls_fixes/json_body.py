"""JSON to values, without keeping the rest of the process waiting.

Replaces ``json.loads`` in ``pygls.io_`` (2.1.1): decoding 20 MB is one call that lets no other
thread run for a tenth of a second, and half of a surrogate pair goes through it, which no encoder
takes later. What is long in a message is one text, that of a document: it is cut out and decoded
in slices, each as soon as it has come.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

_LONG = 1024 * 1024
"""Bytes of a body in which long texts are looked for."""
_SLICE = 256 * 1024
_STRINGS = 1_000
"""Of so many strings one is long, or none is: a message that brings a text has a dozen."""

_ESCAPED_SURROGATE = re.compile(rb"\\u[dD]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_HIGH_SURROGATE = re.compile(rb"\\u[dD][89abAB]..")
_ESCAPE = len(rb"\u0000")
_BACKSLASH = ord("\\")


def load(body: bytes) -> Any:
    """Return the value that ``body`` is, with halves of surrogate pairs replaced.

    Raises `ValueError` (or `RecursionError`) when it is none.
    """
    whole = Body()
    whole.read(body, len(body))
    return whole.load(body, len(body))


class Body:
    """A body whose long strings are decoded as they arrive: little is left to do at its end."""

    def __init__(self) -> None:
        self._around: list[bytes] = []
        """The parts of the body between the long strings found so far."""
        self._texts: list[str] = []
        self._parts: list[str] | None = None
        """Decoded slices of the long string being read; None outside of one."""
        self._start = 0
        """Offset of the opening quote of that string."""
        self._kept = 0
        """Offset of the first byte that is not in `_around`."""
        self._at = 0
        """Offset of the first byte not scanned yet."""
        self._strings = 0
        """Strings seen so far."""
        self._stopped = False
        """Whether the search for long strings has ended."""

    def read(self, body: bytes | bytearray, length: int) -> None:
        """Go on with what has come of ``body``, which is ``length`` bytes long in the end.

        In what is no JSON anything may come of it; there is an error in it still.
        """
        available = min(len(body), length) if length > _LONG else 0
        try:
            while not self._stopped and self._at < available:
                before = self._at
                step = self._find_text if self._parts is None else self._read_text
                step(body, available, is_whole=available == length)
                if self._at == before:
                    return
        except ValueError:  # told by who decodes the whole body
            self._stopped = True

    def load(self, body: bytes | bytearray, length: int) -> Any:
        """Return the value of the whole body, all of which has been read; raises as `load`."""
        around = [*self._around, bytes(body[self._kept : length])]
        if self._texts and not any(b"NaN" in part for part in around):
            remaining = iter(self._texts)
            with contextlib.suppress(ValueError):  # a long name of a field; or an error, told below
                return _load(b"NaN".join(around), lambda name: _take(name, remaining))
        return _load(bytes(body[:length]))

    def _find_text(self, body: bytes | bytearray, available: int, *, is_whole: bool) -> None:
        """Pass over the next string, or begin to read it when it is long."""
        start = body.find(b'"', self._at, available)
        if start < 0:
            self._at = available
            return
        self._at = start
        end = body.find(b'"', start + 1, min(start + _SLICE, available))
        if end >= 0 and body[end - 1] != _BACKSLASH:
            self._at = end + 1
        elif available >= start + _SLICE or is_whole:
            self._start, self._parts, self._at = start, [], start + 1
        else:
            return  # whether it is long is seen when more has come
        self._strings += 1
        self._stopped = self._strings >= _STRINGS and self._parts is None

    def _read_text(self, body: bytes | bytearray, available: int, *, is_whole: bool) -> None:
        """Decode the next slice, which ends neither within a character nor its escape."""
        assert self._parts is not None
        at = self._at
        if available <= at + _SLICE and not is_whole:  # the byte behind the slice is examined too
            return
        part = bytes(body[at : min(at + _SLICE, available)])
        # Of the same length, and each backslash that is left begins an escape of something else.
        plain = part.replace(rb"\\", b"__").replace(rb"\"", b"__")
        end = plain.find(b'"')
        if end >= 0:
            self._parts.append(_decode(part[:end]))
            self._keep(body, at + end)
        elif at + _SLICE >= available and is_whole:
            self._stopped = True  # the text has no end
        else:
            cut = _cut(plain)
            while body[at + cut] & 0xC0 == 0x80:  # within a character of several bytes
                cut -= 1
            self._parts.append(_decode(part[:cut]))
            self._at = at + cut

    def _keep(self, body: bytes | bytearray, end: int) -> None:
        """Take the text that ends there out of the body when it is long."""
        assert self._parts is not None
        if end - self._start > _SLICE:
            self._around.append(bytes(body[self._kept : self._start]))
            self._texts.append("".join(self._parts))
            self._kept = end + 1
        self._parts, self._at = None, end + 1


def load_prefix(body: bytes) -> tuple[Any, int]:
    """Return the value ``body`` begins with, and how many bytes it takes; raises as `load`."""
    text = body.decode("utf-8", "replace")
    start = len(text) - len(text.lstrip())
    value, end = json.JSONDecoder(parse_constant=_refuse).raw_decode(text, start)
    return _whole(value), len(text[:end].encode("utf-8"))


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _take(name: str, texts: Iterator[str]) -> str:
    """Return the next of the texts, whose places are held by a constant that JSON has not."""
    return next(texts) if name == "NaN" else _refuse(name)


def _load(body: bytes, constant: Callable[[str], Any] = _refuse) -> Any:
    value = json.loads(body.decode("utf-8"), parse_constant=constant)
    # Only what is escaped can be half of a pair: UTF-8 has none.
    return _whole(value) if _ESCAPED_SURROGATE.search(body) else value


def _whole(value: Any) -> Any:
    """Return ``value`` with halves of surrogate pairs replaced.

    U+FFFD is one UTF-16 unit, as the half was, so positions stay as the client counts them.
    """
    if isinstance(value, str):
        return value if value.isascii() else _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value


def _cut(plain: bytes) -> int:
    """Return where a part may end as far as escapes go: those of a pair stay together."""
    escape = plain.rfind(b"\\", len(plain) - _ESCAPE)
    cut = escape if escape >= 0 else len(plain)
    return cut - _ESCAPE if _HIGH_SURROGATE.match(plain, cut - _ESCAPE, cut) else cut


def _decode(part: bytes) -> str:
    text: str = _load(b'"%s"' % part)
    return text

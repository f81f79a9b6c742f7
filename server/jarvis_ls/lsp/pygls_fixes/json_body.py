"""JSON to values, without keeping the rest of the process waiting.

Replaces ``json.loads`` in ``pygls.io_`` (2.1.1): decoding 20 MB is one call that lets no other
thread run for a tenth of a second, and half of a surrogate pair goes through it, which no encoder
takes later. What is long in a message is one text, that of a document: it is cut out and decoded
in slices.
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


def load(body: bytes) -> Any:
    """Return the value that ``body`` is, with halves of surrogate pairs replaced.

    Raises `ValueError` (or `RecursionError`) when it is none.
    """
    if len(body) > _LONG:
        around, texts = _cut_out(body)
        if texts and not any(b"NaN" in part for part in around):
            remaining = iter(texts)
            with contextlib.suppress(ValueError):  # a long name of a field; or an error, told below
                return _load(b"NaN".join(around), lambda name: _take(name, remaining))
    return _load(body)


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


def _cut_out(body: bytes) -> tuple[list[bytes], list[str]]:
    """Return what stands around the long texts of ``body``, and these texts.

    In what is no JSON anything may come of it; there is an error in it still.
    """
    around: list[bytes] = []
    texts: list[str] = []
    kept = at = 0
    for _ in range(_STRINGS):
        start = body.find(b'"', at)
        if start < 0:
            break
        end = body.find(b'"', start + 1, start + _SLICE)
        if end < 0 or body[end - 1] == ord("\\"):
            parts, end = _slices(body, start + 1)
            if end < 0:
                break
            if end - start > _SLICE:
                around.append(body[kept:start])
                texts.append("".join(map(_decode, parts)))
                kept = end + 1
        at = end + 1
    return [*around, body[kept:]], texts


def _slices(body: bytes, at: int) -> tuple[list[bytes], int]:
    """Return the text that begins at ``at`` in parts of which none ends within a character or its
    escape, and where its closing quote is; -1 when there is none."""
    parts: list[bytes] = []
    while True:
        part = body[at : at + _SLICE]
        # Of the same length, and each backslash that is left begins an escape of something else.
        plain = part.replace(rb"\\", b"__").replace(rb"\"", b"__")
        end = plain.find(b'"')
        if end >= 0:
            return [*parts, part[:end]], at + end
        if at + _SLICE >= len(body):
            return parts, -1
        cut = _cut(plain)
        while body[at + cut] & 0xC0 == 0x80:  # within a character of several bytes
            cut -= 1
        parts.append(part[:cut])
        at += cut


def _cut(plain: bytes) -> int:
    """Return where a part may end as far as escapes go: those of a pair stay together."""
    escape = plain.rfind(b"\\", len(plain) - _ESCAPE)
    cut = escape if escape >= 0 else len(plain)
    return cut - _ESCAPE if _HIGH_SURROGATE.match(plain, cut - _ESCAPE, cut) else cut


def _decode(part: bytes) -> str:
    text: str = _load(b'"%s"' % part)
    return text

"""A difference between C and Rust in words: the smallest call that shows it, what came of it."""

from __future__ import annotations

import contextlib
import errno
import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_ls.core.words import Words, together

SHOWN = 24
"""Bytes of a piece of memory, or of what was printed, that are shown."""
MOST = 4
"""Differences that are shown for one call."""
_DAMAGED = (KeyError, TypeError, ValueError, IndexError, AttributeError, struct.error)

Said = Mapping[str, Any]
"""What the executor answered, or a record of it."""


def difference_of(record: Mapping[str, Any]) -> Words | None:
    """Return what a record of `equivalence.jsonl` has as its example: `twice(x = 3): the result is
    6 in C and 5 in Rust`; None when it has none, or a damaged one.
    """
    with contextlib.suppress(*_DAMAGED):
        example = record["example"]
        parts = list(_parts(example["c"], example["rust"], record))
        told = [*parts[:MOST], *([Words("and more")] if len(parts) > MOST else [])]
        if told:
            return Words("{call}: {what}", call=_call(record), what=together(told, "; "))
    return None


def _names(record: Said) -> list[str]:
    """Return what the parameters are called, in order; those without a name go by their number."""
    given = record["example"]["request"]["arguments"]
    known = [*record.get("parameters", []), *[""] * len(given)][: len(given)]
    return [name or f"#{number}" for number, name in enumerate(known, 1)]


def _call(record: Said) -> str:
    """Return the call as a C programmer would write it, with what pointers lead to."""
    request = record["example"]["request"]
    given = zip(_names(record), request["arguments"], strict=True)
    told = [f"{name} = {_value(kind, value, request)}" for name, (kind, value) in given]
    return f"{record['function']}({', '.join(told)})"


def _value(kind: Any, value: Any, request: Said) -> str:
    if isinstance(kind, list):
        return f"{{{_hex(bytes.fromhex(value['data']))}}}"
    if kind == "p":
        return _pointer(value, request)
    if kind.startswith("f"):
        return f"{struct.unpack('<d', bytes.fromhex(value))[0]!r}"
    return str(value)


def _pointer(value: Any, request: Said) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        data = bytes.fromhex(request["blocks"][value[0]]["data"])[value[1] :]
        text = data.partition(b"\0")[0]
        if text and all(32 <= byte < 127 for byte in text):
            return f'"{text[:SHOWN].decode()}"' + ("…" if len(text) > SHOWN else "")
        return f"{{{_hex(data)}}}"
    ((kind, which),) = value.items()
    if kind == "function":
        return str(which)
    if kind == "made":
        return f"{request['steps'][which]['symbol']}(…)"
    return "FILE" if kind == "file" else "…"


def _hex(data: bytes) -> str:
    """Bytes, without the zeros at their end."""
    told = data.rstrip(b"\0")[:SHOWN].hex(" ") or "0"
    return told if len(data) <= SHOWN and not data.endswith(b"\0") else f"{told} …"


def _parts(c: Said, rust: Said, record: Said) -> Iterator[Words]:
    """Each thing that differs."""
    if c["end"] != rust["end"]:
        yield _differ(Words("how the call ends"), c["end"], rust["end"])
        return
    if c.get("result") != rust.get("result"):
        told = [_result(side.get("result"), record) for side in (c, rust)]
        yield _differ(Words("the result"), *told)
    if c.get("errno") != rust.get("errno"):
        yield _differ("errno", *(_error(side.get("errno")) for side in (c, rust)))
    for place in sorted({*c["memory"], *rust["memory"]}):
        before, after = (side["memory"].get(place, []) for side in (c, rust))
        if before != after:
            yield _memory(_place(place, record), before, after)
    for name in ("stdout", "stderr"):
        if c.get(name) != rust.get(name):
            yield _differ(name, *(repr(side.get(name, "")[:SHOWN]) for side in (c, rust)))
    if c.get("files") != rust.get("files"):
        yield Words("a stream argument is left in a different state")


def _differ(what: str, c: str, rust: str) -> Words:
    return Words("{what} is {c} in C and {rust} in Rust", what=what, c=c, rust=rust)


def _result(value: Any, record: Said) -> str:
    kind = record["example"]["request"]["result"]
    if isinstance(kind, str) and kind.startswith("f") and value != "nan":
        return repr(struct.unpack("<d", bytes.fromhex(value))[0])
    if isinstance(value, str) and value.startswith("text "):
        return repr(bytes.fromhex(value[5:]).decode("utf-8", "replace"))
    return str(_place(value, record)) if isinstance(value, str) else str(value)


def _error(code: Any) -> str:
    return errno.errorcode.get(code, str(code))


def _memory(place: str, c: Any, rust: Any) -> Words:
    """Return what was written to a piece of memory, at the first word that is another."""
    if "freed" in (c, rust):
        states = [Words("freed" if side == "freed" else "not freed") for side in (c, rust)]
        return _differ(place, *states)
    first, second = dict(c), dict(rust)
    at = min(offset for offset in {*first, *second} if first.get(offset) != second.get(offset))
    words = [_word(side[at]) if at in side else Words("unchanged") for side in (first, second)]
    return Words(
        "{place} at byte {offset} is {c} in C and {rust} in Rust",
        place=place,
        offset=at,
        c=words[0],
        rust=words[1],
    )


def _word(word: str) -> str:
    """Eight bytes as they are there, or what they point to."""
    return bytes.fromhex(word).hex(" ") if re.fullmatch("(?:[0-9a-f]{2})+", word) else word


def _place(name: str, record: Said) -> str:
    """Return a piece of memory, by the parameter that leads to it, with what is behind a `+`."""
    block = re.fullmatch(r"block (\d+)(\+\d+)?", name)
    if block is None:
        return name
    given = record["example"]["request"]["arguments"]
    for parameter, (kind, value) in zip(_names(record), given, strict=True):
        if kind == "p" and value == [int(block[1]), 0]:
            more = "" if block[2] in (None, "+0") else f" {block[2].replace('+', '+ ')}"
            return f"{parameter}{more}" if block[2] else f"*{parameter}"
    return name

"""Functions of C whose head is a call of a macro: `METHOD(store_t, find, bool, this_t *this) {`.

The grammar reads such a head as a call and the body as a block that stands alone, so nothing in it
would be examined. The parser is given a head of the same length instead, in which the name and the
parameters are where they were.
"""

from __future__ import annotations

import re
from itertools import chain, islice

_HEAD = rb"(?:static[ \t]+)?([A-Z][A-Z0-9_]{2,60})[ \t]*\("
_FIRST_HEAD, _LATER_HEAD = re.compile(_HEAD), re.compile(rb"\n" + _HEAD)
"""A macro's call at the start of a line: inside functions, lines are indented. What begins with a
certain byte is searched faster than by `^`."""
_DEFINES = re.compile(rb"DEF|FUNC|METHOD|HANDLER|COMMAND|CMD|PROC")
"""Macros that define functions, by the usual names."""
_BODY = re.compile(rb"\)(?:\s|/\*[^*]{0,200}\*/)*\{")
_PLAIN = re.compile(rb"\s*[A-Za-z_]\w*\s*")
_DECLARATION = re.compile(
    rb"\s*(?:(?:const|volatile|struct|union|enum|unsigned|signed|register)\s+)*"
    rb"[A-Za-z_]\w*(?:\s+const)?(?:\s+|\s*\*[\s*]*)(?:(?:const|restrict)\s+)?[A-Za-z_]\w*"
    rb"\s*(?:\[\w*\]\s*)*"
)
_TYPE = re.compile(
    rb"\s*(?:\w+_t|void|bool|int|char|short|long|float|double|size_t|unsigned|status\w*)\s*"
)
_PAIRED = re.compile(rb"(?:COMPAT_)?SYSCALL_DEFINE[1-6]")
"""Macros whose parameters are given as type, name, type, name."""
_LONGEST = 2_000
_MOST = 2_000
"""Bytes of a head, and heads of a file, that are examined."""
_RETURNED = b"int"
_RETURN_TYPE = re.compile(rb"(?:(?:const|struct|enum|unsigned)\s+)*[A-Za-z_]\w*[\s*]*")


def with_heads(data: bytes) -> bytes:
    """Return a text of the same length in which heads that are calls of macros are heads of
    functions. One that does not say what is returned gets `int`."""
    first = _FIRST_HEAD.match(data)
    pieces, done = [], 0
    for match in islice(chain([first] if first else [], _LATER_HEAD.finditer(data)), _MOST):
        if match.start() < done:
            continue
        opening = match.end() - 1
        parts = _arguments(data, opening)
        written = None if parts is None else _head(data, match, parts)
        if written is not None:
            pieces += [data[done : match.start(1)], written]
            done = match.start(1) + len(written)
    return b"".join([*pieces, data[done:]]) if pieces else data


def _arguments(data: bytes, opening: int) -> list[tuple[int, int]] | None:
    """Return where the arguments behind a parenthesis are; None unless the body of a function
    follows."""
    parts, depth, start, at = [], 0, opening + 1, opening
    end = min(len(data), opening + _LONGEST)
    while at < end:
        byte = data[at]
        if byte in b"([":
            depth += 1
        elif byte in b")]":
            depth -= 1
            if not depth:
                parts.append((start, at))
                return parts if _BODY.match(data, at) else None
        elif byte == 0x2C and depth == 1:  # a comma
            parts.append((start, at))
            start = at + 1
        elif byte == 0x22:  # a quote
            closing = _closing_quote(data, at + 1, end)
            if closing < 0:
                return None
            at = closing
        elif byte in b"{};#":
            return None
        at += 1
    return None


def _closing_quote(data: bytes, at: int, end: int) -> int:
    while at < end and data[at] != 0x22:
        at += 2 if data[at] == 0x5C else 1
    return at if at < end else -1


def _head(data: bytes, match: re.Match[bytes], parts: list[tuple[int, int]]) -> bytes | None:
    """Return what the parser is given in place of a head, from the macro's name to the closing
    parenthesis; None when it is not known which argument is the name."""
    macro, start, returned = match[1], match.start(1), _RETURNED
    if _PAIRED.fullmatch(macro):
        name, parameters = (
            parts[0],
            [
                (first[0], second[1])
                for first, second in zip(parts[1::2], parts[2::2], strict=False)
            ],
        )
    else:
        parameters = [part for part in parts if _declares(data, part)]
        if not parameters and not _DEFINES.search(macro):
            return None
        before = [part for part in parts if not parameters or part[0] < parameters[0][0]]
        plain = [part for part in before if _PLAIN.fullmatch(data, *part)]
        named = [part for part in plain if not _TYPE.fullmatch(data, *part)]
        if not named or len(parts) == 1:
            return None
        name = named[-1] if parameters else named[0]
        behind = [part for part in before if part > name]
        if parameters and behind:
            returned = data[slice(*behind[-1])].strip()
    end = parts[-1][1]
    if not _PLAIN.fullmatch(data, *name) or name[1] >= end:
        return None
    written = bytearray(re.sub(rb"[^\n]", b" ", data[start:end]))
    if not _RETURN_TYPE.fullmatch(returned) or len(returned) >= name[0] - start:
        returned = _RETURNED
    written[: len(returned)] = returned
    for index, (first, last) in enumerate((name, *parameters)):
        text = data[first:last]
        if index and _PAIRED.fullmatch(macro):
            text = text.replace(b",", b" ")
        written[first - start : last - start] = text
        if index > 1:
            written[first - 1 - start : first - start] = b","
    written[name[1] - start : name[1] + 1 - start] = b"("
    return bytes(written)


def _declares(data: bytes, part: tuple[int, int]) -> bool:
    return _DECLARATION.fullmatch(data, *part) is not None

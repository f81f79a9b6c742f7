"""How long the string at a pointer is, as far as the writes near it say."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.c.buffer_sizes import extent, index_of, pointee
from jarvis_ls.jsec.local.c.reaching_definitions import reaching, region_at
from jarvis_ls.jsec.local.constants import constant, literal_length, string_literal

COPIES = frozenset({"strcpy", "wcscpy", "stpcpy", "lstrcpy", "lstrcpyA", "lstrcpyW"})
APPENDS = frozenset({"strcat", "wcscat", "lstrcat", "lstrcatA", "lstrcatW"})
FILLS = frozenset({"memset", "wmemset"})
GROWS = frozenset({"append", "assign", "insert", "push_back", "replace"})
"""Methods that put text into a string object."""

READERS = frozenset(
    "strlen wcslen strnlen strcmp strncmp wcscmp wcsncmp printf wprintf puts fputs "
    "fprintf fwprintf strchr strrchr strstr free assert".split()
)
"""Functions that leave the text they are given as it is."""

_ZEROS = frozenset(
    {
        "0",
        "0x00",
        "NULL",
        "NUL",
        "EOS",
        "(char)0",
        "'\\0'",
        "'\\x0'",
        "'\\x00'",
        "'\\000'",
        "L'\\0'",
        "u'\\0'",
        "TEXT('\\0')",
    }
)
_SHORT_TEXTS = {"strerror": 255, "strsignal": 255, "inet_ntoa": 15, "ctime": 25, "asctime": 25}
"""Functions that return a short text, and the most characters of it."""

_MAX_EVENTS = 24


@dataclass(frozen=True, slots=True)
class Length:
    """What is known of the length of a string, in characters without the terminator."""

    exact: int | None
    """Its length for certain."""
    most: int | None
    """The most it can be."""


UNKNOWN = Length(None, None)


class Content(NamedTuple):
    """One place that changes what a buffer holds."""

    at: int
    """Byte after which it does."""
    node: Node
    """The call or assignment."""
    call: Call | None
    """The call the buffer is given to as an argument."""
    argument: int
    """Index of that argument; -1 when it is the object a method such as `append` is called on."""


def length(node: Node | None, function: Function | None, fuel: int = 4) -> Length:
    """Return the length of the string a pointer expression points to."""
    if node is None or fuel <= 0:
        return UNKNOWN
    node = bare(node)
    if node.type == "conditional_expression":
        sides = [length(field(node, n), function, fuel - 1) for n in ("consequence", "alternative")]
        most = [s.most for s in sides if s.most is not None]
        return Length(None, max(most)) if len(most) == 2 else UNKNOWN
    literal = string_literal(node, function)
    if literal is not None:
        found = literal_length(literal)
        return Length(found, found)
    if node.type == "call_expression":
        return Length(None, _SHORT_TEXTS.get(text(field(node, "function"))))
    if function is None or node.type not in ("identifier", "field_expression"):
        return UNKNOWN
    exact = _exact(node, function, fuel)
    if exact is not None:
        return Length(exact, exact)
    memory = extent(node, function)
    if memory is None or memory.size.unit or memory.offset < 0:
        return UNKNOWN
    return Length(None, max(0, memory.size.count // character(node, function) - 1))


def character(node: Node | None, function: Function | None) -> int:
    """Bytes of one character of the text at a pointer: 4 for `wchar_t`, else 1."""
    if node is not None and text(bare(node)).startswith('L"'):
        return 4
    size = pointee(node, function)
    return 4 if size is not None and size.count == 4 and not size.unit else 1


def names_of(node: Node | None, function: Function, fuel: int = 4) -> list[str]:
    """Return the name a pointer expression starts from and the names it was set from."""
    if node is None or fuel <= 0:
        return []
    node = bare(node)
    if node.type == "binary_expression":
        return names_of(field(node, "left"), function, fuel - 1)
    if node.type == "pointer_expression":
        return names_of(field(node, "argument"), function, fuel - 1)
    if node.type == "subscript_expression":
        return names_of(field(node, "argument"), function, fuel - 1)
    name = text(node)
    if node.type != "identifier":
        return [name] if node.type == "field_expression" else []
    names = [name]
    for write in (reaching(function, name, node.start_byte) or [])[:4]:
        if write.operator == "=" and write.value is not None and _is_place(write.value):
            names.extend(names_of(write.value, function, fuel - 1))
    return names


def contents_before(function: Function, names: list[str], at: int) -> Iterator[Content]:
    """Yield the last few places before a byte that change what the buffers of these names hold,
    latest first."""
    latest: list[Content] = []
    for name in dict.fromkeys(names):
        events = _contents(function).get(name, [])
        last = bisect_right(events, at, key=lambda e: e.at)
        latest.extend(events[max(0, last - _MAX_EVENTS) : last])
    yield from sorted(latest, key=lambda e: -e.at)[:_MAX_EVENTS]


def only_literals(node: Node | None, function: Function, at: int) -> bool:
    """Return whether the text at a pointer is put together from string literals alone: every copy
    or append to it before `at` is of a literal, nothing else is given its address.
    """
    names = names_of(node, function)
    seen = False
    for event in contents_before(function, names, at):
        call = event.call
        if call is None:
            continue
        if event.argument != 0 or call.name not in COPIES | APPENDS | FILLS:
            if call.name in READERS:
                continue
            return False
        if call.name in FILLS:
            continue
        if string_literal(call.arg(1), function) is None:
            return False
        seen = True
    return seen


def literal_content(node: Node | None, function: Function | None) -> str | None:
    """Return the text at a pointer when it is a literal, or one was copied there last; else
    None.
    """
    literal = string_literal(node, function)
    if literal is not None or node is None or function is None:
        return literal
    for event in contents_before(function, names_of(node, function), node.start_byte):
        call = event.call
        if call is None or (event.argument == 0 and call.name in FILLS) or call.name in READERS:
            continue
        if event.argument != 0 or call.name not in COPIES:
            return None
        return string_literal(call.arg(1), function)
    variable = function.variable(text(bare(node)), node.start_byte)
    if variable is None or len(function.uses(variable.name, end=node.start_byte)) > 1:
        return None
    return string_literal(variable.initial, function)  # no one had it since


def is_terminated(function: Function, names: list[str], start: int, end: int) -> bool:
    """Return whether a zero is stored in one of these buffers between two bytes."""
    for name in dict.fromkeys(names):
        events = _contents(function).get(name, [])
        first = bisect_left(events, start, key=lambda e: e.at)
        last = bisect_right(events, end, key=lambda e: e.at)
        for event in events[first : min(last, first + _MAX_EVENTS)]:
            if event.call is None and _stores_zero(event.node):
                return True
    return False


def _exact(node: Node, function: Function, fuel: int) -> int | None:
    """Return the length that the last writes before `node` give: a copied literal, an initialiser,
    or characters filled in and a zero stored behind them.
    """
    names = names_of(node, function)
    zero: int | None = None
    here = region_at(function, node.start_byte)
    for event in contents_before(function, names, node.start_byte):
        region = region_at(function, event.node.start_byte)
        if region is not None and region is not here and not region.holds(node.start_byte):
            return None
        if event.call is None:
            place = _zero_place(event.node, function)
            if place is None:
                return None
            zero = place if zero is None else min(zero, place)
            if zero == 0:
                return 0
            continue
        call = event.call
        if event.argument != 0:
            if call.name in READERS | COPIES | APPENDS:
                continue
            return None
        if call.name in READERS:
            continue
        if call.name in COPIES:
            return length(call.arg(1), function, fuel - 1).exact
        if call.name in APPENDS:
            before, more = length(call.arg(0), function, fuel - 1), length(call.arg(1), function, 1)
            return None if before.exact is None or more.exact is None else before.exact + more.exact
        if call.name in FILLS and constant(call.arg(1), function) not in (0, None):
            return zero
        return 0 if call.name in FILLS and constant(call.arg(1), function) == 0 else None
    return _initial(names, node, function)


def _initial(names: list[str], node: Node, function: Function) -> int | None:
    for name in names:
        variable = function.variable(name, node.start_byte)
        if variable is not None and variable.is_array and variable.initial is not None:
            literal = string_literal(variable.initial, function)
            return None if literal is None else literal_length(literal)
    return None


def _is_place(node: Node) -> bool:
    return bare(node).type in (
        "identifier",
        "field_expression",
        "binary_expression",
        "pointer_expression",
    )


def _zero_place(assignment: Node, function: Function) -> int | None:
    if not _stores_zero(assignment):
        return None
    left = bare(field(assignment, "left") or assignment)
    if left.type == "pointer_expression":
        return 0
    return constant(index_of(left), function)


def _stores_zero(assignment: Node) -> bool:
    written = text(field(assignment, "right"))
    return written in _ZEROS


@once_per_function
def _contents(function: Function) -> dict[str, list[Content]]:
    found: dict[str, list[Content]] = {}
    for node in function.nodes("assign"):
        left = bare(field(node, "left") or node)
        if left.type in ("subscript_expression", "pointer_expression"):
            name = text(bare(field(left, "argument") or left))
            found.setdefault(name, []).append(Content(node.end_byte, node, None, 0))
    for call in function.calls:
        if call.receiver is not None and call.name in GROWS:
            event = Content(call.node.end_byte, call.node, call, -1)
            found.setdefault(text(call.receiver), []).append(event)
        for index, argument in enumerate(call.arguments):
            base = bare(argument)
            for _ in range(8):
                if base.type == "binary_expression":
                    base = bare(field(base, "left") or base)
                elif base.type in ("pointer_expression", "subscript_expression"):
                    base = bare(field(base, "argument") or base)
                else:
                    break
            if base.type in ("identifier", "field_expression"):
                event = Content(call.node.end_byte, call.node, call, index)
                found.setdefault(text(base), []).append(event)
    for events in found.values():
        events.sort(key=lambda event: event.at)
    return found

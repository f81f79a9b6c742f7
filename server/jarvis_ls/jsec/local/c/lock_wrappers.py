"""Threads and locks behind functions of the program's own, told by how they are used: what starts
a thread takes the function and the address of a handle that is waited for later; what guards takes
one lock, and another function takes the same lock behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_file
from jarvis_ls.jsec.base.match_site import WholeUnit

_WORK = re.compile(rb"void\s{0,8}\*\s{0,8}\w{0,80}\s{0,8}\)\s{0,16}\{")
"""What a definition with one parameter, a `void *`, has behind its name and the bracket."""
_NAME_BEFORE = re.compile(rb"([A-Za-z_]\w{0,80})\s{0,8}\(\s{0,8}$")
_BEFORE = re.compile(rb"[(,]\s{0,16}&?$")
_BEHIND = re.compile(rb"\s{0,8},")
MAX_NAMES = 64
"""Such functions of one file that are looked for."""
MAX_CALLS = 400
"""Calls examined in one function."""


@once_per_file
def starts_wrapped(whole: WholeUnit) -> list[tuple[str, Function, Node]]:
    """Return calls that start threads through a function of another file: the name of the thread
    function, the function that starts it, and the call. Only when two such calls in one function
    start the same thread function, and each handle whose address they take is passed to a call
    later."""
    data = whole.unit.source.data
    names = {name for name in islice(_works(data), MAX_NAMES) if _is_given_twice(data, name)}
    if not names:
        return []
    found: list[tuple[str, Function, Node]] = []
    defined = whole.unit.facts.defined
    bodies = [name for name in whole.by_name if name.encode() in names]
    for name in bodies:
        for function in whole.mentioning(name.encode()):
            if function.name == name:
                continue
            made = [
                call
                for call in function.calls[:MAX_CALLS]
                if call.name not in defined and not call.is_method and _is_awaited(call, name)
            ]
            if len(made) > 1 and len({call.name for call in made}) == 1:
                found += [(name, function, call.node) for call in made]
    return found


def _works(data: bytes) -> Iterator[bytes]:
    """Names of the functions defined with one parameter, a `void *`."""
    seen = set()
    for match in _WORK.finditer(data):
        name = _NAME_BEFORE.search(data[max(0, match.start() - 99) : match.start()])
        if name is not None and name[1] not in seen:
            seen.add(name[1])
            yield name[1]


def _is_given_twice(data: bytes, name: bytes) -> bool:
    """Return whether a function is handed to another twice, with something behind."""
    given = 0
    at = data.find(name)
    while at >= 0 and given < 2:
        end = at + len(name)
        given += _BEHIND.match(data, end) is not None and (
            _BEFORE.search(data[max(0, at - 18) : at]) is not None
        )
        at = data.find(name, end)
    return given > 1


def lock_wrapped(function: Function, place: Node) -> bool:
    """Return whether a call before a place and another function's call behind it take the same
    variable of the file (or a parameter), and nothing else: one takes the lock, the other gives it
    back.
    """
    before: dict[str, str] = {}
    for call in function.calls[:MAX_CALLS]:
        if len(call.arguments) != 1 or call.statement is None or call.is_method:
            continue
        given = text(call.arguments[0]).lstrip("& ")
        if call.node.end_byte <= place.start_byte:
            before[given] = call.name
        elif call.node.start_byte >= place.end_byte:
            taken = before.get(given, call.name)
            shared = function.unit.facts.variables.get(given)
            if taken != call.name and shared is not None and given not in text(place):
                return True
    return False


def _is_awaited(call: Call, name: str) -> bool:
    """Return whether a call takes the function `name` and the address of a handle that another call
    takes later."""
    given = [text(argument).lstrip("(& ") for argument in call.arguments[:6]]
    if name not in given or call.function is None:
        return False
    handles = {
        text(argument).lstrip("& ")
        for argument in call.arguments[:6]
        if text(argument).startswith("&")
    } - {name}
    return any(
        later.node.start_byte > call.node.end_byte
        and later.name != call.name
        and any(text(argument) in handles for argument in later.arguments[:3])
        for later in call.function.calls[:MAX_CALLS]
    )

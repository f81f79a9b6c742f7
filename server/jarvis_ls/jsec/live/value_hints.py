"""What is known of memory and input in a function, for editors to show as inlay hints: how many
bytes an array or an allocation has, and where a value from outside enters."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function, Unit
from jarvis_ls.codeintel.nodes import field, operator_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.top_level_items import Item
from jarvis_ls.jsec.live.records import ValueHint
from jarvis_ls.jsec.local.c.buffer_sizes import ALLOCATORS, allocation_size, extent
from jarvis_ls.jsec.local.c.inputs import FILLERS, number_source, text_source

_MOST = 500
"""Most hints of an answer: after so many no further function is read."""


def value_hints(
    unit: Unit, found: list[Item], functions: list[tuple[str, int, int]], lines: tuple[int, int]
) -> list[ValueHint]:
    """Return what is known in the functions that lines, from first to last, show a part of.

    `functions` has name and bytes of each function, in order; `found` the items of the file.
    """
    first, last = (unit.source.offset(line, 1) for line in (lines[0], lines[1] + 1))
    hints: dict[tuple[int, int, str], ValueHint] = {}
    for _, start, end in functions:
        if end <= first or start >= last:
            continue
        item = next((item for item in found if item.start <= start and end <= item.end), None)
        node = None if item is None else item.node.descendant_for_byte_range(start, end)
        if item is None or node is None:
            continue
        for hint in _of_function(Function(unit, item, node)):
            if lines[0] <= hint.line <= lines[1]:
                hints.setdefault((hint.line, hint.column, hint.source), hint)
        if len(hints) >= _MOST:
            break
    return sorted(hints.values(), key=lambda hint: (hint.line, hint.column))


def _of_function(function: Function) -> Iterator[ValueHint]:
    for variables in function.variables.values():
        for variable in variables:
            if variable.arrays and not variable.is_parameter:
                yield from _size(function, variable.node)
            yield from _origin(function, variable.node, variable.initial)
    for assignment in function.nodes("assign"):
        target = field(assignment, "left")
        if target is not None and operator_of(assignment) == "=":
            yield from _origin(function, target, field(assignment, "right"))
    for call in function.calls:
        yield from _of_call(function, call)


def _size(function: Function, name: Node) -> Iterator[ValueHint]:
    memory = extent(name, function)
    above = name.parent
    if memory is None or memory.kind != "array" or memory.size.unit or above is None:
        return
    while above.parent is not None and above.parent.type == "array_declarator":
        above = above.parent
    place = above if above.type == "array_declarator" else name
    yield _hint(function, place, size=memory.size.count)


def _origin(function: Function, target: Node, value: Node | None) -> Iterator[ValueHint]:
    source = number_source(value, function) or text_source(value, function)
    if source is not None:
        yield _hint(function, target, source=source.name)


def _of_call(function: Function, call: Call) -> Iterator[ValueHint]:
    if call.name in ALLOCATORS:
        size = allocation_size(call)
        if size is not None and not size.unit:
            yield _hint(function, call.node, size=size.count)
    for place in FILLERS.get(call.name, ()):
        argument = call.arg(place)
        if argument is None:
            return
        yield _hint(function, argument, source=call.name)


def _hint(function: Function, node: Node, *, size: int = -1, source: str = "") -> ValueHint:
    line, column = function.unit.source.position(node.end_byte)
    return ValueHint(line, column, size, source)

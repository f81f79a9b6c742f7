"""Which writes of a variable may be seen at a place of the same function.

A function's conditional parts (branches, loop bodies, `case` groups) are its regions. A write
ends the search backwards when every region around it is also around the place; a write in a
region that leaves the function, or in another branch of the same `if`, is not seen. Loops
bring writes further down back up. `goto` is not followed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from jarvis_ls.codeintel.functions import Call, Function, call_at
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.constants import constant
from jarvis_ls.jsec.local.guards import leaves

_MAX_WRAPPING = 16
_INPUT = frozenset({"cin"})

MAX_WRITES = 32
"""Writes examined for one question; with more of them nothing is known."""


class Write(NamedTuple):
    """One place that changes a variable."""

    at: int
    """Byte after which the variable has the new value."""
    node: Node
    """The assignment, declarator, update or argument."""
    value: Node | None = None
    """What is assigned, for `=` and initialisers."""
    operator: str = "="
    """`=`, `+=` and so on, `++`, `--`, `>>` of a C++ stream, `&` for an argument of a call,
    `declared` for a declaration without a value."""
    call: Call | None = None
    """The call that is given its address."""


class Region(NamedTuple):
    """A part of a function that may run or not."""

    start: int
    end: int
    owner: int
    """First byte of the statement it is a part of."""
    branch: int
    """Two regions of one owner and different branches exclude each other (0: none does)."""
    node: Node
    outer: Region | None
    """The region around it."""

    def holds(self, offset: int) -> bool:
        """Return whether a byte is in it."""
        return self.start <= offset < self.end


def reaching(function: Function, name: str, at: int) -> list[Write] | None:
    """Return the writes of local or file-scope variable `name` that may be seen at byte `at`,
    nearest first; None when they are too many to tell. Empty when nothing in the function writes
    it.
    """
    writes, positions = _writes(function).get(name, ([], []))
    variable = function.variable(name, at)
    place = region_at(function, at)
    found: list[Write] = []
    killed = function.start
    first = bisect_right(positions, at)
    for write in reversed(writes[max(0, first - MAX_WRITES) : first]):
        if function.variable(name, write.node.start_byte) is not variable:
            continue
        if not _arrives(function, write, at, place):
            continue
        found.append(write)
        region = region_at(function, write.node.start_byte)
        if region is None or region.holds(at):
            killed = write.at
            break
    else:
        if first > MAX_WRITES:
            return None
    found.extend(_from_below(function, name, at, place, killed, writes, positions))
    return None if len(found) > MAX_WRITES else found


def region_at(function: Function, offset: int) -> Region | None:
    """Return the innermost region around a byte."""
    regions, starts = _regions(function)
    index = bisect_right(starts, offset) - 1
    region = regions[index] if index >= 0 else None
    while region is not None and not region.holds(offset):
        region = region.outer
    return region


def _from_below(
    function: Function,
    name: str,
    at: int,
    place: Region | None,
    killed: int,
    writes: list[Write],
    positions: list[int],
) -> Iterator[Write]:
    """Yield writes after `at` that reach it through the back edge of a loop around it."""
    variable = function.variable(name, at)
    loop = None
    region = place
    while region is not None and region.start > killed:
        if _is_loop(region):
            loop = region
        region = region.outer
    if loop is None:
        return
    first, last = bisect_right(positions, at), bisect_left(positions, loop.end)
    for write in writes[first : min(last, first + MAX_WRITES)]:
        if function.variable(name, write.node.start_byte) is variable:
            yield write


def _arrives(function: Function, write: Write, at: int, place: Region | None) -> bool:
    """Return whether control may come from `write` to a later byte."""
    region = region_at(function, write.node.start_byte)
    outermost = None
    while region is not None and not region.holds(at):
        if _returns(region.node):
            return False
        outermost, region = region, region.outer
    if outermost is None or outermost.branch == 0:
        return True
    while place is not None:
        if place.owner == outermost.owner and place.branch != outermost.branch:
            return False
        place = place.outer
    return True


def _returns(node: Node) -> bool:
    last = node
    for _ in range(16):
        if last.type in ("else_clause", "compound_statement") and last.named_child_count:
            last = last.named_children[-1]
        else:
            break
    if last.type in ("break_statement", "continue_statement", "goto_statement"):
        return False
    return leaves(last)


def _is_loop(region: Region) -> bool:
    return region.branch == 0 and region.node.type != "case_statement"


@once_per_function
def _regions(function: Function) -> tuple[list[Region], list[int]]:
    """Regions in order of their first byte, each knowing the one around it."""
    parts = sorted(_parts(function), key=lambda p: (p[0].start_byte, -p[0].end_byte))
    regions: list[Region] = []
    outer: Region | None = None
    for node, owner, branch in parts:
        while outer is not None and outer.end <= node.start_byte:
            outer = outer.outer
        outer = Region(node.start_byte, node.end_byte, owner, branch, node, outer)
        regions.append(outer)
    return regions, [region.start for region in regions]


def _parts(function: Function) -> Iterator[tuple[Node, int, int]]:
    for node in (*function.nodes("if"), *function.nodes("ternary")):
        known = _constant_condition(node, function)
        for branch, name in enumerate(("consequence", "alternative"), 1):
            part = field(node, name)
            if part is not None and not (known is True and branch == 1):
                yield part, node.start_byte, branch
    for node in function.nodes("loop"):
        body, update = field(node, "body"), field(node, "update")
        if update is not None:
            yield update, node.start_byte, 0
        if (
            body is not None
            and node.type != "do_statement"
            and _constant_condition(node, function) is None
        ):
            yield body, node.start_byte, 0
    for node in function.nodes("switch"):
        body = field(node, "body")
        for part in body.named_children if body is not None else ():
            if part.type == "case_statement":
                yield part, node.start_byte, 0


def _constant_condition(node: Node, function: Function) -> bool | None:
    """Return the constant truth value of a condition, or None."""
    condition = field(node, "condition")
    if condition is None:
        return None
    if condition.type in ("parenthesized_expression", "condition_clause"):
        inner = [c for c in condition.named_children if c.type != "comment"]
        condition = inner[0] if len(inner) == 1 else condition
    condition = bare(condition)
    if condition.type not in ("number_literal", "true", "false"):
        return None
    if condition.type != "number_literal":
        return condition.type == "true"
    value = constant(condition, function)
    return None if value is None else value != 0


@once_per_function
def _writes(function: Function) -> dict[str, tuple[list[Write], list[int]]]:
    """By name, the writes in order and the bytes after which they count."""
    found: dict[str, list[Write]] = {}
    for name, write in _all_writes(function):
        found.setdefault(name, []).append(write)
    for writes in found.values():
        writes.sort(key=lambda write: write.at)
    return {name: (writes, [write.at for write in writes]) for name, writes in found.items()}


def _all_writes(function: Function) -> Iterator[tuple[str, Write]]:
    for variables in function.variables.values():
        for variable in variables:
            if variable.is_parameter:
                continue
            initial = variable.initial
            at = variable.node.end_byte if initial is None else initial.end_byte
            operator = "declared" if initial is None else "="
            yield variable.name, Write(at, variable.node, initial, operator)
    for node in function.nodes("assign"):
        operator = operator_of(node)
        value = field(node, "right") if operator == "=" else None
        yield _key(field(node, "left")), Write(node.end_byte, node, value, operator)
    for node in function.nodes("update"):
        operator = operator_of(node)
        yield _key(field(node, "argument")), Write(node.end_byte, node, None, operator)
    for node in function.nodes("binary") if function.mentions(_INPUT) else ():
        left = text(field(node, "left"))
        if operator_of(node) == ">>" and left.startswith(("cin", "std::cin")):
            yield _key(field(node, "right")), Write(node.end_byte, node, None, ">>")
    calls: dict[int, tuple[Call | None, set[int]]] = {}
    for node in function.nodes("deref"):
        if operator_of(node) != "&" or (argument := _as_argument(node)) is None:
            continue
        arguments = argument.parent
        owner = arguments.parent if arguments is not None else None
        if owner is None:
            continue
        if owner.id not in calls:
            call = call_at(function.unit, function.item, owner, function)
            calls[owner.id] = call, {a.id for a in call.arguments} if call is not None else set()
        call, passed = calls[owner.id]
        if call is not None and argument.id in passed:
            name = _key(field(node, "argument"))
            yield name, Write(owner.end_byte, argument, None, "&", call)


def _as_argument(node: Node) -> Node | None:
    """Return the argument of a call that `node` is, parentheses and casts around it included."""
    for _ in range(_MAX_WRAPPING):
        parent = node.parent
        if parent is None:
            return None
        if parent.type == "argument_list":
            outer = parent.parent
            return node if outer is not None and outer.type == "call_expression" else None
        if parent.type not in ("parenthesized_expression", "cast_expression"):
            return None
        node = parent
    return None


def _key(node: Node | None) -> str:
    return "" if node is None else text(bare(node)).replace(" ", "")

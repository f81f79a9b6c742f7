"""Local variables that are less than they could be: indices of loops and flags.

Both passes look at every place a variable is named in; one place that does not fit, and it stays
as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, rewritten

_INTEGER = re.compile(rb"[iu](?:8|16|32|64|size)\Z")
_LITERAL = re.compile(rb"-?\d[\d_]*(?:[iu](?:8|16|32|64|size))?\Z")
_BIT = re.compile(rb"([01])(?:[iu](?:8|16|32|64|size))?\Z")
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})


@dataclass(frozen=True, slots=True)
class _Loop:
    """`i = begin; while i < end { …; i = i.wrapping_add(1); }`, or declared so before it"""

    begun: Node
    """The statement before."""
    loop: Node
    step: Node
    """The last statement in it."""
    begin: Node
    end: Node
    whole: bool
    """Whether the end belongs to it."""


def iterators(source: Source, function: Node) -> bytes:
    """`while` over an index that nothing else uses becomes `for` over a range."""
    body = field(function, "body")
    if body is None:
        return source.text(function)
    declared = _declarations(source, body)
    places = _places(source, body)
    chosen: dict[int, _Loop] = {}
    gone: set[int] = set()
    for name, declaration in declared.items():
        loops = list(_loops(source, body, name))
        inside = [node for node in places.get(name, ()) if not _covers(declaration, node)]
        if not loops or not all(any(_belongs(loop, node) for loop in loops) for node in inside):
            continue
        if any(_covers(a.loop, b.loop) for a in loops for b in loops if a is not b):
            continue  # one inside of the other: the outer would lose its place
        chosen |= {loop.loop.start_byte: loop for loop in loops}
        gone |= {loop.begun.start_byte for loop in loops}
        gone |= {loop.step.start_byte for loop in loops} | {declaration.start_byte}
    for loop in _own_loops(source, body):
        chosen[loop.loop.start_byte] = loop
        gone |= {loop.begun.start_byte, loop.step.start_byte}

    def rule(node: Node, say: Say) -> bytes | None:
        if node.start_byte in gone and node.type in ("expression_statement", "let_declaration"):
            inner = first(node)
            if inner is None or inner.type != "while_expression":
                return b""
        if node.type == "block" and (alone := _alone(node, gone, chosen)) is not None:
            return say(alone)
        if node.type != "while_expression" or node.start_byte not in chosen:
            return None
        found = chosen[node.start_byte]
        name = _index(source, found)
        body = field(node, "body")
        label = next((c for c in node.children if c.type == "label"), None)
        head = source.text(label) + b": " if label is not None else b""
        dots = b"..=" if found.whole else b".."
        span = _end(source, found.begin) + dots + _end(source, found.end)
        return head + b"for " + name + b" in " + span + b" " + (b"" if body is None else say(body))

    return rewritten(source.data, function, rule)


def _own_loops(source: Source, body: Node) -> Iterator[_Loop]:
    """Loops whose index is declared right before them and named in them alone."""
    for declaration in below(body, "let_declaration"):
        name, kind, block = (
            _name(source, declaration),
            field(declaration, "type"),
            declaration.parent,
        )
        if kind is None or not _INTEGER.match(source.text(kind)) or block is None:
            continue
        found = next(
            (loop for loop in _loops(source, block, name) if loop.begun == declaration), None
        )
        if (
            found is None
            or sum(
                _name(source, node) == name
                for node in below(block, "let_declaration", "for_expression", "closure_parameters")
            )
            > 1
        ):
            continue
        places = [
            node
            for node in below(block, "identifier")
            if source.text(node) == name and node.start_byte >= declaration.end_byte
        ]
        if all(_belongs(found, node) for node in places):
            yield found


def _alone(block: Node, gone: set[int], chosen: Mapping[int, _Loop]) -> Node | None:
    """Return the loop, when a block that is a statement holds nothing else once its index is
    gone.
    """
    if block.parent is None or block.parent.type not in ("expression_statement", "block"):
        return None
    inside = block.named_children
    if len(inside) != 2 or inside[0].start_byte not in gone:
        return None
    loop = first(inside[1]) if inside[1].type == "expression_statement" else inside[1]
    return inside[1] if loop is not None and loop.start_byte in chosen else None


def flags(source: Source, function: Node) -> bytes:
    """Return an integer that is only set to 0 or 1, and only asked whether it is 0 or handed back
    at the end, becomes a `bool`.
    """
    body = field(function, "body")
    if body is None:
        return source.text(function)
    places = _places(source, body)
    chosen: dict[bytes, bytes] = {}
    for name, declaration in _declarations(source, body).items():
        uses = [node for node in places.get(name, ()) if not _covers(declaration, node)]
        begins = _BIT.match(_value(source, declaration))
        if uses and begins and all(_as_flag(source, node) for node in uses):
            kind = field(declaration, "type")
            chosen[name] = b"" if kind is None else source.text(kind)

    def rule(node: Node, say: Say) -> bytes | None:
        if node.type == "let_declaration" and _name(source, node) in chosen:
            value = b"true" if _value(source, node).startswith(b"1") else b"false"
            return b"let mut " + _name(source, node) + b": bool = " + value + b";"
        if node.type == "assignment_expression":
            left, right = field(node, "left"), field(node, "right")
            if left is None or right is None or source.text(left) not in chosen:
                return None
            return source.text(left) + b" = " + _truth(source, right, say)
        if node.type == "binary_expression":
            left = field(node, "left")
            if left is None or bare(left) is None or source.text(bare(left) or left) not in chosen:
                return None
            sign = field(node, "operator")
            name = source.text(bare(left) or left)
            return name if sign is not None and sign.type == "!=" else b"!" + name
        if node.type == "identifier" and source.text(node) in chosen and _is_result(node):
            return source.text(node) + b" as " + chosen[source.text(node)]
        return None

    return rewritten(source.data, function, rule) if chosen else source.text(function)


def _declarations(source: Source, body: Node) -> dict[bytes, Node]:
    """Integers that are declared once, by name."""
    found: dict[bytes, Node] = {}
    twice = set()
    for node in below(body, "let_declaration"):
        name, kind = _name(source, node), field(node, "type")
        if name in found:
            twice.add(name)
        if kind is not None and _INTEGER.match(source.text(kind)):
            found[name] = node
    return {name: node for name, node in found.items() if name not in twice}


def _name(source: Source, declaration: Node) -> bytes:
    pattern = field(declaration, "pattern")
    return b"" if pattern is None else source.text(pattern)


def _value(source: Source, declaration: Node) -> bytes:
    value = field(declaration, "value")
    return b"" if value is None else source.text(value)


def _places(source: Source, body: Node) -> dict[bytes, list[Node]]:
    found: dict[bytes, list[Node]] = {}
    for node in below(body, "identifier"):
        found.setdefault(source.text(node), []).append(node)
    return found


def _loops(source: Source, body: Node, name: bytes) -> Iterator[_Loop]:
    for loop in below(body, "while_expression"):
        statement = loop.parent
        if statement is None or statement.type != "expression_statement":
            statement = loop
        begun, condition, block = (
            statement.prev_named_sibling,
            field(loop, "condition"),
            field(loop, "body"),
        )
        if begun is None or condition is None or block is None or not block.named_children:
            continue
        step = block.named_children[-1]
        begin = _start_value(source, begun, name)
        end, sign = _loop_bound(source, condition, name)
        stepped = _set_to(source, step, name)
        if begin is None or end is None or stepped is None or not _is_next(source, stepped, name):
            continue
        if _may_change(source, end, block) or _goes_on(source, loop):
            continue
        if any(source.text(node) == name for node in below(begin, "identifier")):
            continue
        yield _Loop(begun, loop, step, begin, end, sign == "<=")


def _start_value(source: Source, statement: Node, name: bytes) -> Node | None:
    """Return the value that the statement before a loop gives its index."""
    if statement.type == "let_declaration" and _name(source, statement) == name:
        return field(statement, "value")
    return _set_to(source, statement, name)


def _set_to(source: Source, statement: Node, name: bytes) -> Node | None:
    inner = first(statement) if statement.type == "expression_statement" else None
    if inner is None or inner.type != "assignment_expression":
        return None
    left = field(inner, "left")
    return field(inner, "right") if left is not None and source.text(left) == name else None


def _loop_bound(source: Source, condition: Node, name: bytes) -> tuple[Node | None, str]:
    inner = bare(condition)
    if inner is None or inner.type != "binary_expression":
        return None, ""
    left, sign, right = field(inner, "left"), field(inner, "operator"), field(inner, "right")
    if left is None or sign is None or sign.type not in ("<", "<=") or source.text(left) != name:
        return None, ""
    return right, sign.type


def _is_next(source: Source, value: Node, name: bytes) -> bool:
    return (
        re.fullmatch(
            rb"\(?" + re.escape(name) + rb"\)?\.wrapping_add\(1(?:[iu]\w+)?\)", source.text(value)
        )
        is not None
    )


def _may_change(source: Source, end: Node, block: Node) -> bool:
    """Return whether the end of the range is other than a number or a variable that stays."""
    inner = bare(end)
    if inner is None or _LITERAL.match(source.text(inner)):
        return inner is None
    if inner.type != "identifier":
        return True
    for node in below(
        block, "assignment_expression", "compound_assignment_expr", "reference_expression"
    ):
        place = field(node, "value" if node.type == "reference_expression" else "left")
        if place is not None and source.text(place) == source.text(inner):
            return True
    return False


def _goes_on(source: Source, loop: Node) -> bool:
    """Return whether something in it continues with the next turn, past the step."""
    label = next((c for c in loop.children if c.type == "label"), None)
    for node in below(loop, "continue_expression"):
        to = next((c for c in node.children if c.type == "label"), None)
        if to is None or (label is not None and source.text(to) == source.text(label)):
            return True
    return False


def _covers(outer: Node, node: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _belongs(loop: _Loop, node: Node) -> bool:
    """Return whether a place is of the loop, and nothing that changes the index."""
    if _covers(loop.begun, node) and not _covers(loop.begin, node):
        return True
    if not _covers(loop.loop, node):
        return False
    if _covers(loop.step, node):
        return True
    around = node.parent
    while around is not None and around.type == "parenthesized_expression":
        node, around = around, around.parent
    if around is None or around.type == "reference_expression":
        return False
    changed = around.type in ("assignment_expression", "compound_assignment_expr")
    return not (changed and field(around, "left") == node)


def _index(source: Source, found: _Loop) -> bytes:
    if found.begun.type == "let_declaration":
        return _name(source, found.begun)
    inner = first(found.begun)
    left = None if inner is None else field(inner, "left")
    return b"_" if left is None else source.text(left)


def _end(source: Source, node: Node) -> bytes:
    inner = bare(node)
    simple = inner is not None and inner.type in ("identifier", "integer_literal")
    return source.text(inner) if simple and inner is not None else b"(" + source.text(node) + b")"


def _is_result(node: Node) -> bool:
    """Return whether a variable is what a function returns."""
    around = node.parent
    if around is None or around.type == "return_expression":
        return around is not None
    last = around.named_children[-1] if around.type == "block" else None
    return last == node and around.parent is not None and around.parent.type == "function_item"


def _as_flag(source: Source, node: Node) -> bool:
    if _is_result(node):
        return True
    around = node.parent
    while around is not None and around.type == "parenthesized_expression":
        node, around = around, around.parent
    if around is None:
        return False
    if around.type == "assignment_expression" and field(around, "left") == node:
        right = field(around, "right")
        return right is not None and _truth(source, right, source.text) != b""
    if around.type == "binary_expression" and field(around, "left") == node:
        sign, right = field(around, "operator"), field(around, "right")
        return (
            sign is not None
            and sign.type in ("==", "!=")
            and right is not None
            and (re.fullmatch(rb"0(?:[iu]\w+)?", source.text(right)) is not None)
        )
    return False


def _truth(source: Source, value: Node, say: Say) -> bytes:
    """Return a 0, a 1 or a comparison as a `bool`, else nothing."""
    inner = bare(value)
    while inner is not None and inner.type == "type_cast_expression":
        kind = field(inner, "type")
        if kind is None or not _INTEGER.match(source.text(kind)):
            return b""
        inner = bare(field(inner, "value"))
    if inner is None:
        return b""
    if bit := _BIT.match(source.text(inner)):
        return b"true" if bit[1] == b"1" else b"false"
    sign = field(inner, "operator") if inner.type == "binary_expression" else None
    return say(inner) if sign is not None and sign.type in _COMPARISONS else b""

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


def iterators(one: Source, function: Node) -> bytes:
    """`while` over an index that nothing else uses becomes `for` over a range."""
    body = field(function, "body")
    if body is None:
        return one.text(function)
    declared = _declared(one, body)
    places = _places(one, body)
    chosen: dict[int, _Loop] = {}
    gone: set[int] = set()
    for name, declaration in declared.items():
        loops = list(_loops(one, body, name))
        inside = [node for node in places.get(name, ())
                  if not _covers(declaration, node)]  # fmt: skip
        if not loops or not all(any(_belongs(loop, node) for loop in loops) for node in inside):
            continue
        if any(_covers(a.loop, b.loop) for a in loops for b in loops if a is not b):
            continue  # one inside of the other: the outer would lose its place
        chosen |= {loop.loop.start_byte: loop for loop in loops}
        gone |= {loop.begun.start_byte for loop in loops}
        gone |= {loop.step.start_byte for loop in loops} | {declaration.start_byte}
    for loop in _own_loops(one, body):
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
        name = _index(one, found)
        body = field(node, "body")
        label = next((c for c in node.children if c.type == "label"), None)
        head = one.text(label) + b": " if label is not None else b""
        dots = b"..=" if found.whole else b".."
        span = _end(one, found.begin) + dots + _end(one, found.end)
        return head + b"for " + name + b" in " + span + b" " + (b"" if body is None else say(body))

    return rewritten(one.data, function, rule)


def _own_loops(one: Source, body: Node) -> Iterator[_Loop]:
    """Loops whose index is declared right before them and named in them alone."""
    for declaration in below(body, "let_declaration"):
        name, kind, block = _name(one, declaration), field(declaration, "type"), declaration.parent
        if kind is None or not _INTEGER.match(one.text(kind)) or block is None:
            continue
        found = next((loop for loop in _loops(one, block, name) if loop.begun == declaration), None)
        if found is None or sum(_name(one, node) == name for node in below(block, "let_declaration",
                                "for_expression", "closure_parameters")) > 1:  # fmt: skip
            continue
        places = [node for node in below(block, "identifier") if one.text(node) == name
                  and node.start_byte >= declaration.end_byte]  # fmt: skip
        if all(_belongs(found, node) for node in places):
            yield found


def _alone(block: Node, gone: set[int], chosen: Mapping[int, _Loop]) -> Node | None:
    """The loop, when a block that is a statement holds nothing else once its index is gone."""
    if block.parent is None or block.parent.type not in ("expression_statement", "block"):
        return None
    inside = block.named_children
    if len(inside) != 2 or inside[0].start_byte not in gone:
        return None
    loop = first(inside[1]) if inside[1].type == "expression_statement" else inside[1]
    return inside[1] if loop is not None and loop.start_byte in chosen else None


def flags(one: Source, function: Node) -> bytes:
    """An integer that is only set to 0 or 1, and only asked whether it is 0 or handed back at the
    end, becomes a `bool`."""
    body = field(function, "body")
    if body is None:
        return one.text(function)
    places = _places(one, body)
    chosen: dict[bytes, bytes] = {}
    for name, declaration in _declared(one, body).items():
        uses = [node for node in places.get(name, ()) if not _covers(declaration, node)]
        begins = _BIT.match(_value(one, declaration))
        if uses and begins and all(_as_flag(one, node) for node in uses):
            kind = field(declaration, "type")
            chosen[name] = b"" if kind is None else one.text(kind)

    def rule(node: Node, say: Say) -> bytes | None:
        if node.type == "let_declaration" and _name(one, node) in chosen:
            value = b"true" if _value(one, node).startswith(b"1") else b"false"
            return b"let mut " + _name(one, node) + b": bool = " + value + b";"
        if node.type == "assignment_expression":
            left, right = field(node, "left"), field(node, "right")
            if left is None or right is None or one.text(left) not in chosen:
                return None
            return one.text(left) + b" = " + _truth(one, right, say)
        if node.type == "binary_expression":
            left = field(node, "left")
            if left is None or bare(left) is None or one.text(bare(left) or left) not in chosen:
                return None
            sign = field(node, "operator")
            name = one.text(bare(left) or left)
            return name if sign is not None and sign.type == "!=" else b"!" + name
        if node.type == "identifier" and one.text(node) in chosen and _is_result(node):
            return one.text(node) + b" as " + chosen[one.text(node)]
        return None

    return rewritten(one.data, function, rule) if chosen else one.text(function)


def _declared(one: Source, body: Node) -> dict[bytes, Node]:
    """Integers that are declared once, by name."""
    found: dict[bytes, Node] = {}
    twice = set()
    for node in below(body, "let_declaration"):
        name, kind = _name(one, node), field(node, "type")
        if name in found:
            twice.add(name)
        if kind is not None and _INTEGER.match(one.text(kind)):
            found[name] = node
    return {name: node for name, node in found.items() if name not in twice}


def _name(one: Source, declaration: Node) -> bytes:
    pattern = field(declaration, "pattern")
    return b"" if pattern is None else one.text(pattern)


def _value(one: Source, declaration: Node) -> bytes:
    value = field(declaration, "value")
    return b"" if value is None else one.text(value)


def _places(one: Source, body: Node) -> dict[bytes, list[Node]]:
    found: dict[bytes, list[Node]] = {}
    for node in below(body, "identifier"):
        found.setdefault(one.text(node), []).append(node)
    return found


def _loops(one: Source, body: Node, name: bytes) -> Iterator[_Loop]:
    for loop in below(body, "while_expression"):
        statement = loop.parent
        if statement is None or statement.type != "expression_statement":
            statement = loop
        begun, condition, block = (statement.prev_named_sibling, field(loop, "condition"),
                                   field(loop, "body"))  # fmt: skip
        if begun is None or condition is None or block is None or not block.named_children:
            continue
        step = block.named_children[-1]
        begin = _begun(one, begun, name)
        end, sign = _bound(one, condition, name)
        stepped = _set_to(one, step, name)
        if begin is None or end is None or stepped is None or not _is_next(one, stepped, name):
            continue
        if _may_change(one, end, block) or _goes_on(one, loop):
            continue
        if any(one.text(node) == name for node in below(begin, "identifier")):
            continue
        yield _Loop(begun, loop, step, begin, end, sign == "<=")


def _begun(one: Source, statement: Node, name: bytes) -> Node | None:
    """What the statement before a loop sets its index to."""
    if statement.type == "let_declaration" and _name(one, statement) == name:
        return field(statement, "value")
    return _set_to(one, statement, name)


def _set_to(one: Source, statement: Node, name: bytes) -> Node | None:
    inner = first(statement) if statement.type == "expression_statement" else None
    if inner is None or inner.type != "assignment_expression":
        return None
    left = field(inner, "left")
    return field(inner, "right") if left is not None and one.text(left) == name else None


def _bound(one: Source, condition: Node, name: bytes) -> tuple[Node | None, str]:
    inner = bare(condition)
    if inner is None or inner.type != "binary_expression":
        return None, ""
    left, sign, right = field(inner, "left"), field(inner, "operator"), field(inner, "right")
    if left is None or sign is None or sign.type not in ("<", "<=") or one.text(left) != name:
        return None, ""
    return right, sign.type


def _is_next(one: Source, value: Node, name: bytes) -> bool:
    return (
        re.fullmatch(
            rb"\(?" + re.escape(name) + rb"\)?\.wrapping_add\(1(?:[iu]\w+)?\)", one.text(value)
        )
        is not None
    )


def _may_change(one: Source, end: Node, block: Node) -> bool:
    """Whether the end of the range is other than a number or a variable that stays."""
    inner = bare(end)
    if inner is None or _LITERAL.match(one.text(inner)):
        return inner is None
    if inner.type != "identifier":
        return True
    for node in below(block, "assignment_expression", "compound_assignment_expr",
                      "reference_expression"):  # fmt: skip
        place = field(node, "value" if node.type == "reference_expression" else "left")
        if place is not None and one.text(place) == one.text(inner):
            return True
    return False


def _goes_on(one: Source, loop: Node) -> bool:
    """Whether something in it goes on with the next turn, past the step."""
    label = next((c for c in loop.children if c.type == "label"), None)
    for node in below(loop, "continue_expression"):
        to = next((c for c in node.children if c.type == "label"), None)
        if to is None or (label is not None and one.text(to) == one.text(label)):
            return True
    return False


def _covers(outer: Node, node: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _belongs(loop: _Loop, node: Node) -> bool:
    """Whether a place is of the loop, and nothing that changes the index."""
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


def _index(one: Source, found: _Loop) -> bytes:
    if found.begun.type == "let_declaration":
        return _name(one, found.begun)
    inner = first(found.begun)
    left = None if inner is None else field(inner, "left")
    return b"_" if left is None else one.text(left)


def _end(one: Source, node: Node) -> bytes:
    inner = bare(node)
    simple = inner is not None and inner.type in ("identifier", "integer_literal")
    return one.text(inner) if simple and inner is not None else b"(" + one.text(node) + b")"


def _is_result(node: Node) -> bool:
    """Whether a variable is what a function gives back."""
    around = node.parent
    if around is None or around.type == "return_expression":
        return around is not None
    last = around.named_children[-1] if around.type == "block" else None
    return last == node and around.parent is not None and around.parent.type == "function_item"


def _as_flag(one: Source, node: Node) -> bool:
    if _is_result(node):
        return True
    around = node.parent
    while around is not None and around.type == "parenthesized_expression":
        node, around = around, around.parent
    if around is None:
        return False
    if around.type == "assignment_expression" and field(around, "left") == node:
        right = field(around, "right")
        return right is not None and _truth(one, right, one.text) != b""
    if around.type == "binary_expression" and field(around, "left") == node:
        sign, right = field(around, "operator"), field(around, "right")
        return sign is not None and sign.type in ("==", "!=") and right is not None and (
            re.fullmatch(rb"0(?:[iu]\w+)?", one.text(right)) is not None)  # fmt: skip
    return False


def _truth(one: Source, value: Node, say: Say) -> bytes:
    """A 0, a 1 or a comparison as a `bool`, else nothing."""
    inner = bare(value)
    while inner is not None and inner.type == "type_cast_expression":
        kind = field(inner, "type")
        if kind is None or not _INTEGER.match(one.text(kind)):
            return b""
        inner = bare(field(inner, "value"))
    if inner is None:
        return b""
    if bit := _BIT.match(one.text(inner)):
        return b"true" if bit[1] == b"1" else b"false"
    sign = field(inner, "operator") if inner.type == "binary_expression" else None
    return say(inner) if sign is not None and sign.type in _COMPARISONS else b""

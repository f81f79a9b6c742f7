"""Passes that say the same in fewer words, each looking at one function only.

The translator writes for every C program that there is; most need less. Each rule here keeps the
order of what is done, and is tried against compiler and tests like every pass.
"""

from __future__ import annotations

import re

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, rewritten

_ATOMS = frozenset(
    "identifier self scoped_identifier call_expression field_expression index_expression "
    "integer_literal float_literal char_literal string_literal boolean_literal "
    "parenthesized_expression macro_invocation tuple_expression".split()
)
_BLOCKS = frozenset(
    {
        "if_expression",
        "match_expression",
        "block",
        "unsafe_block",
        "loop_expression",
        "while_expression",
        "for_expression",
    }
)
_NUMBER = re.compile(rb"-?[\d_]+(?:[iu](?:8|16|32|64|128|size))?\Z")
_PURE = frozenset(
    "identifier self scoped_identifier field_expression field_identifier "
    "parenthesized_expression unary_expression integer_literal index_expression "
    "type_cast_expression primitive_type binary_expression type_identifier "
    "scoped_type_identifier".split()
)
SHORT = 60
"""Letters of a place that is not too long to be written twice."""
_ARITHMETIC = re.compile(rb"wrapping_\w+|offset|unwrap_unchecked|as_ptr")


def nulls(source: Source, function: Node) -> bytes:
    """`p == (null_mut() as *mut T)` asks `p.is_null()`; a null needs no cast where a type is."""

    def rule(node: Node, say: Say) -> bytes | None:
        if node.type == "binary_expression":
            left, right, sign = field(node, "left"), field(node, "right"), field(node, "operator")
            if left is None or sign is None or sign.type not in ("==", "!=") or not _null(right):
                return None
            said = say(left) if left.type in _ATOMS else b"(" + say(left) + b")"
            return (b"!" if sign.type == "!=" else b"") + said + b".is_null()"
        if node.type in ("let_declaration", "assignment_expression"):
            role = "value" if node.type == "let_declaration" else "right"
            value = field(node, role)
            typed = node.type != "let_declaration" or field(node, "type") is not None
            if value is None or not typed or not _null(value):
                return None
            return _with(node, value, b"core::ptr::null_mut()", source.data, say)
        return None

    return rewritten(source.data, function, rule)


def indexing(source: Source, function: Node) -> bytes:
    """`*(&raw mut a as *mut T).offset(i as isize)` is `a[i as usize]`."""

    def rule(node: Node, say: Say) -> bytes | None:
        if node.type == "parenthesized_expression":
            inner = first(node)
            found = None if inner is None else _element(inner)
        else:
            found = _element(node)
        if found is None:
            return None
        array, place = found
        said = say(array)
        if array.type not in _ATOMS:
            said = b"(" + said + b")"
        return said + b"[" + _index(place, source.data, say) + b"]"

    return rewritten(source.data, function, rule)


def compounds(source: Source, function: Node) -> bytes:
    """`{ let __at = &raw mut p; *__at = (*__at).op(x); }` is `p = p.op(x);`, where neither naming
    `p` nor `x` does anything."""

    def rule(node: Node, say: Say) -> bytes | None:
        if node.type != "expression_statement" or node.named_child_count != 1:
            return None
        block = first(node)
        if block is None or block.type != "block" or _label(block) is not None:
            return None
        parts = list(block.named_children)
        amount = None
        if len(parts) == 3 and _lets(parts[0]) == b"__amount":
            amount = field(parts.pop(0), "value")
        if len(parts) != 2 or _lets(parts[0]) != b"__at":
            return None
        taken = field(parts[0], "value")
        place = (
            None
            if taken is None or taken.type != "reference_expression"
            else (field(taken, "value"))
        )
        change = first(parts[1])
        if place is None or change is None or change.type != "assignment_expression":
            return None
        left, right = field(change, "left"), field(change, "right")
        if left is None or right is None or source.text(left) != b"*__at":
            return None
        if (
            not _pure(place, calls=len(source.text(place)) <= SHORT)
            or not _pure(right, calls=True)
            or not (amount is None or _pure(amount, calls=True))
        ):
            return None
        where = say(place)

        def inside(node: Node, say_inside: Say) -> bytes | None:
            if node.type == "parenthesized_expression" and bare(node) is not None:
                inner = bare(node)
                if inner is not None and source.text(inner) == b"*__at":
                    return where if place.type in _ATOMS else b"(" + where + b")"
            if source.text(node) == b"*__at":
                return where if place.type in _ATOMS else b"(" + where + b")"
            if (
                node.type == "identifier"
                and source.text(node) == b"__amount"
                and amount is not None
            ):
                said = say(amount)
                return said if amount.type in _ATOMS else b"(" + said + b")"
            return rule(node, say_inside)

        return where + b" = " + rewritten(source.data, right, inside) + b";"

    return rewritten(source.data, function, rule)


def checks(source: Source, function: Node) -> bytes:
    """Let what C leaves undefined end in a panic: a call of no function, and going on at a place
    that is never reached. `exit` is Rust's, which two threads may call at once."""

    def rule(node: Node, say: Say) -> bytes | None:
        called = field(node, "function") if node.type == "call_expression" else None
        if called is None:
            return None
        if source.text(called) == b"core::hint::unreachable_unchecked":
            return b"unreachable!()"
        if source.text(called) == b"sys::exit":
            given = field(node, "arguments")
            return None if given is None else b"std::process::exit" + say(given)
        name = field(called, "field") if called.type == "field_expression" else None
        if name is None or source.text(name) != b"unwrap_unchecked":
            return None
        value = field(called, "value")
        return None if value is None else say(value) + b".unwrap()"

    return rewritten(source.data, function, rule)


def blocks(source: Source, function: Node) -> bytes:
    """Labels that nothing jumps to go, and blocks that hold no names; a last `return` too."""
    used = {
        source.text(label)
        for jump in below(function, "break_expression", "continue_expression")
        for label in jump.children
        if label.type == "label"
    }
    body = field(function, "body")

    def rule(node: Node, say: Say) -> bytes | None:
        label = _label(node)
        if label is not None and source.text(label) not in used:
            colon = label.next_sibling
            rest = [child for child in node.children if child not in (label, colon)]
            if node.type == "block" and _is_statement(node) and _may_open(node):
                return _inside(node, source.data, say)
            return _join(rest, rest[0].start_byte, source.data, say)
        if node.type == "block" and label is None and _is_statement(node) and _may_open(node):
            return _inside(node, source.data, say)
        if node.type == "expression_statement" and node.parent == body and body is not None:
            return _last(node, body, say)
        return None

    return rewritten(source.data, function, rule)


def parentheses(source: Source, function: Node) -> bytes:
    """Parentheses that change nothing go."""

    def rule(node: Node, say: Say) -> bytes | None:
        if node.type != "parenthesized_expression":
            return None
        inner = first(node)
        parent = node.parent
        if inner is None or parent is None or not _are_idle(node, inner, parent):
            return None
        return say(inner)

    return rewritten(source.data, function, rule)


def _are_idle(node: Node, inner: Node, parent: Node) -> bool:
    kind = parent.type
    if kind == "call_expression" and field(parent, "function") == node:
        return False  # a call of what a field holds
    if kind == "parenthesized_expression":
        return True
    if inner.type in _ATOMS:
        return not (inner.type == "call_expression" and kind == "macro_invocation")
    if inner.type in _BLOCKS or inner.type == "closure_expression":
        return kind in ("arguments", "let_declaration") or (
            kind == "assignment_expression" and field(parent, "right") == node
        )
    if kind == "assignment_expression":
        return True
    if kind == "if_expression" and inner.type == "unary_expression":
        return field(parent, "condition") == node
    return kind in ("arguments", "let_declaration", "index_expression", "return_expression") and (
        kind != "index_expression" or parent.named_child(1) == node
    )


def _null(node: Node | None) -> bool:
    node = bare(node)
    if node is not None and node.type == "type_cast_expression":
        node = bare(field(node, "value"))
    return node is not None and node.text == b"core::ptr::null_mut()"


def _element(node: Node) -> tuple[Node, Node] | None:
    """Array and index of `*(&raw mut ARRAY as *mut T).offset(INDEX)`."""
    if node.type != "unary_expression" or node.child(0) is None or node.children[0].type != "*":
        return None
    call = bare(first(node))
    if call is None or call.type != "call_expression":
        return None
    method, arguments = field(call, "function"), field(call, "arguments")
    if method is None or arguments is None or method.type != "field_expression":
        return None
    if (name := field(method, "field")) is None or name.text != b"offset":
        return None
    cast = bare(field(method, "value"))
    if cast is None or cast.type != "type_cast_expression" or arguments.named_child_count != 1:
        return None
    taken = bare(field(cast, "value"))
    if (
        taken is None
        or taken.type != "reference_expression"
        or b"raw" not in (child.type.encode() for child in taken.children)
    ):
        return None
    array, place = field(taken, "value"), first(arguments)
    return None if array is None or place is None else (array, place)


def _index(place: Node, data: bytes, say: Say) -> bytes:
    inner = bare(place)
    said = data[place.start_byte : place.end_byte]
    if _NUMBER.match(said) and not said.startswith(b"-"):
        return re.sub(rb"[iu](?:8|16|32|64|128|size)\Z", b"", said)
    if inner is not None and inner.type == "type_cast_expression":
        kind, value = field(inner, "type"), field(inner, "value")
        if kind is not None and value is not None and kind.text == b"isize":
            return say(value) + b" as usize"
    return b"(" + say(place) + b") as usize"


def _pure(node: Node, *, calls: bool = False) -> bool:
    """Return whether evaluating it does nothing else; `calls` allows arithmetic of integers."""
    if node.type == "call_expression":
        method = field(node, "function")
        if not calls or method is None or method.type != "field_expression":
            return False
        name, value, arguments = (
            field(method, "field"),
            field(method, "value"),
            field(node, "arguments"),
        )
        if name is None or value is None or arguments is None or name.text is None:
            return False
        if not _ARITHMETIC.fullmatch(name.text):
            return False
        return all(_pure(operand, calls=calls) for operand in (value, *arguments.named_children))
    if node.type not in _PURE:
        return False
    return all(_pure(child, calls=calls) for child in node.named_children)


def _lets(node: Node) -> bytes:
    pattern = field(node, "pattern") if node.type == "let_declaration" else None
    return b"" if pattern is None or pattern.text is None else pattern.text


def _label(node: Node) -> Node | None:
    if node.type not in ("block", "while_expression", "loop_expression", "for_expression"):
        return None
    first = node.child(0)
    return first if first is not None and first.type == "label" else None


def _is_statement(block: Node) -> bool:
    parent = block.parent
    if parent is None:
        return False
    if parent.type == "block":
        return True  # the value of the block around it
    return (
        parent.type == "expression_statement"
        and parent.parent is not None
        and (parent.parent.type == "block")
    )


def _may_open(block: Node) -> bool:
    """Return whether what is in the block may be around it: it names nothing, or nothing
    follows.
    """
    statement = block if block.parent is not None and block.parent.type == "block" else block.parent
    if statement is None:
        return False
    if not any(child.type == "let_declaration" for child in block.named_children):
        return (
            not block.named_children
            or statement.type == "expression_statement"
            or (statement.next_named_sibling is None)
        )
    return statement.next_named_sibling is None


def _inside(block: Node, data: bytes, say: Say) -> bytes:
    braces = [child for child in block.children if child.type in ("{", "}")]
    between = [
        child
        for child in block.children
        if braces[0].end_byte <= child.start_byte < braces[-1].start_byte
    ]
    parts, at = [], braces[0].end_byte
    for child in between:
        parts += [data[at : child.start_byte], say(child)]
        at = child.end_byte
    parts.append(data[at : braces[-1].start_byte])
    return b"".join(parts).strip()


def _join(children: list[Node], at: int, data: bytes, say: Say) -> bytes:
    parts = []
    for child in children:
        parts += [data[at : child.start_byte], say(child)]
        at = child.end_byte
    return b"".join(parts)


def _last(node: Node, body: Node, say: Say) -> bytes | None:
    if body.named_children[-1] != node:
        return None
    inner = first(node)
    if inner is None or inner.type != "return_expression":
        return None
    value = first(inner)
    return b"" if value is None else say(value)


def _with(node: Node, child: Node, new: bytes, data: bytes, say: Say) -> bytes:
    parts, at = [], node.start_byte
    for part in node.children:
        parts += [data[at : part.start_byte], new if part == child else say(part)]
        at = part.end_byte
    return b"".join(parts) + data[at : node.end_byte]

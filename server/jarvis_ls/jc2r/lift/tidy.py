"""Passes that leave out what C needs and Rust does not, each looking at one function only: what is
behind a last `return`, `!` before `!`, values that are never read."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, rewritten, variable_of

_ATOMS = ("identifier", "call_expression", "field_expression", "boolean_literal")
_TEXT = re.compile(rb'c"[^"\\]*"\.as_ptr')
_IDLE = frozenset(
    "integer_literal float_literal string_literal boolean_literal call_expression "
    "field_expression identifier "
    "scoped_identifier arguments generic_function type_arguments primitive_type pointer_type "
    "mutable_specifier type_identifier scoped_type_identifier unit_expression "
    "parenthesized_expression type_cast_expression unary_expression array_expression".split()
)
_JUMPS = ("return_expression", "break_expression", "continue_expression")
_LOOPS = ("loop_expression", "while_expression", "for_expression")
_UNITS = ("assignment_expression", "compound_assignment_expr", *_JUMPS)
"""Expressions without a value."""
_MADE = (b"core::ptr::null_mut", b"core::ptr::null", b"core::mem::zeroed")


def ends(source: Source, function: Node) -> bytes:
    """Drop what is never reached: the value behind a last `return`, which is for the compiler
    alone, and jumps behind jumps; and what does nothing, `();`."""
    body = field(function, "body")
    tail = _tail_behind_return(source, body)
    gone = {
        node.id
        for node in below(function, "expression_statement")
        if (inner := first(node)) is not None
        and (inner.type == "unit_expression" or (inner.type in _JUMPS and _is_left_before(node)))
    }
    if tail is not None:
        gone.add(tail.id)

    def rule(node: Node, _: Say) -> bytes | None:
        return b"" if node.id in gone else None

    return rewritten(source.data, function, rule) if gone else source.text(function)


def arms(source: Source, function: Node) -> bytes:
    """Write `pattern => a = b,` in place of `pattern => { a = b; }`."""

    def rule(node: Node, say: Say) -> bytes | None:
        around = node.parent
        if node.type != "block" or around is None or around.type != "match_arm":
            return None
        only = first(node) if node.named_child_count == 1 else None
        inner = None if only is None or only.type != "expression_statement" else first(only)
        if inner is None or inner.type not in _UNITS or node.children[0].type != "{":
            return None
        return say(inner) + (b"" if around.children[-1].type == "," else b",")

    return rewritten(source.data, function, rule)


def negations(source: Source, function: Node) -> bytes:
    """Write `a` in place of `!(!a)`."""

    def rule(node: Node, say: Say) -> bytes | None:
        inner = _negate(node)
        twice = None if inner is None else _negate(inner)
        if twice is None:
            return None
        said = say(twice)
        around = node.parent is not None and node.parent.type
        plain = twice.type in _ATOMS or around in ("parenthesized_expression", "if_expression")
        return said if plain else b"(" + said + b")"

    return rewritten(source.data, function, rule)


def declarations(source: Source, function: Node) -> bytes:
    """Declare a variable where it gets its first value, when that is in the same block."""
    gone: set[int] = set()
    first_values: dict[int, Node] = {}
    for declared in below(function, "let_declaration"):
        write = _first_write(source, declared)
        if write is not None and write.id not in first_values:
            gone.add(declared.id)
            first_values[write.id] = declared

    def rule(node: Node, say: Say) -> bytes | None:
        if node.id in gone:
            return b""
        declared = first_values.get(node.id)
        change = first(node) if declared is not None else None
        if declared is None or change is None:
            return None
        kind, right = field(declared, "type"), field(change, "right")
        if kind is None or right is None:
            return None
        name = variable_of(source, declared)
        return b"let mut " + name + b": " + source.text(kind) + b" = " + say(right) + b";"

    return rewritten(source.data, function, rule) if gone else source.text(function)


def _tail_behind_return(source: Source, body: Node | None) -> Node | None:
    inside = _statements(body)
    if len(inside) < 2 or inside[-1].type in ("expression_statement", "let_declaration"):
        return None
    if not _leaves(inside[-2]):
        return None
    return inside[-1] if _is_idle(source, inside[-1]) else None


def _statements(block: Node | None) -> list[Node]:
    return [] if block is None else [c for c in block.named_children if "comment" not in c.type]


def _is_left_before(statement: Node) -> bool:
    """Return whether the statement before one jumps."""
    before = statement.prev_named_sibling
    while before is not None and "comment" in before.type:
        before = before.prev_named_sibling
    inner = None if before is None else first(before)
    return inner is not None and inner.type in _JUMPS


def _leaves(node: Node | None) -> bool:
    """Return whether the function is left in a statement, on every way through it."""
    if node is not None and node.type == "expression_statement":
        node = first(node)
    if node is None:
        return False
    if node.type == "return_expression":
        return True
    if node.type == "loop_expression":
        return not any(_is_left_by(node, jump) for jump in below(node, "break_expression"))
    if node.type == "block":
        if node.children[0].type != "{":
            return False  # a jump may end at its label
        for statement in _statements(node):
            if (inner := first(statement)) is not None and inner.type in _JUMPS[1:]:
                return False
            if _leaves(statement):
                return True
        return False
    if node.type == "match_expression":
        body = field(node, "body")
        arms = [] if body is None else [c for c in body.named_children if c.type == "match_arm"]
        return bool(arms) and all(_leaves(field(arm, "value")) for arm in arms)
    if node.type == "if_expression":
        other = field(node, "alternative")
        branches = [field(node, "consequence"), None if other is None else first(other)]
        return all(_leaves(branch) for branch in branches)
    return False


def _is_left_by(loop: Node, jump: Node) -> bool:
    """Return whether a `break` in a loop may be out of it, or of what is around it."""
    label = next((child for child in jump.children if child.type == "label"), None)
    around = jump.parent
    while around is not None and around != loop:
        own = next((child for child in around.children if child.type == "label"), None)
        if label is None and around.type in _LOOPS:
            return False
        if label is not None and own is not None and own.text == label.text:
            return False
        around = around.parent
    return True


def _is_idle(source: Source, value: Node) -> bool:
    """Return whether a value is worked out without doing anything else."""
    for call in below(value, "call_expression"):
        called = field(call, "function")
        text = b"" if called is None else source.text(called)
        if not text.startswith(_MADE) and not _TEXT.fullmatch(text):
            return False
    nodes = [value]
    while nodes:
        node = nodes.pop()
        if node.type not in _IDLE:
            return False
        nodes += node.named_children
    return True


def _negate(node: Node) -> Node | None:
    """Return what is behind a `!`."""
    inner = bare(node)
    if inner is None or inner.type != "unary_expression" or inner.children[0].type != "!":
        return None
    return bare(first(inner))


def _first_write(source: Source, declared: Node) -> Node | None:
    """Return the statement that gives a variable its first value that is read, in the block of its
    declaration."""
    value, name = field(declared, "value"), variable_of(source, declared)
    block = declared.parent
    if block is None or block.type != "block" or not name or field(declared, "type") is None:
        return None
    if value is None or not _is_idle(source, value):
        return None
    later = declared.next_named_sibling
    while later is not None and not _mentions(source, later, name):
        later = later.next_named_sibling
    change = first(later) if later is not None and later.type == "expression_statement" else None
    if change is None or change.type != "assignment_expression":
        return None
    left, right = field(change, "left"), field(change, "right")
    if left is None or right is None or source.text(left) != name:
        return None
    return None if _mentions(source, right, name) else later


def _mentions(source: Source, node: Node, name: bytes) -> bool:
    return any(source.text(word) == name for word in below(node, "identifier"))

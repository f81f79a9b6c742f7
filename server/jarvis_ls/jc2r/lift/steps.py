"""Changes inside of expressions as statements of their own, as one would write them in Rust.

`*{ let __old = p; p = p.offset(1); __old } = x;` is `*p = x; p = p.offset(1);` where nothing else
in the statement names `p`, which is a variable whose address nobody has. A block that is evaluated
before all else in a statement or condition is in front of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as data_field

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, rewritten
from jarvis_ls.jc2r.lift.unsafe_operations import declaration_of, root_of

_STEP = re.compile(rb"(\w+)(?:\.(?:wrapping_\w+|offset|wrapping_offset)\(-?\d\w*\))\Z")
"""The next value of a variable, which depends on nothing else."""
_ONCE = frozenset(
    "assignment_expression compound_assignment_expr parenthesized_expression unary_expression "
    "type_cast_expression call_expression arguments field_expression index_expression "
    "reference_expression let_declaration expression_statement".split()
)
"""What evaluates its parts once, whatever they are."""
_LEAVING = (
    "return_expression",
    "break_expression",
    "continue_expression",
    "try_expression",
    "closure_expression",
    "macro_invocation",
)


@dataclass
class _Plan:
    replaced: dict[int, bytes | Node] = data_field(default_factory=dict)
    """Replacement of a node by its id: text, or one of its parts."""
    before: dict[int, list[Node]] = data_field(default_factory=dict)
    """Statements in front of a statement."""
    after: dict[int, list[bytes]] = data_field(default_factory=dict)
    """Statements behind it."""


def steps(source: Source, function: Node) -> bytes:
    """Take changes of variables out of the expressions they are in."""
    shared = {source.text(root_of(node)) for node in below(function, "reference_expression")}
    plan = _Plan()
    for block in below(function, "block"):
        for statement in block.named_children:
            if statement.type in ("expression_statement", "let_declaration"):
                _plan_steps(source, statement, shared, plan)
            _plan_front(source, statement, plan)

    def rule(node: Node, say: Say) -> bytes | None:
        if node.id in plan.replaced:
            new = plan.replaced[node.id]
            return new if isinstance(new, bytes) else say(new)
        if node.id not in plan.before and node.id not in plan.after:
            return None
        front = b"".join(say(part) + b"\n" for part in plan.before.get(node.id, ()))
        behind = b"".join(b"\n" + text for text in plan.after.get(node.id, ()))
        parts, at = [], node.start_byte
        for child in node.children:
            parts += [source.data[at : child.start_byte], say(child)]
            at = child.end_byte
        parts.append(source.data[at : node.end_byte])
        return front + b"".join(parts) + behind

    changed = plan.before or plan.after
    return rewritten(source.data, function, rule) if changed else source.text(function)


def _plan_steps(source: Source, statement: Node, shared: set[bytes], plan: _Plan) -> None:
    """Note the variables that a statement uses and then changes."""
    if any(True for _ in below(statement, *_LEAVING)):
        return
    for block in list(below(statement, "block")):
        name, change = _old_value(source, block)
        if not name or change is None or name in shared or not _is_once(block, statement):
            continue
        named = [node for node in below(statement, "identifier") if source.text(node) == name]
        inside = [node for node in named if block.start_byte <= node.start_byte < block.end_byte]
        declared = declaration_of(source, named[0])
        if len(named) != len(inside) or declared is None:
            continue
        if declared.type not in ("let_declaration", "parameter"):
            continue
        plan.replaced[_with_parentheses(block).id] = name
        plan.after.setdefault(statement.id, []).append(source.text(change))


def _old_value(source: Source, block: Node) -> tuple[bytes, Node | None]:
    """Return the variable and the change in `{ let __old = v; v = v.op(1); __old }`."""
    inside = block.named_children
    if len(inside) != 3 or inside[0].type != "let_declaration":
        return b"", None
    held, value = field(inside[0], "pattern"), field(inside[0], "value")
    change = first(inside[1]) if inside[1].type == "expression_statement" else None
    if held is None or value is None or value.type != "identifier" or change is None:
        return b"", None
    left, right = field(change, "left"), field(change, "right")
    if change.type != "assignment_expression" or left is None or right is None:
        return b"", None
    name = source.text(value)
    step = _STEP.match(source.text(right))
    if source.text(left) != name or step is None or step[1] != name:
        return b"", None
    same = source.text(inside[2]) == source.text(held)
    return (name, inside[1]) if same and source.text(held) != name else (b"", None)


def _is_once(node: Node, statement: Node) -> bool:
    """Return whether a part of a statement is evaluated once, in any case."""
    while node != statement:
        around = node.parent
        if around is None:
            return False
        if around.type == "binary_expression":
            sign = field(around, "operator")
            if sign is None or sign.type in ("&&", "||"):
                return False
        elif around.type not in _ONCE:
            return False
        node = around
    return True


def _with_parentheses(node: Node) -> Node:
    while node.parent is not None and node.parent.type == "parenthesized_expression":
        node = node.parent
    return node


def _plan_front(source: Source, statement: Node, plan: _Plan) -> None:
    """Note the blocks that are evaluated before all else in a statement."""
    for node in _first_evaluated(statement):
        block = bare(node)
        if block is None or block.type != "block" or block.id in plan.replaced:
            continue
        inside = block.named_children
        whole = _with_parentheses(block)
        if len(inside) < 2 or whole.id in plan.replaced or block.children[0].type != "{":
            continue
        tail = inside[-1]
        if any(statement.type != "expression_statement" for statement in inside[:-1]):
            continue
        if tail.type not in ("identifier", "field_expression") or _old_value(source, block)[0]:
            continue
        plan.replaced[whole.id] = tail
        plan.before[statement.id] = list(inside[:-1])
        return


def _first_evaluated(statement: Node) -> Iterator[Node]:
    """Yield the parts of a statement before whose evaluation nothing else happens, from the outside
    in."""
    node = statement
    if node.type == "expression_statement":
        node = first(node) or node
    while True:
        inner: Node | None = None
        if node.type in ("let_declaration", "match_expression"):
            inner = field(node, "value")
        elif node.type == "if_expression":
            inner = field(node, "condition")
            inner = None if inner is None or inner.type.startswith("let_") else inner
        elif node.type == "assignment_expression":
            inner = field(node, "right")
        elif node.type in ("return_expression", "unary_expression", "parenthesized_expression"):
            inner = first(node)
        elif node.type == "binary_expression":
            inner = field(node, "left")
        elif node.type in ("type_cast_expression", "field_expression"):
            inner = field(node, "value")
        elif node.type == "call_expression":
            called = field(node, "function")
            inner = called if called is not None and called.type == "field_expression" else None
        if inner is None:
            return
        yield inner
        node = inner

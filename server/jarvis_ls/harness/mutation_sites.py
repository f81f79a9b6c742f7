"""Places in Rust where a small mistake can be planted, and source that holds many at once.

All mutants are compiled together: each changed expression asks whether its own mutant is the one
that is switched on, so that one build serves for all. What changes nothing by itself (a constant
in a comparison of two constants) is not planted.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jarvis_ls.codeintel.parse import Node, parse

SWITCH = """
#[no_mangle]
pub static mut jc2r_mutant: u32 = 0;

#[inline(always)]
pub fn mutant(number: u32) -> bool {
    unsafe { (&raw const jc2r_mutant).read() == number }
}

extern "C" {
    fn getenv(name: *const i8) -> *const i8;
    fn atoi(text: *const i8) -> i32;
}

extern "C" fn jc2r_choose() {
    unsafe {
        let text = getenv(c"JC2R_MUTANT".as_ptr() as *const i8);
        if !text.is_null() {
            jc2r_mutant = atoi(text) as u32;
        }
    }
}

#[used]
#[link_section = ".init_array"]
static JC2R_CHOOSE: extern "C" fn() = jc2r_choose;
"""
"""What the crate needs to switch mutants on, by number, from `JC2R_MUTANT`."""

_OPERATORS = {
    "<": ("<=", ">"),
    "<=": ("<", "=="),
    ">": (">=", "<"),
    ">=": (">", "=="),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "+": ("-",),
    "-": ("+",),
    "*": ("+",),
    "&": ("|",),
    "|": ("&",),
    "^": ("|",),
}
_METHODS = {
    "wrapping_add": "wrapping_sub",
    "wrapping_sub": "wrapping_add",
    "wrapping_mul": "wrapping_add",
    "wrapping_shl": "wrapping_shr",
    "wrapping_shr": "wrapping_shl",
}
_LITERAL = re.compile(r"(\d+)((?:[iu](?:8|16|32|64|128|size))?)")
_DELETED = ("assignment_expression", "compound_assignment_expr", "call_expression")
_NEVER_BELOW = frozenset(
    {
        "const_item",
        "static_item",
        "attribute_item",
        "type_arguments",
        "array_type",
        "match_pattern",
        "macro_invocation",
        "let_condition",
        "const_block",
    }
)


@dataclass(frozen=True, slots=True)
class Point:
    """One mutant."""

    file: str
    """Relative to the crate."""
    function: str
    line: int
    """1-based."""
    start: int
    """Byte at which what is changed begins."""
    end: int
    before: str
    after: str
    statement: bool = False
    """Whether a statement is left out."""


def points_of(text: str, file: str) -> list[Point]:
    """Every mutant of a source file, in order."""
    data = text.encode()
    found: list[Point] = []
    for item in parse(data, "rust").root_node.children:
        name = item.child_by_field_name("name") if item.type == "function_item" else None
        if name is not None and name.text is not None:
            if any(
                child.type == "function_modifiers" and b"const" in (child.text or b"")
                for child in item.children
            ):
                continue
            body = item.child_by_field_name("body")
            if body is not None:
                found.extend(_below(body, data, file, name.text.decode()))
    return found


def choose(points: Sequence[Point], wanted: int, seed: int) -> list[Point]:
    """`wanted` mutants that are not in one another, evenly over what there is."""
    draw = random.Random(seed)
    order = list(points)
    draw.shuffle(order)
    taken: dict[str, list[tuple[int, int]]] = {}
    chosen: list[Point] = []
    for point in order:
        if len(chosen) == wanted:
            break
        known = taken.setdefault(point.file, [])
        if all(point.end <= start or end <= point.start for start, end in known):
            known.append((point.start, point.end))
            chosen.append(point)
    return sorted(chosen, key=lambda point: (point.file, point.start))


def plant_mutants(text: str, mutants: Sequence[tuple[int, Point]]) -> str:
    """Return the source with all `mutants` in it, each with the number that switches it on."""
    data = text.encode()
    for number, point in sorted(mutants, key=lambda numbered: numbered[1].start, reverse=True):
        old = data[point.start : point.end].decode()
        asked = f"crate::mutant({number})"
        if point.statement:
            new = f"if !{asked} {{ {old} }}"
        else:
            new = f"(if {asked} {{ {point.after} }} else {{ {old} }})"
        data = data[: point.start] + new.encode() + data[point.end :]
    return data.decode()


def apply_mutant(text: str, point: Point) -> str:
    """Return the source with one mutant in the place of what was there."""
    data = text.encode()
    new = "" if point.statement else point.after
    return (data[: point.start] + new.encode() + data[point.end :]).decode()


def _below(node: Node, data: bytes, file: str, function: str) -> Iterator[Point]:
    stack = [node]
    while stack:
        inner = stack.pop()
        if inner.type in _NEVER_BELOW:
            continue
        children = list(inner.children)
        if inner.type == "array_expression":  # its length is a constant of the type
            children = [
                child
                for at, child in enumerate(children)
                if at == 0 or children[at - 1].type != ";"
            ]
        stack.extend(reversed(children))
        for start, end, before, after, statement in _changes(inner, data):
            yield Point(
                file, function, inner.start_point.row + 1, start, end, before, after, statement
            )


def _changes(node: Node, data: bytes) -> Iterator[tuple[int, int, str, str, bool]]:
    text = data[node.start_byte : node.end_byte].decode()
    whole = (node.start_byte, node.end_byte, text)
    if node.type == "binary_expression":
        operator = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator is None or left is None or right is None or _both_constant(left, right):
            return
        for new in _OPERATORS.get((operator.text or b"").decode(), ()):
            head = data[node.start_byte : operator.start_byte].decode()
            tail = data[operator.end_byte : node.end_byte].decode()
            yield (*whole, f"{head}{new}{tail}", False)
    elif node.type == "call_expression":
        callee = node.child_by_field_name("function")
        name = callee.child_by_field_name("field") if callee is not None else None
        other = _METHODS.get((name.text or b"").decode()) if name is not None else None
        if other is not None and name is not None:
            head = data[node.start_byte : name.start_byte].decode()
            tail = data[name.end_byte : node.end_byte].decode()
            yield (*whole, f"{head}{other}{tail}", False)
    elif node.type == "integer_literal":
        parent = node.parent
        match = _LITERAL.fullmatch(text)
        if match is None or parent is None or _is_fixed(parent):
            return
        value = int(match[1])
        yield (*whole, f"{value + 1}{match[2]}", False)
        if value:
            yield (*whole, f"{value - 1}{match[2]}", False)
    elif node.type == "expression_statement" and node.children[0].type in _DELETED:
        yield (*whole, "", True)


def _is_fixed(parent: Node) -> bool:
    """Return whether a literal is one of a constant comparison, or its sign makes it another
    number.
    """
    if parent.type == "binary_expression":
        left, right = parent.child_by_field_name("left"), parent.child_by_field_name("right")
        return left is None or right is None or _both_constant(left, right)
    return parent.type in ("unary_expression", "range_expression", "range_pattern")


def _both_constant(left: Node, right: Node) -> bool:
    return left.type == right.type == "integer_literal"

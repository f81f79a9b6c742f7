"""What is near a suspicious place and makes it harmless, or not.

These are questions about the tree around a place, not about every path to it: each answers
from conditions, assignments and declarations of the same function. Rules lower or drop their
confidence by them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function

NULLS = frozenset({"NULL", "0", "nullptr", "((void*)0)", "((void *)0)", "'\\0'"})
_RELATIONS = frozenset({"<", ">", "<=", ">="})
_EQUALITIES = frozenset({"==", "!="})
_CONDITIONAL = frozenset({"if_statement", "while_statement", "for_statement", "do_statement"})
_JUMPS = frozenset(
    {
        "return_statement",
        "goto_statement",
        "break_statement",
        "continue_statement",
        "throw_statement",
    }
)
NEVER_RETURN = frozenset(
    "exit _exit _Exit abort err errx verr verrx longjmp quick_exit __builtin_unreachable "
    "__builtin_trap g_error panic die fatal usage".split()
)


def null_checked(
    function: Function, expression: str, start: int = 0, end: int | None = None
) -> bool:
    """Return whether a condition between two bytes tests `expression` (a name or `a->b`) for
    null.
    """
    return any(True for _ in null_tests(function, expression, start, end))


def null_tests(
    function: Function, expression: str, start: int = 0, end: int | None = None
) -> Iterator[Node]:
    """Yield the places where a condition tests `expression` for null."""
    last = _last_word(expression)
    for condition in function.conditions:
        if condition.end_byte <= start or (end is not None and condition.start_byte >= end):
            continue
        if last not in text(condition):
            continue
        for node in _mentions(function, expression, condition):
            if _is_null_test(node):
                yield node


def is_bounded(function: Function, expression: str, start: int = 0, end: int | None = None) -> bool:
    """Return whether a condition between two bytes compares `expression` (or its length, or a name
    in it) with something by `<`, `>`, `<=` or `>=`, or tests it for one value by `==`.
    """
    words = set(re.findall(r"[A-Za-z_]\w*", expression)) - {"strlen", "sizeof"}
    if not words:
        return False
    for condition in function.conditions:
        if condition.end_byte <= start or (end is not None and condition.start_byte >= end):
            continue
        if any(_compares(n, words) for n in _binaries(condition)):
            return True
    return False


def written_between(function: Function, expression: str, start: int, end: int) -> bool:
    """Return whether `expression` or its first name is assigned, or has its address taken, between
    two bytes."""
    base = re.match(r"[\s*(&]*([A-Za-z_]\w*)", expression)
    names = {expression.strip(), base[1] if base else expression}
    writes = _writes(function)
    return any(_is_between(writes.get(name, ()), start, end) for name in names)


def _is_between(places: Sequence[int], start: int, end: int) -> bool:
    at = bisect_left(places, start)
    return at < len(places) and places[at] < end


@once_per_function
def _writes(function: Function) -> dict[str, list[int]]:
    """Return where each expression is assigned, declared, or has its address taken."""
    found: dict[str, list[int]] = defaultdict(list)
    for kind, side in (("assign", "left"), ("update", "argument"), ("deref", "argument")):
        for node in function.nodes(kind):
            if kind != "deref" or operator_of(node) == "&":
                found[text(field(node, side)).strip("() ")].append(node.start_byte)
    for node in function.nodes("decl"):
        for child in node.children_by_field_name("declarator"):
            found[_declared_name(child)].append(node.start_byte)
    found.pop("", None)
    return {name: sorted(places) for name, places in found.items()}


def same_path(function: Function, first: Node, second: Node) -> bool:
    """Return whether control may run from `first` on to `second` later in the text.

    False when they are in different branches of one `if`, `?:` or `switch`, or when the block
    around `first` (up to the block they share) always leaves before its end.
    """
    shared = {a.id for a in ancestors(second, function.node)}
    below = first
    for outer in ancestors(first, function.node):
        if outer.id in shared:
            return not _exclusive(function, outer, below, second)
        if outer.type in (
            "compound_statement",
            "case_statement",
            "else_clause",
            "labeled_statement",
        ) and _leaves(outer, below.end_byte):
            return False
        below = outer
    return True


def never_returns(call: Call) -> bool:
    """Return whether a call is a statement that ends the program or jumps away (`exit`,
    `abort`).
    """
    return call.name in NEVER_RETURN and call.statement is not None


def leaves(node: Node) -> bool:
    """Return whether a statement always leaves the block: a jump, a call that never returns, or a
    block that ends in one."""
    node = _last_statement(node)
    kind = node.type
    if kind in _JUMPS:
        return True
    if kind != "expression_statement":
        return False
    name, bracket, _ = text(node).partition("(")
    return bool(bracket) and name.strip() in NEVER_RETURN


def enclosing_loop(node: Node, function: Function) -> Node | None:
    """Return the innermost loop around `node`, or None."""
    for outer in ancestors(node, function.node):
        if outer.type in (
            "for_statement",
            "while_statement",
            "do_statement",
            "for_range_loop",
            "while_expression",
            "for_expression",
            "loop_expression",
        ):
            return outer
    return None


def is_in_condition(node: Node) -> bool:
    """Return whether an expression is the condition of a branch or loop, or a part of it."""
    below = node
    for above in ancestors(node):
        if above.type in _CONDITIONAL:
            return field(above, "condition") == below
        if above.type.endswith("statement"):
            return False
        below = above
    return False


def _last_word(expression: str) -> str:
    words = re.findall(r"\w+", expression)
    return words[-1] if words else expression


def _mentions(function: Function, expression: str, inside: Node) -> Iterator[Node]:
    """Nodes inside `inside` whose text is `expression`."""
    expression = expression.strip()
    if expression.isidentifier():
        yield from function.uses(expression, inside.start_byte, inside.end_byte)
        return
    for kind in ("member", "deref", "index"):
        for node in function.nodes(kind):
            if inside.start_byte <= node.start_byte < inside.end_byte and text(node) == expression:
                yield node


def _is_null_test(node: Node) -> bool:
    """Return whether the value of `node` itself decides: bare, negated, or compared with null."""
    parent = node.parent
    for _ in range(16):
        if parent is None:
            return False
        kind = parent.type
        if kind == "assignment_expression" and field(parent, "left") == node:
            node, parent = parent, parent.parent
            continue
        if kind in ("parenthesized_expression", "cast_expression", "condition_clause"):
            node, parent = parent, parent.parent
            if kind == "condition_clause":
                return True
            continue
        if kind == "unary_expression":
            return operator_of(parent) == "!"
        if kind == "binary_expression":
            operator = operator_of(parent)
            if operator in ("&&", "||"):
                return True
            left, right = field(parent, "left"), field(parent, "right")
            other = right if left == node else left
            return operator in _EQUALITIES and text(other) in NULLS
        if kind == "argument_list":  # of an assert
            return True
        return kind in (
            "if_statement",
            "while_statement",
            "do_statement",
            "for_statement",
            "conditional_expression",
        )
    return False


def _binaries(condition: Node) -> Iterator[Node]:
    stack = [condition]
    for _ in range(512):
        if not stack:
            return
        node = stack.pop()
        if node.type == "binary_expression":
            yield node
        if node.type in (
            "binary_expression",
            "parenthesized_expression",
            "unary_expression",
            "condition_clause",
            "assignment_expression",
            "call_expression",
            "argument_list",
        ):
            stack.extend(node.named_children)


def _compares(node: Node, words: set[str]) -> bool:
    operator = operator_of(node)
    if operator not in _RELATIONS and operator not in _EQUALITIES:
        return False
    left, right = text(field(node, "left")), text(field(node, "right"))
    if operator in _EQUALITIES and (left in NULLS or right in NULLS):
        return False
    return any(words & set(re.findall(r"[A-Za-z_]\w*", side)) for side in (left, right))


def _declared_name(node: Node | None) -> str:
    for _ in range(16):
        if node is None:
            return ""
        if node.type == "identifier":
            return text(node)
        node = node.child_by_field_name("declarator")
    return ""


def _exclusive(function: Function, shared: Node, below: Node, second: Node) -> bool:
    """Return whether `below` and `second` are in different branches of `shared`."""
    if shared.type in ("if_statement", "conditional_expression"):
        condition = field(shared, "condition")
        return condition is None or not (
            condition.start_byte <= below.start_byte < condition.end_byte
        )
    if shared.type == "compound_statement" and below.type == "case_statement":
        return _leaves(below, below.start_byte)
    return _leaves_between(function, shared, below, second)


def _leaves_between(function: Function, block: Node, below: Node, second: Node) -> bool:
    """Return whether a jump is directly in `block` between two of its statements, without a label
    before it."""
    if block.type not in ("compound_statement", "case_statement"):
        return False
    kept = _jumps_and_labels(function)
    if block.id not in kept:
        children = block.named_children
        kept[block.id] = (
            [child.start_byte for child in children if child.type in _JUMPS],
            [child.end_byte for child in children if child.type in _JUMPS],
            [child.start_byte for child in children if child.type == "labeled_statement"],
        )
    jumps, ends, labels = kept[block.id]
    first = bisect_left(jumps, below.end_byte)
    if first == len(jumps) or ends[first] > second.start_byte:  # behind it, or it is a part of it
        return False
    return not _is_between(labels, below.start_byte + 1, jumps[first])


@once_per_function
def _jumps_and_labels(_function: Function) -> dict[int, tuple[list[int], list[int], list[int]]]:
    """Return where the jumps of each block begin and end, and where it has labels, by its id;
    filled as blocks are looked at."""
    return {}


def _leaves(block: Node, after: int) -> bool:
    """Return whether a statement directly in `block` after a byte always leaves it."""
    return any(
        child.start_byte >= after and leaves(child)
        for child in block.named_children
        if child.type in _JUMPS or child.type in ("expression_statement", "compound_statement")
    )


def _last_statement(node: Node) -> Node:
    for _ in range(16):
        count = node.named_child_count if node.type == "compound_statement" else 0
        last = node.named_child(count - 1) if count else None
        if last is None:
            return node
        node = last
    return node

"""The control structure of one C or C++ function, read once, as plain ranges.

Only what changes the way of control is kept (branches, loops, jumps, `&&`); everything between
is a gap in which things happen in order of position. `paths.py` walks it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function, call_at
from jarvis_ls.codeintel.nodes import field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.top_level_items import is_dead_branch
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.constants import constant_text
from jarvis_ls.jsec.local.guards import NEVER_RETURN, NULLS, never_returns

MAX_NESTING = 90
"""Control nested deeper than this is not followed: the walk is recursive."""

_PLAIN = tuple(
    "if switch case block ternary and or return break continue goto label preproc range "
    "try throw".split()
)
"""Kinds of nodes of a function that are kinds of control as well."""
_LOOPS = {"for_statement": "for", "while_statement": "while", "do_statement": "do"}
_WRAPPERS = frozenset(
    {"likely", "unlikely", "always", "never", "__builtin_expect", "g_likely", "g_unlikely"}
)
_FINAL = tuple(
    "fail fatal die error abort panic oom exit usage memory croak throw raise skip".split()
)
_REMARKABLE = "remarkable names of functions"
_LEAVING = frozenset({"return", "break", "continue", "goto", "throw", "exit"})


class Region:
    """A stretch of code with the control in it."""

    __slots__ = ("end", "jumps", "parts", "start")

    def __init__(self, start: int, end: int, parts: list[Control]) -> None:
        self.start = start
        self.end = end
        self.parts = parts
        """Control structures directly in it, in order."""
        self.jumps = False
        """Whether control may leave it other than at its end, or enter at a label."""
        for part in parts:  # made for every branch: `any` of a generator costs twice as much
            if part.jumps:
                self.jumps = True
                break


class Condition:
    """An expression that decides."""

    __slots__ = ("constant", "key", "logic", "negated", "region", "test")

    def __init__(self, region: Region) -> None:
        self.region = region
        self.negated = False
        """Whether it is below an odd number of `!`."""
        self.logic: Control | None = None
        """The `&&` or `||` it is."""
        self.test: tuple[str, bool] | None = None
        """What it tests, and whether a true value means valid (`p`, `fd >= 0`)."""
        self.constant: bool | None = None
        """Its value when it always has the same."""
        self.key = ""
        """Its text without negation: two conditions with one key decide alike."""


class Control:
    """One control structure."""

    __slots__ = tuple(
        "_function _ready condition end jumps kind labels name node parts regions right "
        "start summary".split()
    )

    def __init__(self, kind: str, node: Node, function: Function) -> None:
        self._function = function
        self._ready = False
        self.kind = kind
        self.node = node
        self.start = node.start_byte
        self.end = node.end_byte
        self.parts: list[Control] = []
        self.regions: list[Region] = []
        """Its alternatives, or what it holds."""
        self.condition: Condition | None = None
        self.right: Condition | None = None
        """Right operand of `&&` and `||`; the left is the condition."""
        self.name = ""
        """The label of a jump, the value of a case."""
        self.jumps = kind in _LEAVING or kind in ("label", "fail")
        """Whether control may leave it other than at its end, or enter it at a label."""
        self.labels = kind == "label"
        """Whether it holds a label."""
        self.summary: object = None
        """What a walk past it does to a variable it does not touch, once known."""

    def prepare(self) -> None:
        """Cut it into regions; only needed when a walk enters it."""
        if not self._ready:
            self._ready = True
            _cut(self, self._function)


@once_per_function
def control_of(function: Function) -> Region | None:
    """Return the control structure of the body; None when there is no body or it nests too deep."""
    body = function.body
    if body is None or function.unit.language == "rust":
        return None
    root: list[Control] = []
    stack: list[Control] = []
    for kind, node in _structures(function):
        start = node.start_byte
        while stack and stack[-1].end <= start:
            _close(stack)
        if len(stack) > MAX_NESTING:
            return None
        made = Control(kind, node, function)
        (stack[-1].parts if stack else root).append(made)
        stack.append(made)
    while stack:
        _close(stack)
    return Region(body.start_byte, body.end_byte, root)


@once_per_function
def closures(function: Function) -> list[tuple[int, int]]:
    """Bytes of lambdas and nested functions, in order: they run at another time."""
    body = function.body
    if body is None:
        return []
    found = [
        (node.start_byte, node.end_byte)
        for kind in ("function", "lambda")
        for node in function.nodes(kind)
        if node.start_byte >= body.start_byte
    ]
    return sorted(found)


def _structures(function: Function) -> Iterator[tuple[str, Node]]:
    """Control nodes inside the body, outer before inner, dead and nested code left out."""
    body = function.body
    hidden = closures(function)
    start = body.start_byte if body is not None else function.start
    listed = []
    for kind, nodes in _kinds(function):
        for node in nodes:
            at = node.start_byte
            if at >= start:
                listed.append((at, -node.end_byte, kind, node))
    for call in _remarkable_calls(function):
        if never_returns(call):
            listed.append((call.node.start_byte, -call.node.end_byte, "exit", call.node))
        elif call.statement is not None and _sounds_final(call.name):
            listed.append((call.node.start_byte, -call.node.end_byte, "fail", call.node))
        elif "assert" in call.name.lower() and len(call.arguments) in (1, 2):
            listed.append((call.node.start_byte, -call.node.end_byte, "assert", call.node))
    listed.sort(key=lambda entry: entry[:2])
    reach = -1
    index = 0
    for start, _, kind, node in listed:
        while index < len(hidden) and hidden[index][0] <= start:
            reach = max(reach, hidden[index][1])
            index += 1
        if start >= reach:
            yield kind, node


def _kinds(function: Function) -> Iterator[tuple[str, list[Node]]]:
    for kind in _PLAIN:
        yield kind, function.nodes(kind)
    yield "preproc", function.nodes("ifdef")
    for node in function.nodes("loop"):
        yield _LOOPS[node.type], [node]


def _remarkable_calls(function: Function) -> Iterator[Call]:
    """Yield calls whose name says that they may end the program or check something. The callee's
    spelling rules out most calls before their arguments are read."""
    known: dict[bytes | None, bool] = function.unit.__dict__.setdefault(_REMARKABLE, {})
    for node in function.nodes("call"):
        callee = node.child_by_field_name("function")
        if callee is not None and callee.type == "identifier":
            written = callee.text
            if written not in known:
                name, _ = function.unit.facts.alias_of(text(callee))
                known[written] = (
                    name in NEVER_RETURN or _sounds_final(name) or ("assert" in name.lower())
                )
            if not known[written]:
                continue
        call = call_at(function.unit, function.item, node, function)
        if call is not None:
            yield call


def _sounds_final(name: str) -> bool:
    """Return whether a function may well end the program, told by its name."""
    lowered = name.lower()
    return any(word in lowered for word in _FINAL)


def _close(stack: list[Control]) -> None:
    """Pop the innermost construct; what is true of it because of its parts holds for the outer one
    too."""
    made = stack.pop()
    if stack:
        outer = stack[-1]
        outer.jumps = outer.jumps or made.jumps
        outer.labels = outer.labels or made.labels


def _cut(made: Control, function: Function) -> None:
    node, kind = made.node, made.kind
    if kind in ("if", "ternary", "switch"):
        made.condition = _condition(made, field(node, "condition"), function)
        names = ("body",) if kind == "switch" else ("consequence", "alternative")
        made.regions = [_region(made, field(node, name)) for name in names]
        if kind == "ternary":
            made.regions[0] = _stretch(made, made.regions[0])
    elif kind in ("while", "do", "for"):
        made.condition = _condition(made, field(node, "condition"), function)
        first = [_region(made, field(node, name)) for name in ("initializer", "update")]
        made.regions = [_region(made, field(node, "body")), *(_stretch(made, f) for f in first)]
        if kind == "for":
            made.condition.region = _stretch(made, made.condition.region)
    elif kind == "range":
        made.regions = [_region(made, field(node, "body")), _region(made, field(node, "right"))]
    elif kind in ("and", "or"):
        made.condition = _condition(made, field(node, "left"), function)
        made.right = _condition(made, field(node, "right"), function)
    elif kind == "assert":
        arguments = (field(node, "arguments") or node).named_children
        made.condition = _condition(made, arguments[0] if arguments else None, function)
    elif kind == "preproc":
        made.regions = list(_arms(made))
    elif kind == "try":
        made.regions = [_region(made, field(node, "body"))]
        made.regions += [_region(made, c) for c in node.named_children if c.type == "catch_clause"]
    else:
        made.regions = [Region(made.start, made.end, made.parts)]
        if kind in ("goto", "label"):
            made.name = text(field(node, "label"))
        elif kind == "case":
            made.name = text(field(node, "value"))


def _region(made: Control, node: Node | None) -> Region:
    if node is None:
        return Region(made.end, made.end, [])
    return _between(made, node.start_byte, node.end_byte)


def _stretch(made: Control, region: Region) -> Region:
    """One byte more: an assignment takes effect at the byte after it."""
    return Region(region.start, min(region.end + 1, made.end), region.parts)


def _between(made: Control, start: int, end: int) -> Region:
    parts = made.parts
    first = bisect_left(parts, start, key=lambda p: p.start)
    last = bisect_left(parts, end, lo=first, key=lambda p: p.start)
    return Region(start, end, parts[first:last])


def _arms(made: Control) -> Iterator[Region]:
    """Yield the branches of an `#if`; the last is empty when there is no `#else`."""
    node: Node | None = made.node
    kind = ""
    for _ in range(64):
        if node is None:
            break
        kind = node.type
        following = field(node, "alternative")
        dead = is_dead_branch(node)
        end = following.start_byte if following is not None else node.end_byte
        if not dead:
            yield _between(made, node.start_byte, end)
        node = following
    if kind != "preproc_else":
        yield Region(made.end, made.end, [])


def _condition(made: Control, node: Node | None, function: Function) -> Condition:
    found = Condition(_region(made, node))
    for _ in range(32):
        if node is None:
            break
        kind = node.type
        if kind in ("parenthesized_expression", "condition_clause"):
            node = _inner_condition(node)
        elif kind == "unary_expression" and operator_of(node) == "!":
            found.negated = not found.negated
            node = field(node, "argument")
        elif kind == "call_expression" and text(field(node, "function")).lower() in _WRAPPERS:
            node = next(iter((field(node, "arguments") or node).named_children), None)
        else:
            break
    if node is None:
        found.constant = True if made.kind == "for" else None
        return found
    if node.type == "binary_expression" and operator_of(node) in ("&&", "||"):
        found.logic = next((p for p in found.region.parts if p.node.id == node.id), None)
        found.key = "" if node.end_byte - node.start_byte > 200 else text(node)
        return found
    _read_atom(found, node, function)
    return found


def _inner_condition(node: Node) -> Node | None:
    """Return the expression inside parentheses or a C++ condition."""
    if node.type == "parenthesized_expression" and node.named_child_count == 1:
        return node.named_child(0)
    return field(node, "value") or next(
        (c for c in node.named_children if c.type != "comment"), None
    )


def _read_atom(found: Condition, node: Node, function: Function) -> None:
    kind = node.type
    if kind in ("true", "false", "number_literal"):
        found.constant = text(node) not in ("false", "0")
        return
    if kind == "binary_expression":
        operator = operator_of(node)
        left, right = field(node, "left"), field(node, "right")
        if operator in ("==", "!=", "<", ">=", ">") and left is not None and right is not None:
            _read_comparison(found, left, operator, right, function)
            return
    if kind == "assignment_expression":
        node = field(node, "left") or node
    if node.end_byte - node.start_byte > 200:
        return
    written = text(node)
    if written in function.unit.facts.macros:
        value = constant_text(written, function.unit)
        found.constant = None if value is None else value != 0
        return
    found.test, found.key = (written, True), written


def _read_comparison(
    found: Condition, left: Node, operator: str, right: Node, function: Function
) -> None:
    a, b = _value(left), _value(right)
    if a in NULLS and operator in ("==", "!="):
        a, b = b, a
    if not a:
        return
    if b in NULLS or b in ("-1", "0", "INVALID_HANDLE_VALUE", "MAP_FAILED", "thrd_success"):
        if operator == "==":
            found.negated = not found.negated
            found.test, found.key = (a, True), a
        elif operator == "!=" or (operator == ">=" and b == "0") or operator == ">":
            found.test, found.key = (a, True), a
        elif operator == "<" and b == "0":
            found.negated = not found.negated
            found.test, found.key = (a, True), f"{a} >= 0"
        if operator in (">=", ">"):
            found.key = f"{a} {operator} {b}"
        elif b == "-1":
            found.key = f"{a} != -1"
        return
    if operator == "!=":
        found.negated = not found.negated
    if operator in ("==", "!="):
        found.key = f"{a} == {b}"
        x, y = constant_text(a, function.unit), constant_text(b, function.unit)
        if x is not None and y is not None:
            found.constant = x == y


def _value(node: Node) -> str:
    """Return the text of an operand; of an assignment, its left side."""
    for _ in range(8):
        if node.type == "parenthesized_expression" and node.named_child_count:
            node = node.named_children[0]
        elif node.type == "cast_expression":
            node = field(node, "value") or node
        elif node.type == "assignment_expression":
            node = field(node, "left") or node
        else:
            break
    return text(node) if node.end_byte - node.start_byte <= 100 else ""

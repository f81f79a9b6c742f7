"""How many elements a function takes that walks over as many as are written in it.

The function is executed with the numbers that are known: loops over written numbers turn as often
as they do, both ways of a choice that depends on something else are taken, and every element that
is reached through a pointer counts. What goes on for too long, or reaches an element whose place is
not known, has no count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.layer_plan import Kind, Layer
from jarvis_ls.jc2r.lift.layer_text import InnerText
from jarvis_ls.jc2r.lift.pointer_regions import MOVES, SIZES, is_star, tail_of
from jarvis_ls.jc2r.lift.program import Key, arguments_of, key_of
from jarvis_ls.jc2r.lift.rust import Source, bare, first
from jarvis_ls.jc2r.lift.rust import field as part

STEPS = 60_000
"""Nodes that are executed before a function goes on for too long."""
MEMORY_CALLS = (b"sys::memcpy", b"sys::memmove", b"sys::memset", b"sys::memcmp")
"""Functions of the C library whose last argument is the number of bytes they access."""
_COMPARED = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
_COMPUTED = {
    b"wrapping_add": lambda a, b: a + b,
    b"wrapping_sub": lambda a, b: a - b,
    b"wrapping_mul": lambda a, b: a * b,
    b"wrapping_shl": lambda a, b: a << min(b, 64),
    b"wrapping_shr": lambda a, b: a >> min(b, 64),
}


class _Unknown(Exception):
    """An element is reached whose place is not known."""


class _Left(Exception):
    """A loop, or the function, is left."""

    def __init__(self, label: bytes) -> None:
        """`label` is that of the loop, empty for the innermost, `return` for the function."""
        super().__init__(label)
        self.label = label


@dataclass
class _State:
    numbers: dict[bytes, int] = field(default_factory=dict)
    """Values of variables, by name, that are known."""
    places: dict[bytes, int] = field(default_factory=dict)
    """Elements that pointers are at."""

    def copy(self) -> _State:
        return _State(dict(self.numbers), dict(self.places))

    def join(self, other: _State) -> _State:
        """Return what holds after either of two ways; a pointer is where it got farther."""
        numbers = {n: v for n, v in self.numbers.items() if other.numbers.get(n) == v}
        names = self.places.keys() & other.places.keys()
        return _State(numbers, {n: max(self.places[n], other.places[n]) for n in names})


class Walk:
    """Executes one function for the elements of one of its parameters."""

    def __init__(
        self, source: Source, body: Node, text: InnerText, layers: Mapping[Key, Layer], root: bytes
    ) -> None:
        """`text` has the regions of the function."""
        self._source, self._body, self._text, self._layers = source, body, text, layers
        self._root = root
        self._size = text.size_of(root)
        self._most = -1
        self.certain = False
        """Whether an element is reached in any case."""
        self._steps = 0
        self._state = _State(places={root: 0})

    def count(self) -> int:
        """Return the number of elements; 0 when there is none that is known."""
        if not self._size:
            return 0
        try:
            self._run(self._body)
        except _Left:
            pass
        except _Unknown:
            return 0
        return self._most + 1

    def _words(self, node: Node | None) -> bytes:
        return b"" if node is None else self._source.text(node)

    def _is_here(self, node: Node | None) -> bool:
        spot = None if node is None else self._text.regions.spot(node)
        return spot is not None and spot.root == self._root

    def _run(self, node: Node | None) -> None:
        """Execute a node for what it does to pointers and numbers."""
        if node is None or not node.is_named:
            return
        self._steps += 1
        if self._steps > STEPS:
            raise _Unknown
        act = getattr(self, f"_run_{node.type}", None)
        if act is not None:
            act(node)
            return
        for child in node.named_children:
            self._run(child)

    def _run_let_declaration(self, node: Node) -> None:
        name, value = self._words(part(node, "pattern")), part(node, "value")
        self._set(name, value, self._text.regions.root_of_declaration(node) == self._root)

    def _run_assignment_expression(self, node: Node) -> None:
        left, right = bare(part(node, "left")), part(node, "right")
        if left is not None and left.type == "identifier":
            here = self._text.regions.root_named(left) == self._root
            self._set(self._words(left), right, here)
            return
        self._run(right)
        self._run(left)

    def _set(self, name: bytes, value: Node | None, here: bool) -> None:
        if here:
            place = None if value is None else self._place(value)
            if place is None:
                raise _Unknown
            self._state.places[name] = place
            return
        self._run(value)
        number = self._number(value)
        if number is None:
            self._state.numbers.pop(name, None)
        else:
            self._state.numbers[name] = number

    def _run_compound_assignment_expr(self, node: Node) -> None:
        for side in ("right", "left"):
            self._run(part(node, side))
        self._state.numbers.pop(self._words(bare(part(node, "left"))), None)

    def _run_unary_expression(self, node: Node) -> None:
        pointer = first(node)
        if not is_star(node) or not self._is_here(pointer) or pointer is None:
            self._run(pointer)
            return
        spot = self._text.regions.spot(pointer)
        place = self._place(pointer)
        if place is None or spot is None:
            raise _Unknown
        wide = SIZES.get(spot.target, self._size)
        if wide < self._size or wide % self._size:
            raise _Unknown
        self._reach(place, wide // self._size)

    def _reach(self, place: int, count: int) -> None:
        if place < 0 or place + count > 65_536:
            raise _Unknown
        self._most = max(self._most, place + count - 1)
        self.certain = True

    def _run_call_expression(self, node: Node) -> None:
        function, arguments = part(node, "function"), arguments_of(node)
        if function is not None and function.type == "field_expression":
            if self._words(part(function, "field")) == b"is_null":
                return
            self._run(part(function, "value"))
        called = self._layers.get(key_of(self._words(function), self._source))
        for at, argument in enumerate(arguments):
            if not self._is_here(argument):
                self._run(argument)
                continue
            place = self._place(argument)
            taken = None
            if self._words(function) in MEMORY_CALLS and len(arguments) == 3:
                taken = self._number(arguments[2])
                taken = None if taken is None or taken % self._size else taken // self._size
            elif called is not None and at < len(called.parameters):
                its = called.parameters[at]
                if its.kind is Kind.REFERENCE:
                    taken = 1
                elif its.kind is Kind.SLICE and its.length is None:
                    taken = its.count
                elif its.kind is Kind.SLICE and its.length is not None:
                    taken = self._number(arguments[its.length])
            if place is None or not taken or taken < 0:
                raise _Unknown
            self._reach(place, taken)

    def _run_if_expression(self, node: Node) -> None:
        condition = part(node, "condition")
        self._run(condition)
        holds = self._holds(condition)
        other = part(node, "alternative")
        if holds is not None:
            self._run(part(node, "consequence") if holds else other)
            return
        self._run_ways([part(node, "consequence"), other])

    def _run_match_expression(self, node: Node) -> None:
        self._run(part(node, "value"))
        block = part(node, "body")
        arms = [] if block is None else [a for a in block.named_children if a.type == "match_arm"]
        self._run_ways([part(arm, "value") for arm in arms])

    def _run_ways(self, ways: list[Node | None]) -> None:
        """Execute each of several nodes; one that leaves has no say in what holds afterwards."""
        begun, ends, left = self._state, [], None
        before, everywhere = self.certain, True
        for way in ways:
            self._state, self.certain = begun.copy(), before
            try:
                self._run(way)
                ends.append(self._state)
            except _Left as leaving:
                left = leaving
            everywhere = everywhere and self.certain
        self.certain = everywhere
        if not ends:
            assert left is not None
            raise left
        joined = ends[0]
        for end in ends[1:]:
            joined = joined.join(end)
        self._state = joined

    def _run_for_expression(self, node: Node) -> None:
        span = bare(part(node, "value"))
        name = self._words(part(node, "pattern"))
        ends = [] if span is None else [self._number(side) for side in span.named_children]
        if span is None or span.type != "range_expression" or len(ends) != 2 or None in ends:
            self._run_often(node)
            return
        begin, end = (number or 0 for number in ends)
        for number in range(begin, end + (b"..=" in self._words(span))):
            self._state.numbers[name] = number
            if self._leaves(node):
                break

    def _run_while_expression(self, node: Node) -> None:
        condition = part(node, "condition")
        while True:
            self._run(condition)
            holds = self._holds(condition)
            if holds is None:
                self._run_often(node)
                return
            if not holds or self._leaves(node):
                return

    def _run_loop_expression(self, node: Node) -> None:
        while not self._leaves(node):
            pass

    def _leaves(self, loop: Node) -> bool:
        """Execute the body of a loop once; return whether it leaves the loop."""
        label = next((self._words(c) for c in loop.children if c.type == "label"), b"")
        try:
            self._run(part(loop, "body"))
        except _Left as left:
            if left.label in (b"", label):
                return True
            if left.label not in (b"continue", b"continue " + label):
                raise
        return False

    def _run_often(self, loop: Node) -> None:
        """Execute a loop whose number of iterations is unknown: pointers must not move in it."""
        before, certain = self._state.copy(), self.certain
        for _ in range(2):  # the second time with what is not known any more
            self._leaves(loop)
            if any(self._state.places.get(name) != at for name, at in before.places.items()):
                raise _Unknown
            self._state = before.join(self._state)
        self.certain = certain

    def _run_block(self, node: Node) -> None:
        label = next((self._words(c) for c in node.children if c.type == "label"), None)
        try:
            for child in node.named_children:
                self._run(child)
        except _Left as left:
            if label is None or left.label != label:
                raise

    def _run_break_expression(self, node: Node) -> None:
        raise _Left(next((self._words(c) for c in node.children if c.type == "label"), b""))

    def _run_continue_expression(self, node: Node) -> None:
        label = next((self._words(c) for c in node.children if c.type == "label"), b"")
        raise _Left(b" ".join([b"continue", *([label] if label else [])]))

    def _run_return_expression(self, node: Node) -> None:
        self._run(first(node))
        raise _Left(b"return")

    def _run_closure_expression(self, _: Node) -> None:
        raise _Unknown

    # Values

    def _place(self, pointer: Node) -> int | None:
        """Return the element that a pointer is at; what it does on the way is done."""
        node = bare(pointer) or pointer
        if node.type == "identifier":
            return self._state.places.get(self._words(node))
        if node.type == "type_cast_expression":
            value = part(node, "value")
            return None if value is None else self._place(value)
        if node.type == "reference_expression":
            star = bare(part(node, "value"))
            inner = None if star is None or not is_star(star) else first(star)
            return None if inner is None else self._place(inner)
        if node.type == "block":
            tail = tail_of(node)
            for child in node.named_children:
                if child != tail:
                    self._run(child)
            return None if tail is None else self._place(tail)
        method = part(node, "function") if node.type == "call_expression" else None
        value = None if method is None else part(method, "value")
        if method is None or value is None or self._words(part(method, "field")) not in MOVES:
            return None
        base, by = self._place(value), self._number(arguments_of(node)[0])
        spot = self._text.regions.spot(node)
        if base is None or by is None or spot is None:
            return None
        times, rest = divmod(SIZES.get(spot.target, self._size), self._size)
        return None if rest or not times else base + by * times

    def _number(self, node: Node | None) -> int | None:
        """Return the value of an expression, which it only looks at."""
        inner = bare(node)
        while inner is not None and inner.type == "type_cast_expression":
            inner = bare(part(inner, "value"))
        if inner is None:
            return None
        if inner.type == "identifier" and self._words(inner) in self._state.numbers:
            return self._state.numbers[self._words(inner)]
        if (number := self._text.regions.number(inner)) is not None:
            return number
        if inner.type == "unary_expression" and inner.children[0].type == "-":
            number = self._number(first(inner))
            return None if number is None else -number
        if inner.type == "block" and (tail := tail_of(inner)) is not None:
            return self._number(tail)  # its statements are executed before
        method = part(inner, "function") if inner.type == "call_expression" else None
        compute = None if method is None else _COMPUTED.get(self._words(part(method, "field")))
        if compute is None or method is None or len(arguments_of(inner)) != 1:
            return None
        left, right = self._number(part(method, "value")), self._number(arguments_of(inner)[0])
        return None if left is None or right is None else compute(left, right)

    def _holds(self, condition: Node | None) -> bool | None:
        """Return whether a condition holds; None when it is not known."""
        inner = bare(condition)
        if inner is None:
            return None
        if self._is_null_test(inner):
            return False
        if inner.type == "unary_expression" and inner.children[0].type == "!":
            holds = self._holds(first(inner))
            return None if holds is None else not holds
        sign = part(inner, "operator") if inner.type == "binary_expression" else None
        compare = None if sign is None else _COMPARED.get(sign.type)
        if compare is None:
            return None
        left, right = self._number(part(inner, "left")), self._number(part(inner, "right"))
        return None if left is None or right is None else bool(compare(left, right))

    def _is_null_test(self, node: Node) -> bool:
        """Return whether an expression asks whether a pointer here is null: then nothing counts."""
        method = part(node, "function") if node.type == "call_expression" else None
        if method is None or self._words(part(method, "field")) != b"is_null":
            return False
        return self._is_here(part(method, "value"))

"""How many elements a pointer has behind it, as the body of a function shows.

Proofs, in order: the end of the memory is computed from pointer and length, which C allows only
where so many elements are; an index goes up to the length, or the pointer goes on while the length
goes down; the C library is told both; another function whose body shows it is; every access is in a
comparison with the length right behind the pointer; only elements at fixed places are used, the
last of them in any case. A function that also ends at an element that is
0 takes a string with the most it may have: its length says nothing.
"""

from __future__ import annotations

import re

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.certain_uses import first_state, is_certainly_used
from jarvis_ls.jc2r.lift.layer_plan import Kind, Layer, Parameter
from jarvis_ls.jc2r.lift.layer_text import InnerText
from jarvis_ls.jc2r.lift.pointer_regions import MOVES, SIZES, is_star
from jarvis_ls.jc2r.lift.program import Key, arguments_of, is_changed, key_of, outermost
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first

_INTEGER = re.compile(rb"[iu](?:8|16|32|64|size)\Z")
_ZERO = re.compile(rb"0(?:[iu]\w+)?\Z")
_STEP = re.compile(rb"(\w+)\.wrapping_sub\(1(?:[iu]\w+)?\)\Z")
_MEMORY = (b"sys::memcpy", b"sys::memmove", b"sys::memset", b"sys::memcmp")


class Lengths:
    """Finds the lengths of the slices of one function."""

    def __init__(
        self, source: Source, layer: Layer, text: InnerText, layers: dict[Key, Layer]
    ) -> None:
        """`text` has the regions of the function."""
        body = field(layer.node, "body")
        assert body is not None
        self._source, self._layer, self._text, self._layers = source, layer, text, layers
        self._body = body
        self._integers = {
            parameter.name: place
            for place, parameter in enumerate(layer.parameters)
            if _INTEGER.match(parameter.type)
        }
        self._fixed = {n for n in self._integers if not is_changed(source, body, n)}

    def find(self, parameter: Parameter) -> bool:
        """Note the length of a slice; return whether there is one."""
        root = parameter.name
        if self._ends_at_zero(root):
            return False
        place = (
            self._by_end(root)
            or self._by_index(root)
            or self._by_countdown(root)
            or self._by_call(root)
            or self._by_guard(root)
        )
        if place:
            parameter.length, parameter.count = self._integers[place], 0
            return True
        parameter.length, parameter.count = None, self._by_constants(root)
        return parameter.count > 0

    def is_appended(self, parameter: Parameter) -> bool:
        """Return whether elements are only written, each behind the one before it: every write is
        through a pointer that goes on by one as it is used, and nothing else moves it."""
        root = parameter.name
        if self._text.element(root) not in SIZES or self._ends_at_zero(root):
            return False
        moves = []
        for node in below(self._body, "assignment_expression"):
            left, right = bare(field(node, "left")), bare(field(node, "right"))
            if left is None or right is None or left.type != "identifier":
                continue
            if self._text.regions.root_named(left) != root or self._is_start(right, set()):
                continue
            if self._source.text(right) != self._source.text(left) + b".offset(1)":
                return False
            moves.append(node)
        writes = [star for star in self._elements(root) if _moves_in(star, moves)]
        others = [star for star in self._elements(root) if star not in writes]
        return (
            len(writes) == len(moves) > 0
            and all(self._is_target(star) or self._is_address(star) for star in writes)
            and all(self._is_target(star) and self._is_lasting(star) for star in others)
        )

    def _is_target(self, star: Node) -> bool:
        """Return whether something is assigned to an element."""
        whole = outermost(star)
        around = whole.parent
        return (
            around is not None
            and around.type == "assignment_expression"
            and field(around, "left") == whole
        )

    def _is_address(self, star: Node) -> bool:
        """Return whether the address of an element is the value of a variable that the next
        statement assigns through."""
        address = outermost(star).parent
        let = None if address is None else address.parent
        if let is None or let.type != "let_declaration":
            return False
        later, name = let.next_named_sibling, field(let, "pattern")
        write = None if later is None else first(later)
        left = None if write is None else bare(field(write, "left"))
        return (
            left is not None
            and name is not None
            and is_star(left)
            and self._source.text(left) == b"*" + self._source.text(name)
        )

    def _is_lasting(self, star: Node) -> bool:
        """Return whether an element is that of a variable for one address."""
        name = bare(first(star))
        declared = None if name is None else self._text.regions.declaration(name)
        value = None if declared is None else field(declared, "value")
        return value is not None and value.type == "reference_expression"

    def _by_end(self, root: bytes) -> bytes:
        """Return the length of `end = p + n`."""
        starts = {root}
        for statement in self._first_statements(self._body):
            if found := next(
                filter(None, (self._end(call, root, starts) for call in _calls(statement))), b""
            ):
                return found
            self._follow(statement, root, starts)
        return next(
            filter(None, (self._end(call, root, set()) for call in _calls(self._body))), b""
        )

    def _end(self, call: Node, root: bytes, starts: set[bytes]) -> bytes:
        method = field(call, "function")
        if method is None or method.type != "field_expression":
            return b""
        name, value = field(method, "field"), field(method, "value")
        spot = self._text.regions.spot(call)
        if name is None or value is None or spot is None or spot.root != root:
            return b""
        if self._source.text(name) not in MOVES or not self._is_start(value, starts):
            return b""
        if self._size(spot.target) != self._size(self._text.element(root)):
            return b""
        return self._length(arguments_of(call)[0]) if self._is_end(call) else b""

    def _is_end(self, pointer: Node) -> bool:
        """Return whether a pointer, or the variable that it is the value of, is compared."""
        whole = outermost(pointer)
        around = whole.parent
        while around is not None and around.type == "type_cast_expression":
            whole = outermost(around)
            around = whole.parent
        if around is None:
            return False
        if around.type == "binary_expression":
            return True
        let = around.type == "let_declaration"
        if not let and around.type != "assignment_expression":
            return False
        place = field(around, "pattern" if let else "left")
        return place is not None and any(
            self._source.text(name) == self._source.text(place)
            for comparison in below(self._body, "binary_expression")
            for name in below(comparison, "identifier")
        )

    def _size(self, kind: bytes) -> int | bytes:
        return SIZES.get(kind, kind)

    def _is_start(self, pointer: Node, starts: set[bytes]) -> bool:
        inner = bare(pointer)
        while inner is not None and inner.type == "type_cast_expression":
            inner = bare(field(inner, "value"))
        if inner is None or inner.type != "identifier":
            return False
        return self._source.text(inner) in starts or self._text.index(inner) == b"0"

    def _length(self, node: Node | None) -> bytes:
        """Return the parameter that is the value of an expression, and never another one."""
        inner = _without_casts(node)
        name = b"" if inner is None else self._source.text(inner)
        return name if name in self._fixed else b""

    def _first_statements(self, body: Node) -> list[Node]:
        """Return the statements that are executed first, without those that may leave."""
        found: list[Node] = []
        for statement in body.named_children:
            inner = first(statement) if statement.type == "expression_statement" else statement
            if inner is None or inner.type == "if_expression":
                continue
            if inner.type == "loop_expression":
                block = field(inner, "body")
                match = None if block is None else first(block)
                if match is not None and match.type == "expression_statement":
                    match = first(match)
                begun = None if match is None else first_state(self._source, match)
                return found if begun is None else [*found, *self._first_statements(begun)]
            if inner.type not in ("let_declaration", "assignment_expression", "call_expression"):
                return found
            found.append(inner)
        return found

    def _follow(self, statement: Node, root: bytes, starts: set[bytes]) -> None:
        """Note in `starts` which variables point to the first element after a statement."""
        for node in below(statement, "let_declaration", "assignment_expression"):
            let = node.type == "let_declaration"
            place = field(node, "pattern" if let else "left")
            value = field(node, "value" if let else "right")
            if place is None or place.type != "identifier" or value is None:
                continue
            spot = self._text.regions.spot(value)
            name = self._source.text(place)
            starts.discard(name)
            if spot is not None and spot.root == root and self._is_start(value, starts):
                starts.add(name)

    def _by_index(self, root: bytes) -> bytes:
        """Return the length of a loop whose index is that of an element."""
        for star in self._elements(root):
            call = bare(first(star))
            if call is None or call.type != "call_expression":
                continue
            index = _without_casts(next(iter(arguments_of(call)), None))
            method = field(call, "function")
            value = None if method is None else field(method, "value")
            if index is None or index.type != "identifier" or value is None:
                continue
            if not self._is_start(value, set()):
                continue
            for loop in _around(star):
                if found := self._bound(loop, self._source.text(index)):
                    return found
        return b""

    def _bound(self, loop: Node, index: bytes) -> bytes:
        """Return the length that the index of a loop stays below."""
        if loop.type == "for_expression":
            pattern, span = field(loop, "pattern"), field(loop, "value")
            if pattern is None or span is None or self._source.text(pattern) != index:
                return b""
            inner = bare(span)
            if inner is None or inner.type != "range_expression" or inner.named_child_count != 2:
                return b""
            whole = b"..=" in self._source.text(inner)
            return b"" if whole else self._length(inner.named_children[1])
        if loop.type != "while_expression":
            return b""
        condition = bare(field(loop, "condition"))
        if condition is None or condition.type != "binary_expression":
            return b""
        left, sign = _without_casts(field(condition, "left")), field(condition, "operator")
        if left is None or sign is None or sign.type not in ("<", "!="):
            return b""
        if self._source.text(left) != index:
            return b""
        return self._length(field(condition, "right"))

    def _by_countdown(self, root: bytes) -> bytes:
        """Return the length that goes down by one as often as the pointer goes on by one."""
        moves = 0
        for node in below(self._body, "assignment_expression"):
            left, right = bare(field(node, "left")), bare(field(node, "right"))
            if left is None or right is None or left.type != "identifier":
                continue
            if self._text.regions.root_named(left) != root:
                continue
            if self._is_start(right, set()):
                continue
            step = self._source.text(left) + b".offset(1)"
            if self._source.text(right) != step:
                return b""
            moves += 1
        for name in self._integers.keys() - self._fixed:
            steps = [
                _STEP.match(self._source.text(right))
                for node in below(self._body, "assignment_expression")
                if (left := field(node, "left")) is not None
                and (right := bare(field(node, "right"))) is not None
                and self._source.text(left) == name
            ]
            if len(steps) == moves and all(step and step[1] == name for step in steps):
                return name
        return b""

    def _by_call(self, root: bytes) -> bytes:
        """Return the length that is handed on together with the pointer."""
        for call in _calls(self._body):
            function, arguments = field(call, "function"), arguments_of(call)
            path = b"" if function is None else self._source.text(function)
            if path in _MEMORY and len(arguments) == 3:
                handed = arguments[: 1 if path == b"sys::memset" else 2]
                is_bytes = self._size(self._text.element(root)) == 1
                lengths = [arguments[2]] if is_bytes else []
                pairs = [(node, length) for node in handed for length in lengths]
            else:
                pairs = self._handed_pairs(key_of(path, self._source), arguments)
            for pointer, length in pairs:
                if self._is_handed(pointer, root) and (found := self._length(length)):
                    return found
        return b""

    def _handed_pairs(self, key: Key, arguments: list[Node]) -> list[tuple[Node, Node]]:
        """Return the arguments that another function takes as pointer and length of a slice."""
        called = self._layers.get(key)
        if called is None or len(arguments) != len(called.parameters):
            return []
        return [
            (argument, arguments[its.length])
            for its, argument in zip(called.parameters, arguments, strict=True)
            if its.kind is Kind.SLICE and its.length is not None
        ]

    def _is_handed(self, argument: Node, root: bytes) -> bool:
        spot = self._text.regions.spot(argument)
        return spot is not None and spot.root == root and self._is_start(argument, set())

    def _by_guard(self, root: bytes) -> bytes:
        """Return the length right behind a pointer whose every access is in an `if` or loop that
        compares that length, which is given no other value than 0."""
        names = [parameter.name for parameter in self._layer.parameters]
        name = next(iter(names[names.index(root) + 1 :]), b"")
        given = [
            field(node, "right")
            for node in below(self._body, "assignment_expression", "compound_assignment_expr")
            if (left := field(node, "left")) is not None and self._source.text(left) == name
        ]
        zero = all(value and _ZERO.match(self._source.text(value)) for value in given)
        elements = self._elements(root)
        if name not in self._integers or not zero or not elements:
            return b""
        return name if all(self._is_guarded(star, name) for star in elements) else b""

    def _is_guarded(self, star: Node, length: bytes) -> bool:
        """Return whether a place is reached only where something is below a length."""
        for node in _around(star):
            if node.type not in ("if_expression", "while_expression"):
                continue
            block = field(node, "consequence" if node.type == "if_expression" else "body")
            condition = bare(field(node, "condition"))
            inside = block is not None and block.start_byte <= star.start_byte < block.end_byte
            if not inside or condition is None or condition.type != "binary_expression":
                continue
            sign = field(condition, "operator")
            side = {"<": "right", ">": "left"}.get("" if sign is None else sign.type, "")
            bound = field(condition, side) if side else None
            if bound is not None and self._source.text(bound) == length:
                return True
        return False

    def _by_constants(self, root: bytes) -> int:
        """Return how many elements there are when only those at fixed places are used."""
        found: dict[int, list[Node]] = {}
        for star in self._elements(root):
            text = self._text.index(first(star) or star)
            if not text.isdigit():
                return 0
            found.setdefault(int(text), []).append(star)
        if not found or len(found) > 64:
            return 0
        last = found[max(found)]

        def uses(name: Node) -> bool:
            return self._source.text(name) == root and any(
                star.start_byte <= name.start_byte < star.end_byte for star in last
            )

        return max(found) + 1 if is_certainly_used(self._source, self._body, uses) else 0

    def _elements(self, root: bytes) -> list[Node]:
        """Return every `*pointer` of a region."""
        return [
            star
            for star in below(self._body, "unary_expression")
            if is_star(star)
            and (spot := self._text.regions.spot(first(star))) is not None
            and spot.root == root
        ]

    def _ends_at_zero(self, root: bytes) -> bool:
        """Return whether an element is compared with 0 in a loop."""
        for star in self._elements(root):
            comparison = next((n for n in _around(star) if n.type == "binary_expression"), None)
            right = None if comparison is None else field(comparison, "right")
            sign = None if comparison is None else field(comparison, "operator")
            if right is None or sign is None or sign.type not in ("==", "!="):
                continue
            inner = bare(right)
            zero = inner is not None and _ZERO.match(self._source.text(inner)) is not None
            if zero and any(n.type.startswith(("while", "loop", "for")) for n in _around(star)):
                return True
        return False


def _moves_in(star: Node, moves: list[Node]) -> bool:
    return any(star.start_byte <= move.start_byte < star.end_byte for move in moves)


def _calls(node: Node) -> list[Node]:
    return list(below(node, "call_expression"))


def _around(node: Node) -> list[Node]:
    """Return what a node is in, within its function, from the inside out."""
    found = []
    while node.parent is not None and node.parent.type != "function_item":
        node = node.parent
        found.append(node)
    return found


def _without_casts(node: Node | None) -> Node | None:
    inner = bare(node)
    while inner is not None and inner.type == "type_cast_expression":
        inner = bare(field(inner, "value"))
    return inner

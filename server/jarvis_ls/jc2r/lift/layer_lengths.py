"""How many elements a pointer has behind it, as the body of a function shows.

Proofs, in order: the end of the memory is computed from pointer and length, which C allows only
where so many elements are; an index goes up to the length, or the pointer goes on while the length
goes down; the C library is told both; another function whose body shows it is; every access is in a
comparison with the length right behind the pointer; an index goes up to a part of the length; the
parameter right behind a pointer to bytes is named as a length; only elements at fixed places are
used, the last of them in any case; the function walks over as many as are written in it. A function
that also ends at an element that is 0 takes a string with the most it may have: its length says
nothing. A name alone is no proof: that so many bytes are there is what `# Safety` asks of callers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.certain_uses import first_state, is_certainly_used
from jarvis_ls.jc2r.lift.layer_plan import Kind, Layer, Parameter
from jarvis_ls.jc2r.lift.layer_text import InnerText
from jarvis_ls.jc2r.lift.layer_walks import MEMORY_CALLS, Walk
from jarvis_ls.jc2r.lift.pointer_regions import MOVES, SIZES, is_star
from jarvis_ls.jc2r.lift.program import Key, arguments_of, is_changed, key_of, outermost
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first

_INTEGER = re.compile(rb"[iu](?:8|16|32|64|size)\Z")
_ZERO = re.compile(rb"0(?:[iu]\w+)?\Z")
_STEP = re.compile(rb"(\w+)\.wrapping_sub\(1(?:[iu]\w+)?\)\Z")
_LENGTH = re.compile(rb"(?i)(?:len|length|size|sz|nbytes|count)\Z")
"""Ends the name of a length."""
_GROWING = (b"wrapping_add", b"wrapping_mul", b"wrapping_shl")
_BYTES = re.compile(rb"\b(?:u8|i8|c_void)\Z")


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
        divisor = 1
        if not place:
            place, divisor = self._by_quotient(root)
        if not place:
            place = self._by_parts(root)
        if not place:
            place = self._by_name(root)
        if place:
            parameter.length, parameter.count = self._integers[place], 0
            parameter.divisor = divisor
            return True
        parameter.length, parameter.count = None, self._by_constants(root) or self._by_walk(root)
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
        return next(filter(None, map(self._length, self._bounds(root))), b"")

    def _by_quotient(self, root: bytes) -> tuple[bytes, int]:
        """Return the length that a loop whose index is that of an element divides by a number, with
        that number."""
        for bound in self._bounds(root):
            inner = _without_casts(bound)
            sign = None if inner is None else field(inner, "operator")
            if inner is None or inner.type != "binary_expression" or sign is None:
                continue
            name = self._length(field(inner, "left"))
            divisor = self._text.regions.number(field(inner, "right"))
            if sign.type == "/" and name and divisor:
                return name, divisor
        return b"", 1

    def _by_parts(self, root: bytes) -> bytes:
        """Return the length of which a loop hands on parts of a number of elements each, and turns
        as often as they are in it."""
        for call, pointer, count in self._handed_counts(root):
            move = bare(pointer)
            while move is not None and move.type == "type_cast_expression":
                move = bare(field(move, "value"))
            index = None if move is None else _without_casts(next(iter(arguments_of(move)), None))
            method = None if index is None else field(index, "function")
            value = None if method is None else bare(field(method, "value"))
            if index is None or method is None or value is None or count < 2:
                continue
            times = self._text.regions.number(next(iter(arguments_of(index)), None))
            if not self._source.text(method).endswith(b".wrapping_mul") or times != count:
                continue
            for loop in _around(call):
                bound = _without_casts(self._bound(loop, self._source.text(value)))
                if bound is None or bound.type != "binary_expression":
                    continue
                sign, parts = field(bound, "operator"), field(bound, "right")
                if (
                    sign is not None
                    and sign.type == "/"
                    and (self._text.regions.number(parts) == count)
                ):
                    return self._length(field(bound, "left"))
        return b""

    def _bounds(self, root: bytes) -> Iterator[Node]:
        """Yield what the indices of elements stay below in loops."""
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
                bound = self._bound(loop, self._source.text(index))
                if bound is not None:
                    yield bound

    def _bound(self, loop: Node, index: bytes) -> Node | None:
        """Return what the index of a loop stays below."""
        if loop.type == "for_expression":
            pattern, span = field(loop, "pattern"), field(loop, "value")
            if pattern is None or span is None or self._source.text(pattern) != index:
                return None
            inner = bare(span)
            if inner is None or inner.type != "range_expression" or inner.named_child_count != 2:
                return None
            whole = b"..=" in self._source.text(inner)
            return None if whole else inner.named_children[1]
        if loop.type != "while_expression":
            return None
        condition = bare(field(loop, "condition"))
        if condition is None or condition.type != "binary_expression":
            return None
        left, sign = _without_casts(field(condition, "left")), field(condition, "operator")
        if left is None or sign is None or sign.type not in ("<", "!="):
            return None
        return field(condition, "right") if self._source.text(left) == index else None

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
            if path in MEMORY_CALLS and len(arguments) == 3:
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
            if its.kind is Kind.SLICE and its.length is not None and its.divisor == 1
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

    def _by_name(self, root: bytes) -> bytes:
        """Return the length right behind a pointer that is called one: what C programs mean by
        `const char *data, size_t len`."""
        names = [parameter.name for parameter in self._layer.parameters]
        name = next(iter(names[names.index(root) + 1 :]), b"")
        named = _LENGTH.search(name) is not None and name in self._integers
        type_ = self._layer.parameters[names.index(root)].type
        return name if named and _BYTES.search(type_) and self._text.size_of(root) == 1 else b""

    def _by_walk(self, root: bytes) -> int:
        """Return how many elements are walked over, where the function uses one in any case."""
        walk = Walk(self._source, self._body, self._text, self._layers, root)
        count = walk.count()
        return count if walk.certain else 0

    def _by_constants(self, root: bytes) -> int:
        """Return how many elements there are when only those at fixed places are used."""
        found: dict[int, list[Node]] = {}
        for star in self._elements(root):
            last = self._last_index(self._lasting_address(star) or first(star) or star, root)
            if last is None:
                return 0
            found.setdefault(last + 1, []).append(star)
        for call, pointer, count in self._handed_counts(root):
            begin = self._text.index(pointer)
            if count == 0 or not begin.isdigit():
                return 0
            found.setdefault(int(begin) + count, []).append(call)
        if not found or len(found) > 256:
            return 0
        last_uses = found[max(found)]
        loops = {loop for use in last_uses if (loop := self._loop_of(use)) is not None}

        def uses(name: Node) -> bool:
            if name.parent is not None and (name.parent in loops or name.parent.parent in loops):
                return True  # what a loop over numbers begins with
            return self._source.text(name) == root and any(
                use.start_byte <= name.start_byte < use.end_byte for use in last_uses
            )

        bodies = [self._body, *self._blocks_if_there(root)]
        certain = any(is_certainly_used(self._source, body, uses) for body in bodies)
        return max(found) if certain else 0

    def _blocks_if_there(self, root: bytes) -> Iterator[Node]:
        """Yield the blocks that are executed where a pointer is not null."""
        for choice in below(self._body, "if_expression"):
            condition, block = bare(field(choice, "condition")), field(choice, "consequence")
            if condition is None or block is None or condition.type != "unary_expression":
                continue
            call = bare(first(condition))
            method = None if call is None else field(call, "function")
            pointer = None if method is None else _without_casts(field(method, "value"))
            if method is None or pointer is None or self._source.text(pointer) != root:
                continue
            if self._source.text(method).endswith(b".is_null"):
                yield block

    def _lasting_address(self, star: Node) -> Node | None:
        """Return the address that a variable is declared with and keeps, in `*variable`."""
        name = bare(first(star))
        declared = None
        if name is not None and name.type == "identifier":
            declared = self._text.regions.declaration(name)
        kept = declared is not None and declared.type == "let_declaration"
        if (
            declared is None
            or not kept
            or any(child.type == "mutable_specifier" for child in declared.children)
        ):
            return None
        value = field(declared, "value")
        return value if value is not None and value.type == "reference_expression" else None

    def _loop_of(self, node: Node) -> Node | None:
        """Return the `for` over numbers right in which something is done at every turn."""
        for around in _around(node):
            if around.type in ("if_expression", "match_expression", "while_expression"):
                return None
            if around.type == "for_expression":
                return around
        return None

    def _last_index(self, pointer: Node, root: bytes) -> int | None:
        """Return the largest index that a pointer into a region is at; None when it is not known
        from numbers that are written."""
        node = bare(pointer)
        while node is not None and node.type in ("type_cast_expression", "reference_expression"):
            node = bare(field(node, "value"))
            if node is not None and is_star(node):
                node = bare(first(node))
        if node is None:
            return None
        if node.type == "identifier":
            return 0 if self._text.index(node) == b"0" else None
        method = field(node, "function") if node.type == "call_expression" else None
        value = None if method is None else field(method, "value")
        name = None if method is None else field(method, "field")
        if value is None or name is None or self._source.text(name) not in MOVES:
            return None
        spot = self._text.regions.spot(node)
        if spot is None or self._size(spot.target) != self._size(self._text.element(root)):
            return None
        base, by = self._last_index(value, root), self._most(arguments_of(node)[0])
        return None if base is None or by is None else base + by

    def _most(self, node: Node | None) -> int | None:
        """Return the largest value of an index that is made of numbers and the variables of loops
        over numbers."""
        inner = _without_casts(node)
        if inner is None:
            return None
        if (number := self._text.regions.number(inner)) is not None:
            return number
        if inner.type == "identifier":
            ends = (self._end_of(loop, inner) for loop in _around(inner))
            return next((end for end in ends if end is not None), None)
        method = field(inner, "function") if inner.type == "call_expression" else None
        name = b"" if method is None else self._source.text(field(method, "field") or method)
        if method is None or name not in _GROWING:
            return None
        left, right = self._most(field(method, "value")), self._most(arguments_of(inner)[0])
        if left is None or right is None or right > 4096:
            return None
        sums = {b"wrapping_add": left + right, b"wrapping_mul": left * right}
        return sums.get(name, left << min(right, 16))

    def _end_of(self, loop: Node, index: Node) -> int | None:
        """Return the last value of the variable of a `for` over numbers."""
        pattern, span = field(loop, "pattern"), bare(field(loop, "value"))
        if loop.type != "for_expression" or pattern is None or span is None:
            return None
        if self._source.text(pattern) != self._source.text(index):
            return None
        if span.type != "range_expression" or span.named_child_count != 2:
            return None
        begin, end = (self._text.regions.number(side) for side in span.named_children)
        if begin is None or end is None or begin >= end:
            return None
        return end if b"..=" in self._source.text(span) else end - 1

    def _handed_counts(self, root: bytes) -> Iterator[tuple[Node, Node, int]]:
        """Yield calls that take pointers into a region, with the pointer and how many elements they
        take; 0 when that is no number that is written."""
        size = self._text.size_of(root)
        for call in _calls(self._body):
            function, arguments = field(call, "function"), arguments_of(call)
            path = b"" if function is None else self._source.text(function)
            called = self._layers.get(key_of(path, self._source))
            for place, argument in enumerate(arguments):
                spot = self._text.regions.spot(argument)
                if spot is None or spot.root != root or path.endswith((b"offset", b"is_null")):
                    continue
                count = 0
                if path in MEMORY_CALLS and len(arguments) == 3:
                    taken = self._text.regions.number(arguments[2])
                    count = 0 if not size or taken is None or taken % size else taken // size
                elif called is not None and place < len(called.parameters):
                    its = called.parameters[place]
                    count = its.count if its.kind is Kind.SLICE else its.kind is Kind.REFERENCE
                yield call, argument, int(count)

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

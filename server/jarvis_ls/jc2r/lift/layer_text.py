"""The text of inner functions: pointers into a region as indices, other pointers as references.

Every pointer into a region is written as its distance from the beginning, and every access is an
element with a bounds check: the function does what it did with pointers, or panics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.certain_uses import is_certainly_used
from jarvis_ls.jc2r.lift.layer_calls import inner_call, memory_call
from jarvis_ls.jc2r.lift.layer_plan import Kind, Layer, Refused
from jarvis_ls.jc2r.lift.pointer_regions import (
    MOVES,
    SIZES,
    Known,
    Regions,
    Spot,
    declared_names,
    is_null_value,
    is_star,
    tail_of,
)
from jarvis_ls.jc2r.lift.program import Key, arguments_of, key_of
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, rewritten

_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_THROUGH = re.compile(rb"\(\*(\w+)\)")
_ACTING = ("block", "call_expression", "assignment_expression")


class InnerText:
    """Rewrites one function; afterwards says what it has seen of the parameters."""

    def __init__(
        self,
        source: Source,
        node: Node,
        layer: Layer | None,
        layers: Mapping[Key, Layer],
        known: Known | None = None,
    ) -> None:
        """`layer` is what becomes of the function, None when only its calls change; `layers` are
        those of the crate."""
        self.written: set[bytes] = set()
        """Parameters that something is written through."""
        self.tested: set[bytes] = set()
        """Slices that are compared with null."""
        self.raw_calls: set[Key] = set()
        """Functions with a layer that are called with raw pointers nevertheless."""
        self.source = source
        self._node = node
        self._layers = layers
        converted = {} if layer is None else {p.name: p for p in layer.converted}
        self.slices = {n: p for n, p in converted.items() if p.kind is not Kind.REFERENCE}
        self.references = {n: p for n, p in converted.items() if p.kind is Kind.REFERENCE}
        body = field(node, "body")
        assert body is not None
        self._body = body
        for name in converted.keys() & declared_names(source, body):
            raise Refused(name)
        self.regions = Regions(
            source,
            node,
            {n: p.type.partition(b" ")[2] for n, p in self.slices.items()},
            frozenset() if layer is None else layer.left,
            known,
        )
        self._elements: dict[bytes, bytes] = {}
        self.converts = layer is not None
        self._known: set[bytes] = set()
        """Optional references that are known to be there, at the place at hand."""
        self._guards = {guard.id: names for guard, names in self._find_guards() if self.references}
        self._rules = {
            "let_declaration": self._let,
            "expression_statement": self._statement,
            "if_expression": self._choice,
            "assignment_expression": self._assignment,
            "compound_assignment_expr": self._compound,
            "unary_expression": self._star,
            "parenthesized_expression": self._parentheses,
            "binary_expression": self._comparison,
            "reference_expression": self._reference,
            "identifier": self._name,
        }

    def body(self) -> bytes:
        """Return the new text of the body. Raises `Refused`."""
        return rewritten(self.source.data, self._body, self._rule)

    def element(self, root: bytes) -> bytes:
        """Return the type of the elements of a region; empty when the text does not say. Raises
        `Refused`."""
        if root not in self._elements:
            self._elements[root] = self._find_element(root)
        return self._elements[root]

    def _find_element(self, root: bytes) -> bytes:
        if root.startswith(b'b"'):
            return b"u8"
        if root in self.regions.arrays:
            return self.regions.arrays[root]
        declared = self.regions.roots.get(root, b"")
        if declared and not declared.endswith(b"c_void"):
            return declared
        found = self.regions.targets(root)
        for kind in (b"u8", b"i8"):
            if kind in found:
                return kind
        if len(found) > 1 or (declared and not found):
            raise Refused(root)
        return next(iter(found), b"")

    def size_of(self, root: bytes) -> int:
        """Return the bytes of an element of a region; 0 when they are not known."""
        try:
            return SIZES.get(self.element(root), 0)
        except Refused:
            return 0

    def index(self, pointer: Node) -> bytes:
        """Return how far a pointer is from the beginning of its region, in elements."""
        return self._index(pointer, self._say)

    def _say(self, node: Node) -> bytes:
        return rewritten(self.source.data, node, self._rule)

    def _rule(self, node: Node, say: Say) -> bytes | None:
        if node.type == "call_expression":
            return self._call(node, say)
        if not self.converts or node.type not in self._rules:
            return None
        return self._rules[node.type](node, say)

    def _text(self, node: Node | None) -> bytes:
        return b"" if node is None else self.source.text(node)

    # Statements

    def _let(self, node: Node, say: Say) -> bytes | None:
        name = self._text(field(node, "pattern"))
        mutable = b"mut " if any(c.type == "mutable_specifier" for c in node.children) else b""
        if (array := self.regions.zeroed_array(node)) is not None:
            kind, length = array
            return b"let mut %b: [%b; %b] = [0 as %b; %b];" % (name, kind, length, kind, length)
        if self.regions.root_of_declaration(node) is None:
            return None
        value = field(node, "value")
        head = b"let " + mutable + name + b": isize"
        if value is None:
            return head + b";"
        return head + b" = " + self._value(value, say) + b";"

    def _value(self, value: Node, say: Say) -> bytes:
        return b"0" if is_null_value(self.source, value) else self._index(value, say)

    def _statement(self, node: Node, say: Say) -> bytes | None:
        inner = first(node)
        if inner is None:
            return None
        if inner.id in self._guards:
            return self._guard(inner, say)
        if inner.type == "call_expression":
            return memory_call(self, inner, say)
        return None

    def _guard(self, node: Node, say: Say) -> bytes:
        """Return `let Some(p) = p else { return … };` for what leaves when a reference is null."""
        names = self._guards[node.id]
        block = field(node, "consequence")
        left = b"" if block is None else say(block)
        said = b"".join(b"let Some(%b) = %b else %b;\n" % (name, name, left) for name in names)
        self._known |= set(names)
        rest = [
            say(part)
            for part in _disjuncts(field(node, "condition"))
            if self._null_tested(part) not in names
        ]
        return said + (b"if " + b" || ".join(rest) + b" " + left if rest else b"")

    def _choice(self, node: Node, say: Say) -> bytes | None:
        if node.id in self._guards:
            return self._guard(node, say)
        condition = _without_negations(field(node, "condition"))
        tested = None if condition is None else _negation(condition)
        name = b"" if tested is None else self._null_tested(tested)
        parameter = self.references.get(name)
        if parameter is None or not parameter.optional or name in self._known:
            return None
        block, other = field(node, "consequence"), field(node, "alternative")
        lent = name + (b".as_deref_mut()" if parameter.written and not parameter.cell else b"")
        self._known.add(name)
        said = b"if let Some(%b) = %b " % (name, lent) + (b"" if block is None else say(block))
        self._known.discard(name)
        return said + (b"" if other is None else b" " + say(other))

    def _assignment(self, node: Node, say: Say) -> bytes | None:
        left, right = bare(field(node, "left")), field(node, "right")
        if left is None or right is None:
            return None
        if left.type == "identifier":
            if self.regions.root_named(left) is None:
                return None
            if self._variable(left) != self._text(left):
                return self._variable(left) + b" = " + self._index(right, say)  # no null
            return self._variable(left) + b" = " + self._value(right, say)
        if is_star(left):
            if (spot := self.regions.spot(first(left))) is not None:
                return self._write(spot, left, right, say)
            name = self._text(bare(first(left)))
            if name in self.references and self.references[name].cell:
                self.written.add(name)
                return self.shown(name) + b".set(" + say(right) + b")"
        self.mark(left)
        return None

    def _write(self, spot: Spot, star: Node, right: Node, say: Say) -> bytes:
        self.mark_root(spot.root)
        element, value = self.element(spot.root), say(right)
        if spot.target != element and element:
            value = self._convert(spot, element, value)
        pointer = first(star)
        assert pointer is not None
        if self._is_vector(spot.root):
            at = _atom(self._index(pointer, say)) + b" as usize"
            if b"{" in at and any(True for _ in below(right, *_ACTING)):
                handed = b"sys::put(" + spot.root + b", " + at + b", __value)"
                return b"{ let __value = " + value + b"; " + handed + b" }"
            return b"sys::put(" + spot.root + b", " + at + b", " + value + b")"
        place = spot.root + b"[" + self.subscript(pointer, say) + b"]"
        if not self.is_cell(spot.root):
            return place + b" = " + value
        if any(True for _ in below(star, *_ACTING)) and any(True for _ in below(right, *_ACTING)):
            return b"{ let __value = " + value + b"; " + place + b".set(__value) }"
        return place + b".set(" + value + b")"

    def _convert(self, spot: Spot, element: bytes, value: bytes) -> bytes:
        if SIZES.get(spot.target, 0) != SIZES.get(element, -1) or b"f" in spot.target + element:
            raise Refused(spot.root)
        return b"(" + value + b") as " + element

    def _compound(self, node: Node, _: Say) -> bytes | None:
        left = bare(field(node, "left"))
        if left is None:
            return None
        if left.type == "identifier" and self.regions.root_named(left) is not None:
            raise Refused(self._text(left))
        spot = self.regions.spot(first(left)) if is_star(left) else None
        if spot is not None and (self.is_cell(spot.root) or spot.target != self.element(spot.root)):
            raise Refused(spot.root)
        name = self._text(bare(first(left))) if is_star(left) else b""
        if name in self.references and self.references[name].cell:
            raise Refused(name)
        self.mark(left)
        return None

    # Expressions

    def _star(self, node: Node, say: Say) -> bytes | None:
        if not is_star(node):
            return None
        if array := self.regions.array_place(node):
            return array
        pointer = first(node)
        if pointer is None:
            return None
        if (spot := self.regions.spot(pointer)) is not None:
            return self._read(spot, pointer, say)
        name = self._text(bare(pointer))
        if name not in self.references:
            return None
        shown = self.shown(name)
        return shown + b".get()" if self.references[name].cell else b"*" + shown

    def shown(self, name: bytes) -> bytes:
        """Return a reference, where it may be missing and is not known to be there, unwrapped."""
        parameter = self.references[name]
        if not parameter.optional or name in self._known:
            return name
        if parameter.written and not parameter.cell:
            return name + b".as_deref_mut().unwrap()"
        return name + b".unwrap()"

    def _read(self, spot: Spot, pointer: Node, say: Say) -> bytes:
        element, subscript = self.element(spot.root), self.subscript(pointer, say)
        get = b".get()" if self.is_cell(spot.root) else b""
        text = spot.root + b"[" + subscript + b"]" + get
        if spot.target in (element, b"") or not element:
            return text
        size = SIZES.get(spot.target, 0)
        if element not in SIZES or b"f" in spot.target[:1] + element[:1] or size == 0:
            raise Refused(spot.root)
        if size == SIZES[element]:
            return b"(" + text + b" as " + spot.target + b")"
        if element != b"u8":
            raise Refused(spot.root)
        return (
            b"{ let __at = " + subscript + b"; " + spot.target + b"::from_ne_bytes("
            b"core::array::from_fn(|__k| " + spot.root + b"[__at.wrapping_add(__k)]" + get + b")) }"
        )

    def _parentheses(self, node: Node, say: Say) -> bytes | None:
        inner, around = bare(node), node.parent
        if inner is None or not is_star(inner):
            return None
        name = self._text(bare(first(inner)))
        if name in self.references and not self.references[name].cell:
            return (
                self.shown(name)
                if around is not None and (around.type == "field_expression")
                else None
            )
        if self.regions.spot(first(inner)) is None and not self.regions.array_place(inner):
            return None
        text = say(inner)
        return b"(" + text + b")" if text.startswith(b"{") else text

    def _comparison(self, node: Node, say: Say) -> bytes | None:
        sign = field(node, "operator")
        left, right = field(node, "left"), field(node, "right")
        if sign is None or sign.type not in _COMPARISONS or left is None or right is None:
            return None
        if name := self._null_tested(node):
            text = self._null_test(name)
            return b"!" + text if sign.type == "!=" else text
        spot, other = self.regions.spot(left), self.regions.spot(right)
        if spot is None or other is None:
            return None
        if spot.root != other.root:
            raise Refused(spot.root)
        places = [_atom(self._index(side, say)) for side in (left, right)]
        return places[0] + b" " + sign.type.encode() + b" " + places[1]

    def _reference(self, node: Node, _: Say) -> bytes | None:
        place = bare(field(node, "value"))
        changing = any(c.type in ("mutable_specifier", "raw") for c in node.children)
        if place is not None and changing:
            self.mark(place)
        return None

    def _name(self, node: Node, _: Say) -> bytes | None:
        name = self._text(node)
        if name in self.references:
            declared = self.regions.declaration(node)
            if declared is not None and declared.type == "parameter":
                raise Refused(name)
            return None
        root = self.regions.root_named(node)
        if root is not None:
            raise Refused(root)
        return None

    # Calls

    def _call(self, node: Node, say: Say) -> bytes | None:
        function = field(node, "function")
        if function is None:
            return None
        if function.type != "field_expression":
            called = self._layers.get(key_of(self._text(function), self.source))
            return None if called is None else inner_call(self, called, node, say)
        if not self.converts:
            return None
        name, value = self._text(field(function, "field")), bare(field(function, "value"))
        if name == b"is_null" and (tested := self._null_tested(node)):
            return self._null_test(tested)
        if name == b"wrapping_sub" and (distance := self._distance(node, say)):
            return distance
        if name == b"as_mut_ptr" and value is not None:
            self.mark(value)
        return None

    def _distance(self, node: Node, say: Say) -> bytes:
        """Return how far one pointer is behind another, of `(a as isize).wrapping_sub(b as isize)`;
        empty when it is no distance of pointers."""
        function, arguments = field(node, "function"), arguments_of(node)
        pointers = []
        for side in (None if function is None else field(function, "value"), *arguments[:1]):
            cast = bare(side)
            kind = None if cast is None else field(cast, "type")
            if cast is None or cast.type != "type_cast_expression" or self._text(kind) != b"isize":
                return b""
            value = field(cast, "value")
            spot = self.regions.spot(value)
            if spot is None or value is None:
                return b""
            pointers.append((spot, value))
        (spot, left), (other, right) = pointers
        if spot.root != other.root:
            raise Refused(spot.root)
        begin, end = self._index(right, say), _atom(self._index(left, say))
        text = end if begin == b"0" else end + b".wrapping_sub(" + begin + b")"
        element = self.element(spot.root)
        if SIZES.get(element) == 1:
            return b"(" + text + b" as isize)" if text.isdigit() else text
        bytes_of = b"core::mem::size_of::<" + element + b">() as isize"
        return _atom(text) + b".wrapping_mul(" + bytes_of + b")"

    # Null

    def _null_tested(self, node: Node) -> bytes:
        """Return the parameter that an expression compares with null; empty when it does not."""
        node = bare(node) or node
        pointer: Node | None = None
        if node.type == "call_expression":
            function = field(node, "function")
            if function is not None and self._text(field(function, "field")) == b"is_null":
                pointer = bare(field(function, "value"))
        elif node.type == "binary_expression":
            left, right = field(node, "left"), field(node, "right")
            if is_null_value(self.source, right):
                pointer = bare(left)
            elif is_null_value(self.source, left):
                pointer = bare(right)
        while pointer is not None and pointer.type == "type_cast_expression":
            pointer = bare(field(pointer, "value"))
        if pointer is None or pointer.type != "identifier":
            return b""
        name = self._text(pointer)
        if name not in self.references and name not in self.slices:
            return b""
        declared = self.regions.declaration(pointer)
        return name if declared is not None and declared.type == "parameter" else b""

    def _null_test(self, name: bytes) -> bytes:
        if name in self.slices:
            if self._is_vector(name):
                raise Refused(name)
            self.tested.add(name)
            return name + b"_is_null"
        if not self.references[name].optional or name in self._known:
            return b"false"
        return name + b".is_none()"

    def _find_guards(self) -> Iterator[tuple[Node, list[bytes]]]:
        """Yield what leaves the function at its begin when references are null, with their
        names."""
        seen: set[bytes] = set()
        for statement in self._body.named_children:
            inner = first(statement) if statement.type == "expression_statement" else statement
            if inner is not None and inner.type == "if_expression":
                block = field(inner, "consequence")
                only = None if block is None or block.named_child_count != 1 else first(block)
                leaves = only is not None and self._text(only).startswith(b"return")
                if leaves and field(inner, "alternative") is None:
                    names = [
                        name
                        for part in _disjuncts(field(inner, "condition"))
                        if (name := self._null_tested(part)) in self.references
                        and self.references[name].optional
                        and name not in seen
                        and not self._text(part).startswith(b"!")
                        and b"!=" not in self._text(part)
                    ]
                    if names:
                        yield inner, list(dict.fromkeys(names))
            seen |= {self._text(node) for node in below(statement, "identifier")}

    # Indices

    def _variable(self, name: Node) -> bytes:
        text = self._text(name)
        declared = self.regions.declaration(name)
        return text + b"_at" if declared is not None and declared.type == "parameter" else text

    def _index(self, pointer: Node, say: Say) -> bytes:
        node = bare(pointer) or pointer
        spot = self.regions.spot(node)
        if spot is None:
            raise Refused(b"")
        if node.type == "identifier":
            name = self._variable(node)
            own = self.slices.get(self._text(node))
            if name.endswith(b"_at") and own is not None and name != self._text(node):
                return name if own.moved else b"0"
            return name
        if node.type == "type_cast_expression":
            value = bare(field(node, "value"))
            return (
                b"0"
                if value is None or self.regions.spot(value) is None
                else (self._index(value, say))
            )
        if node.type == "reference_expression":
            place = bare(field(node, "value"))
            inner = None if place is None else first(place)
            return b"0" if inner is None else self._index(inner, say)
        if node.type == "call_expression":
            return self._moved(node, spot, say)
        if node.type == "block":
            return self._with_tail(node, tail_of(node), say)
        if node.type == "if_expression":
            return self._with_tail(
                node, field(node, "consequence"), say, first(field(node, "alternative") or node)
            )
        raise Refused(spot.root)

    def _with_tail(
        self, node: Node, tail: Node | None, say: Say, other: Node | None = None
    ) -> bytes:
        """Return a node where pointers at its end are indices."""

        def rule(inner: Node, _: Say) -> bytes | None:
            if inner in (tail, other):
                return self._index(inner, say)
            if inner == node or inner.type == "else_clause":
                return None
            return say(inner) if inner.is_named else None

        return rewritten(self.source.data, node, rule)

    def _moved(self, node: Node, spot: Spot, say: Say) -> bytes:
        method = field(node, "function")
        value = None if method is None else field(method, "value")
        if method is None or value is None or self._text(field(method, "field")) not in MOVES:
            return b"0"
        base, by = self._index(value, say), say(arguments_of(node)[0])
        times = self._times(spot)
        if times != 1:
            by = _atom(by) + b".wrapping_mul(%d)" % times
            if by[:1].isdigit() or by.startswith(b"(-"):
                by = by.replace(b".", b"isize.", 1) if by[:1].isdigit() else by
        if base == b"0":
            return by
        return _atom(base) + b".wrapping_add(" + by + b")"

    def _times(self, spot: Spot) -> int:
        """Return how many elements of its region a pointer moves by when it moves by one."""
        element = self.element(spot.root)
        if spot.target in (element, b"") or not element:
            return 1
        times, rest = divmod(SIZES.get(spot.target, 0), SIZES.get(element, 1))
        if times == 0 or rest or element not in SIZES:
            raise Refused(spot.root)
        return times

    def subscript(self, pointer: Node, say: Say) -> bytes:
        """Return the index of an element, as a `usize`."""
        node = bare(pointer) or pointer
        spot = self.regions.spot(node)
        if spot is not None and self._is_vector(spot.root):
            raise Refused(spot.root)  # it may not be there so far
        if node.type == "call_expression" and spot is not None:
            method = field(node, "function")
            value = None if method is None else field(method, "value")
            by = bare(arguments_of(node)[0]) if arguments_of(node) else None
            cast = by is not None and by.type == "type_cast_expression"
            if (
                cast
                and by is not None
                and value is not None
                and self._text(field(by, "type")) == b"isize"
                and self._times(spot) == 1
                and self._index(value, say) == b"0"
            ):
                inner = field(by, "value")
                return b"0" if inner is None else say(inner) + b" as usize"
        text = self._index(node, say)
        if text.isdigit():
            return text
        if re.fullmatch(rb"-\d+", text):
            text += b"isize"
        return _atom(text) + b" as usize"

    # What is written through

    def mark(self, place: Node) -> None:
        """Note that a place is written to, or its address taken to do so."""
        node: Node | None = place
        while node is not None and node.type in (
            "field_expression",
            "index_expression",
            "parenthesized_expression",
        ):
            node = field(node, "value") if node.type == "field_expression" else first(node)
        if node is None or not is_star(node):
            return
        pointer = first(node)
        if (spot := self.regions.spot(pointer)) is not None:
            self.mark_root(spot.root)
        elif (name := self._text(bare(pointer))) in self.references:
            self.written.add(name)

    def mark_root(self, root: bytes) -> None:
        """Note that a region is written to."""
        if root in self.slices:
            self.written.add(root)
        elif (through := _THROUGH.match(root)) is not None and through[1] in self.references:
            self.written.add(through[1])

    def _is_vector(self, root: bytes) -> bool:
        return root in self.slices and self.slices[root].kind is Kind.VECTOR

    def is_cell(self, root: bytes) -> bool:
        """Return whether the elements of a region are cells."""
        return root in self.slices and self.slices[root].cell

    def is_surely_used(self, name: bytes) -> bool:
        """Return whether every way through the function looks through a reference before it may
        leave."""

        def uses(node: Node) -> bool:
            if self._text(node) != name or node.parent is None:
                return False
            whole = node
            while whole.parent is not None and whole.parent.type == "parenthesized_expression":
                whole = whole.parent
            around = whole.parent
            if around is None:
                return False
            if is_star(around):
                return True
            if around.type != "arguments" or around.parent is None:
                return False
            function = field(around.parent, "function")
            called = self._layers.get(key_of(self._text(function), self.source))
            if called is None or function is None or whole not in around.named_children:
                return False
            place = list(around.named_children).index(whole)
            its = called.parameters[place] if place < len(called.parameters) else None
            return its is not None and its.kind is Kind.REFERENCE and not its.optional

        return is_certainly_used(self.source, self._body, uses)


def _disjuncts(condition: Node | None) -> list[Node]:
    """Return the parts of `a || b || c`."""
    inner = _without_negations(condition)
    if inner is None:
        return []
    sign = field(inner, "operator") if inner.type == "binary_expression" else None
    if sign is None or sign.type != "||":
        return [inner]
    return [*_disjuncts(field(inner, "left")), *_disjuncts(field(inner, "right"))]


def _without_negations(condition: Node | None) -> Node | None:
    """Return a condition without two negations of it."""
    inner = bare(condition)
    while inner is not None and (once := _negation(inner)) is not None:
        twice = _negation(once)
        if twice is None:
            break
        inner = twice
    return inner


def _negation(node: Node) -> Node | None:
    negates = node.type == "unary_expression" and node.children[0].type == "!"
    return bare(first(node)) if negates else None


def _atom(text: bytes) -> bytes:
    """Return an expression that a method or `as` may follow."""
    plain = b" as " not in text and text[:1] not in (b"{", b"-") and not text.startswith(b"if ")
    return text if plain else b"(" + text + b")"

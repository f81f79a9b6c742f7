"""Raw pointers of one function that stay in one array, so that an index says as much as they do.

A region is what a parameter points into, a text, or an array that the function has a name for. A
local pointer belongs to it when all that is ever assigned to it does. The regions of variables are
the least fixpoint over the assignments; a variable that may be in two regions is in none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from dataclasses import field as data_field

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import arguments_of
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first, variable_of
from jarvis_ls.jc2r.lift.unsafe_operations import declaration_of

VOID = b"core::ffi::c_void"
SIZES = {
    b"u8": 1,
    b"i8": 1,
    b"u16": 2,
    b"i16": 2,
    b"u32": 4,
    b"i32": 4,
    b"f32": 4,
    b"u64": 8,
    b"i64": 8,
    b"f64": 8,
    b"usize": 8,
    b"isize": 8,
}
"""Bytes of the types of numbers."""
MOVES = (b"offset", b"wrapping_offset")
_ARRAYS = (b"as_mut_ptr", b"as_ptr")
_NULL = re.compile(rb"core::ptr::null(?:_mut)?\(\)\Z")
_UNINIT = re.compile(rb"core::mem::MaybeUninit<\[(\w+); (\w+)\]>\Z")


_LITERAL = re.compile(rb"(\d+)(?:[iu]\w+)?\Z")
_FIXED = re.compile(rb"\[(\w+); (\d+)\]\Z")


@dataclass(frozen=True, slots=True)
class Known:
    """What the files of a crate say of names."""

    constants: Mapping[bytes, int] = data_field(default_factory=dict)
    """Values of whole numbers that have a name."""
    members: Mapping[bytes, Mapping[bytes, bytes]] = data_field(default_factory=dict)
    """Types of the members of each structure."""
    tables: Mapping[bytes, bytes] = data_field(default_factory=dict)
    """Arrays of numbers that nothing writes to, with the types of their elements."""


def known_names(sources: Iterable[Source]) -> Known:
    """Return the constants and structures that files define; a name with two meanings has none."""
    constants: dict[bytes, set[bytes]] = {}
    members: dict[bytes, list[dict[bytes, bytes]]] = {}
    tables: dict[bytes, set[bytes]] = {}
    for source in sources:
        for item in below(source.root, "static_item"):
            name, kind = field(item, "name"), field(item, "type")
            array = None if kind is None else _FIXED.match(source.text(kind))
            changing = any(child.type == "mutable_specifier" for child in item.children)
            if name is not None:
                element = b"" if array is None or changing else array[1]
                tables.setdefault(source.text(name), set()).add(element)
        for item in below(source.root, "const_item", "struct_item"):
            name, value = field(item, "name"), field(item, "value")
            if name is not None and item.type == "const_item" and value is not None:
                constants.setdefault(source.text(name), set()).add(source.text(value))
            elif name is not None and item.type == "struct_item":
                fields = {
                    source.text(member): source.text(kind)
                    for declared in below(item, "field_declaration")
                    if (member := field(declared, "name")) and (kind := field(declared, "type"))
                }
                members.setdefault(source.text(name), []).append(fields)
    numbers = {
        name: int(match[1])
        for name, values in constants.items()
        if len(values) == 1 and (match := _LITERAL.match(next(iter(values))))
    }
    known = {name: kinds[0] for name, kinds in members.items() if len(kinds) == 1}
    lasting = {name: next(iter(kinds)) for name, kinds in tables.items() if len(kinds) == 1}
    return Known(numbers, known, {name: kind for name, kind in lasting.items() if kind in SIZES})


@dataclass(frozen=True, slots=True)
class Spot:
    """What is known of a pointer."""

    root: bytes
    """The parameter or array that it points into."""
    target: bytes
    """Type that it points to; empty when the text does not say."""


class Regions:
    """The regions of one function."""

    def __init__(
        self,
        source: Source,
        function: Node,
        roots: Mapping[bytes, bytes],
        left: Set[bytes] = frozenset(),
        known: Known | None = None,
    ) -> None:
        """`roots` are parameters that may be regions, with the types they point to; arrays in
        `left` are none."""
        self._known = known or Known()
        self._left = left
        self.source = source
        self.function = function
        self.roots = dict(roots)
        self._declared: dict[int, Node | None] = {}
        self._root_of: dict[int, bytes | None] = {}
        """By the declaration: None is no region, and what is not there is not known so far."""
        self._spots: dict[int, Spot | None] | None = None
        """By the expression, once all is known."""
        self.arrays: dict[bytes, bytes] = {}
        """Types of the elements of arrays that are regions, where they are known."""
        self._infer()
        self._spots = {}

    def spot(self, node: Node | None) -> Spot | None:
        """Return what is known of a pointer; None when it is in no region."""
        node = bare(node)
        if node is None or self._spots is None:
            return None if node is None else self._find_spot(node)
        if node.id not in self._spots:
            self._spots[node.id] = self._find_spot(node)
        return self._spots[node.id]

    def _find_spot(self, node: Node) -> Spot | None:
        if node.type == "identifier":
            return self._spot_of_name(node)
        if node.type == "type_cast_expression":
            return self._spot_of_cast(node)
        if node.type == "call_expression":
            return self._spot_of_call(node)
        if node.type == "reference_expression":
            place = bare(field(node, "value"))
            if place is not None and is_star(place):
                return self.spot(first(place))
            return None
        if node.type == "block":
            return self.spot(tail_of(node))
        if node.type == "if_expression":
            return self._spot_of_choice(node)
        return None

    def declaration(self, name: Node) -> Node | None:
        """Return what declares a variable where it is named."""
        if name.id not in self._declared:
            self._declared[name.id] = declaration_of(self.source, name)
        return self._declared[name.id]

    def root_of_declaration(self, declared: Node) -> bytes | None:
        """Return the region of a declared pointer."""
        return self._root_of.get(declared.id)

    def root_named(self, name: Node) -> bytes | None:
        """Return the region of a named parameter or variable."""
        declared = self.declaration(name)
        if declared is None:
            return None
        if declared.type == "parameter":
            text = self.source.text(name)
            return text if text in self.roots else None
        return self._root_of.get(declared.id)

    def targets(self, root: bytes) -> set[bytes]:
        """Return the types that pointers into a region are cast to or declared with."""
        found = {self.roots[root]} if root in self.roots else set()
        for cast in below(self.function, "type_cast_expression"):
            if (spot := self.spot(cast)) is not None and spot.root == root:
                found.add(spot.target)
        for let in below(self.function, "let_declaration"):
            if self._root_of.get(let.id) == root and (kind := field(let, "type")) is not None:
                found.add(target_of(self.source.text(kind)))
        return found - {VOID, b""}

    def zeroed_array(self, declared: Node | None) -> tuple[bytes, bytes] | None:
        """Return element and length of a local array of numbers that begins uninitialized."""
        kind = None if declared is None else field(declared, "type")
        match = None if kind is None else _UNINIT.match(b" ".join(self.source.text(kind).split()))
        return (match[1], match[2]) if match is not None and match[1] in SIZES else None

    def array_place(self, node: Node) -> bytes:
        """Return the array that `*name.as_mut_ptr()` means for an array that begins uninitialized;
        empty when it is nothing like that."""
        call = bare(first(node)) if is_star(node) else None
        method = None if call is None else field(call, "function")
        name = None if method is None else bare(field(method, "value"))
        if name is None or name.type != "identifier" or method is None:
            return b""
        called = field(method, "field")
        if called is None or self.source.text(called) not in _ARRAYS:
            return b""
        return self.source.text(name) if self.zeroed_array(self.declaration(name)) else b""

    def _infer(self) -> None:
        values: dict[int, list[Node]] = {}
        lets = [
            let
            for let in below(self.function, "let_declaration")
            if (pattern := field(let, "pattern")) is not None and pattern.type == "identifier"
        ]
        for let in lets:
            kind, value = field(let, "type"), field(let, "value")
            if kind is not None and kind.type != "pointer_type":
                self._root_of[let.id] = None
            elif kind is not None or value is not None:
                values[let.id] = [] if value is None else [value]
        for node in below(self.function, "assignment_expression"):
            left, right = bare(field(node, "left")), field(node, "right")
            if left is None or right is None or left.type != "identifier":
                continue
            declared = self.declaration(left)
            if declared is not None and declared.id in values:
                values[declared.id].append(right)
        changed = True
        while changed:
            changed = False
            for key, given in values.items():
                if self._root_of.get(key, b"") is None:
                    continue
                found = {self._root_of_value(value, values) for value in given} - {b""}
                root = None if len(found) != 1 else next(iter(found))
                if found and self._root_of.get(key, b"") != root:
                    self._root_of[key] = root
                    changed = True
        for key in values:
            self._root_of.setdefault(key, None)  # only ever null
        self._drop_unknown(values)

    def _drop_unknown(self, values: Mapping[int, list[Node]]) -> None:
        """Take the region from variables that are given a value in none, until nothing changes."""
        changed = True
        while changed:
            changed = False
            for key, given in values.items():
                root = self._root_of[key]
                if root is not None and any(
                    self._root_of_value(value, {}) not in (b"", root) for value in given
                ):
                    self._root_of[key] = None
                    changed = True

    def _root_of_value(self, value: Node, pending: Mapping[int, list[Node]]) -> bytes | None:
        """Return the region of an assigned value; empty when that is null, or depends on variables
        in `pending` that are not known so far."""
        if is_null_value(self.source, value):
            return b""
        spot = self.spot(value)
        if spot is not None:
            return spot.root
        waiting = any(
            (declared := self.declaration(name)) is not None
            and declared.id in pending
            and declared.id not in self._root_of
            for name in below(value, "identifier")
        )
        return b"" if waiting else None

    def _spot_of_name(self, node: Node) -> Spot | None:
        root = self.root_named(node)
        if root is None:
            return None
        declared = self.declaration(node)
        if declared is None or declared.type == "parameter":
            return Spot(root, self.roots[root])
        kind = field(declared, "type")
        if kind is not None:
            return Spot(root, target_of(self.source.text(kind)))
        return self.spot(field(declared, "value"))

    def _spot_of_cast(self, node: Node) -> Spot | None:
        kind, value = field(node, "type"), bare(field(node, "value"))
        if kind is None or value is None or kind.type != "pointer_type":
            return None
        target = target_of(self.source.text(kind))
        inner = self.spot(value)
        if inner is not None:
            return Spot(inner.root, target)
        if value.type == "reference_expression":  # `&raw mut array as *mut element`
            place = bare(field(value, "value"))
            array = b"" if place is None else self.array_place(place)
            named = place is not None and (place.type == "identifier" or self._element(place))
            if named and place is not None and self._is_array(place):
                array = self.source.text(place)
            if array and array not in self._left and place is not None:
                self._note_array(array, place)
                return Spot(array, target)
        return None

    def _spot_of_call(self, node: Node) -> Spot | None:
        method = field(node, "function")
        if method is None or method.type != "field_expression":
            return None
        name, value = field(method, "field"), bare(field(method, "value"))
        if name is None or value is None:
            return None
        if self.source.text(name) in MOVES and len(arguments_of(node)) == 1:
            return self.spot(value)
        array = self.source.text(value)
        if self.source.text(name) not in _ARRAYS or array in self._left:
            return None
        if value.type == "string_literal":
            return Spot(array, b"u8") if array.startswith(b"b") else None
        if not self._is_array(value):
            return None
        self._note_array(array, value)
        return Spot(array, self._element(value))

    def _note_array(self, array: bytes, place: Node) -> None:
        if kind := self._element(place):
            self.arrays[array] = kind

    def _spot_of_choice(self, node: Node) -> Spot | None:
        other = field(node, "alternative")
        left = self.spot(field(node, "consequence"))
        right = None if other is None else self.spot(first(other))
        return left if left == right else None

    def _is_array(self, place: Node) -> bool:
        """Return whether a place is an array of the function, or a field of what a parameter shows
        that is never another one."""
        if place.type == "identifier":
            declared = self.declaration(place)
            if declared is None:
                return self.source.text(place) in self._known.tables
            kind = field(declared, "type")
            return kind is not None and kind.type == "array_type"
        node = place
        while node.type == "field_expression":
            inner = bare(field(node, "value"))
            if inner is None:
                return False
            node = inner
        if node == place or not is_star(node):
            return False
        name = bare(first(node))
        declared = None if name is None or name.type != "identifier" else self.declaration(name)
        return declared is not None and declared.type == "parameter"

    def number(self, node: Node | None) -> int | None:
        """Return the value of a whole number that is written, or is that of a constant."""
        inner = bare(node)
        while inner is not None and inner.type == "type_cast_expression":
            inner = bare(field(inner, "value"))
        text = b"" if inner is None else self.source.text(inner)
        if (literal := _LITERAL.match(text)) is not None:
            return int(literal[1])
        return self._known.constants.get(text.rpartition(b"::")[2])

    def _element(self, place: Node) -> bytes:
        """Return the type of the elements of an array; empty when it is not known."""
        if place.type == "field_expression":
            array = _FIXED.match(self._member_type(place))
            return b"" if array is None else array[1]
        declared = self.declaration(place) if place.type == "identifier" else None
        if declared is None:
            return self._known.tables.get(self.source.text(place), b"")
        kind = field(declared, "type")
        element = None if kind is None else field(kind, "element")
        return b"" if element is None else self.source.text(element)

    def _member_type(self, place: Node) -> bytes:
        """Return the type of a member of what a parameter shows; empty when it is not known."""
        whole, name = bare(field(place, "value")), field(place, "field")
        if whole is None or name is None:
            return b""
        if whole.type == "field_expression":
            kind = self._member_type(whole)
        else:
            pointer = bare(first(whole)) if is_star(whole) else None
            declared = None if pointer is None else self.declaration(pointer)
            shown = None if declared is None else field(declared, "type")
            kind = b"" if shown is None else target_of(self.source.text(shown))
        members = self._known.members.get(kind.rpartition(b"::")[2], {})
        return members.get(self.source.text(name), b"")


def is_star(node: Node) -> bool:
    """Return whether an expression is `*pointer`."""
    return node.type == "unary_expression" and node.children[0].type == "*"


def is_null_value(source: Source, node: Node | None) -> bool:
    """Return whether an expression is the null pointer."""
    inner = bare(node)
    return inner is not None and _NULL.match(source.text(inner)) is not None


def target_of(kind: bytes) -> bytes:
    """Return the type that a pointer type points to."""
    return kind.partition(b" ")[2].strip() if kind.startswith(b"*") else b""


def tail_of(block: Node) -> Node | None:
    """Return the value of a block."""
    inside = [node for node in block.named_children if "comment" not in node.type]
    last = inside[-1] if inside else None
    if last is None or last.type in ("expression_statement", "let_declaration", "empty_statement"):
        return None
    return last


def moved_parameters(source: Source, body: Node, names: set[bytes]) -> set[bytes]:
    """Return the parameters that are given another value."""
    return {
        source.text(left)
        for node in below(body, "assignment_expression", "compound_assignment_expr")
        if (left := bare(field(node, "left"))) is not None
        and left.type == "identifier"
        and source.text(left) in names
    }


def declared_names(source: Source, body: Node) -> set[bytes]:
    """Return the names that the body itself declares."""
    return {
        variable_of(source, node)
        for node in below(body, "let_declaration", "for_expression", "closure_parameters")
    }

"""How many bytes are behind a pointer, as far as declarations and allocations near it say.

Sizes of structs are not laid out: `sizeof(T)` of an unknown type is a unit of its own, and two
sizes are only compared when they are counted in the same unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from jarvis_ls.codeintel.declarations import Declared
from jarvis_ls.codeintel.functions import Call, Function, Unit, call_at
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.flow.library.c_tables import LIBRARY
from jarvis_ls.jsec.local.c.next_use import values_of
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.constants import (
    array_size,
    constant,
    constant_text,
    declaration,
    element_size,
    literal_length,
    string_literal,
)
from jarvis_ls.jsec.local.guards import NULLS

ALLOCATORS: dict[str, tuple[int, ...]] = {
    **{
        name: effects[0][2]
        for name, effects in LIBRARY.effects.items()
        if effects[0][0] == "alloc" and effects[0][2]
    },
    "malloc": (0,),
    "xmalloc": (0,),
    "valloc": (0,),
    "alloca": (0,),
    "_alloca": (0,),
    "__builtin_alloca": (0,),
    "calloc": (0, 1),
    "xcalloc": (0, 1),
    "realloc": (1,),
    "xrealloc": (1,),
    "reallocarray": (1, 2),
    "aligned_alloc": (1,),
    "memalign": (1,),
}
"""Functions that give memory, and which of their arguments are multiplied for its size."""

STACK_ALLOCATORS = frozenset({"alloca", "_alloca", "__builtin_alloca"})
_FIXED = re.compile(r"(?:std::)?u?int(?:8|16|32|64|ptr|max)_t|s?size_t")
"""Types that have the same size whatever a project declares for systems without them."""
_POINTER = 8
_FUEL = 8


@dataclass(frozen=True, slots=True)
class Size:
    """A number of bytes, or of units whose own size is not known."""

    count: int
    unit: str = ""
    """Name of the type the count is of; empty for bytes."""

    def exceeds(self, other: Size) -> bool:
        """Return whether it is certainly more than `other`."""
        return self.unit == other.unit and self.count > other.count


@dataclass(frozen=True, slots=True)
class Extent:
    """The memory a pointer points into."""

    size: Size
    """From the pointer to the end."""
    offset: int
    """From the start of the memory to the pointer, in the unit of `size`; negative when the
    pointer is in front of it."""
    kind: str
    """`array`, `scalar` (address of one), `heap`, `stack` (alloca) or `literal`."""
    node: Node | None
    """The declaration's name or the allocation, when it is in this function."""
    name: str
    """What the memory is called: the array's name, the pointer's or the allocator's."""
    certain: bool = True
    """False when it is the smallest of several the pointer may have been set to."""

    def weigh(self, confidence: float) -> float:
        """`confidence`, less when the pointer may point elsewhere."""
        return confidence if self.certain else round(confidence * 0.75, 2)


def extent(node: Node | None, function: Function | None) -> Extent | None:
    """Return the memory behind a pointer expression, or None when it may be anything.

    Sees arrays, fields that are arrays, allocations of known size, string literals, `new T[n]`,
    pointers set to one of these, and `+`, `-`, `&a[n]` with constants. Where several
    assignments may have happened the smallest counts.
    """
    if node is None or function is None:
        return None
    known = _extent_cache(function)
    if node.id not in known:
        known[node.id] = _extent(node, function, _FUEL)
    return known[node.id]


@once_per_function
def _extent_cache(function: Function) -> dict[int, Extent | None]:  # noqa: ARG001 - the key
    """Extents worked out before, by node; several rules ask for the same."""
    return {}


def _extent(node: Node | None, function: Function, fuel: int) -> Extent | None:
    if node is None or fuel <= 0:
        return None
    node = bare(node)
    kind = node.type
    if kind == "binary_expression":
        return _extent_at_offset(node, function, fuel)
    if kind == "pointer_expression" and operator_of(node) == "&":
        return _address(bare(field(node, "argument") or node), function, fuel)
    if kind == "conditional_expression":
        sides = [
            _extent(field(node, n), function, fuel - 1) for n in ("consequence", "alternative")
        ]
        return smallest([s for s in sides if s is not None]) if None not in sides else None
    if kind in ("string_literal", "concatenated_string"):
        literal = string_literal(node)
        wide = 4 if text(node).startswith("L") else 1
        return (
            None
            if literal is None
            else Extent(Size((literal_length(literal) + 1) * wide), 0, "literal", node, "literal")
        )
    if kind in ("call_expression", "new_expression"):
        return allocation(node, function)
    if kind == "subscript_expression":
        return _row(node, function)
    return _extent_of_name(node, function, fuel)


def smallest(extents: list[Extent]) -> Extent | None:
    """Return the extent with the least bytes, None when there is none or units differ."""
    if not extents or len({e.size.unit for e in extents}) > 1:
        return None
    least = min(extents, key=lambda e: (e.size.count, e.offset))
    alike = all(e.size == least.size and e.offset == least.offset for e in extents)
    return least if alike else replace(least, certain=False)


def allocation(node: Node, function: Function) -> Extent | None:
    """Return the memory an allocation call or `new T[n]` gives, or None when its size is not
    known.
    """
    if node.type == "new_expression":
        declarator, named = field(node, "declarator"), field(node, "type")
        length = constant(field(declarator, "length"), function) if declarator is not None else 1
        if length is None or named is None:
            return None
        unit = _type_size(text(named), 0, function.unit)
        return Extent(replace(unit, count=unit.count * length), 0, "heap", node, "new")
    call = call_at(function.unit, function.item, node, function)
    size = None if call is None else allocation_size(call)
    if call is None or size is None:
        return None
    where = "stack" if call.name in STACK_ALLOCATORS else "heap"
    return Extent(size, 0, where, node, call.name)


def allocation_size(call: Call) -> Size | None:
    """Return how much memory an allocation call requests, or None when that is not constant."""
    places = ALLOCATORS.get(call.name)
    if places is None or len(call.arguments) <= max(places):
        return None
    total: Size | None = Size(1)
    for place in places:
        total = _times(total, size_value(call.arguments[place], call.function, call.unit))
    return total


def size_value(node: Node | None, function: Function | None, unit: Unit) -> Size | None:
    """Return a constant size expression, with `sizeof` of unknown types as units, or None."""
    if node is None:
        return None
    node = bare(node)
    plain = constant(node, function, unit)
    if plain is not None:
        return Size(plain)
    if node.type == "binary_expression":
        left = size_value(field(node, "left"), function, unit)
        right = size_value(field(node, "right"), function, unit)
        if left is None or right is None:
            return None
        operator = operator_of(node)
        if operator == "*":
            return _times(left, right)
        if operator in "+-" and left.unit == right.unit:
            return replace(
                left, count=left.count + (right.count if operator == "+" else -right.count)
            )
        return None
    if node.type == "sizeof_expression":
        return _sizeof(node, function, unit)
    return None


def pointee(node: Node | None, function: Function | None) -> Size | None:
    """Size of what an expression points to, by the cast on it or its declaration, or None."""
    while node is not None and node.type == "parenthesized_expression" and node.named_child_count:
        node = node.named_children[0]
    if node is None or function is None:
        return None
    if node.type == "cast_expression":
        written = text(field(node, "type"))
        stars = written.count("*")
        return _type_size(written.replace("*", " "), stars - 1, function.unit) if stars else None
    if node.type == "binary_expression":
        return pointee(field(node, "left"), function) or pointee(field(node, "right"), function)
    if node.type == "pointer_expression" and operator_of(node) == "&":
        inner = bare(field(node, "argument") or node)
        if inner.type == "subscript_expression":
            return pointee(field(inner, "argument"), function)
    if node.type == "subscript_expression":
        return _inner_element(node, function)
    declared = declaration(node, function)
    return None if declared is None else _element(declared, function.unit)


def _inner_element(node: Node, function: Function) -> Size | None:
    """Size of one element of the row `a[i]` of an array of arrays, or of what `a[i]` points to."""
    declared = declaration(field(node, "argument"), function)
    if declared is None:
        return None
    words, pointers, arrays = resolve_typedefs(declared, function.unit)
    if len(arrays) == 2:
        return _type_size(words, pointers, function.unit)
    return _type_size(words, pointers - 1, function.unit) if len(arrays) == 1 and pointers else None


def resolve_typedefs(declared: Variable | Declared, unit: Unit) -> tuple[str, int, tuple[str, ...]]:
    """Type words, levels of pointer and array sizes with typedefs of the file seen through."""
    words, pointers, arrays = declared.type, declared.pointers, declared.arrays
    if isinstance(declared, Variable) and declared.is_parameter and arrays:
        pointers, arrays = pointers + 1, arrays[1:]
    for _ in range(8):
        plain = words.replace("const", "").replace("volatile", "").strip()
        alias = None if _FIXED.fullmatch(plain) else unit.facts.types.get(plain)
        if alias is None or alias.type == words:
            break
        words, pointers, arrays = alias.type, pointers + alias.pointers, arrays + alias.arrays
    return words, pointers, arrays


def _extent_of_name(node: Node, function: Function, fuel: int) -> Extent | None:
    declared = declaration(node, function)
    if declared is None:
        return None
    _, pointers, arrays = resolve_typedefs(declared, function.unit)
    own = declared.node if isinstance(declared, Variable) else None
    if arrays and not (isinstance(declared, Variable) and declared.is_parameter):
        size = _array_bytes(node, declared, function)
        if size is None or (node.type == "field_expression" and arrays[0] in ("", "0", "1")):
            return None  # an array of one at the end of a struct represents one of any size
        return Extent(size, 0, "array", own, text(node))
    if (
        pointers == 0
        or node.type != "identifier"
        or (isinstance(declared, Declared) and not function.unit.facts.variables.get(declared.name))
    ):
        return None
    found = _pointer(node, declared, function, fuel)
    return None if found is None else replace(found, name=text(node))


def _pointer(
    node: Node, declared: Variable | Declared, function: Function, fuel: int
) -> Extent | None:
    """Return the extent that a pointer with few uses points into at `node`; others are for flow."""
    if not isinstance(declared, Variable) or declared.is_parameter:
        return None
    values = values_of(function, text(node))
    if not values:
        return None
    if len(values) > 1:
        if all(_is_unknown(value, function) for value in values):
            return None
        writes = reaching(function, text(node), node.start_byte) or []
        values = [write.value for write in writes if write.value is not None]
        if any(write.value is None and write.operator != "declared" for write in writes):
            return None
    found = [
        _extent(value, function, fuel - 1) for value in values if text(bare(value)) not in NULLS
    ]
    return smallest([entry for entry in found if entry is not None]) if None not in found else None


def _is_unknown(value: Node, function: Function) -> bool:
    """Return whether nothing can be told of the memory behind a value, by a look at it alone: then
    it does not matter where it comes from, which is dear to find out.
    """
    value = bare(value)
    if text(value) in NULLS:
        return True
    plain = value.type in ("call_expression", "field_expression")
    return plain and _extent(value, function, 1) is None


def _array_bytes(node: Node, declared: Variable | Declared, function: Function) -> Size | None:
    unit = function.unit
    element = _element(declared, unit)
    _, _, arrays = resolve_typedefs(declared, unit)
    count = array_size(node, function) if declared.arrays else constant_text(arrays[0], unit)
    if count is None and len(declared.arrays) == 1:
        count = _declared_count(declared, function)
    if count is None or element is None:
        return None
    return replace(element, count=element.count * count)


def _declared_count(declared: Variable | Declared, function: Function) -> int | None:
    """Return the number between the brackets of a local array, when it is a constant expression."""
    if not isinstance(declared, Variable) or declared.node.parent is None:
        return None
    return constant(field(declared.node.parent, "size"), function)


def _element(declared: Variable | Declared, unit: Unit) -> Size | None:
    """Size of one element of an array, or of what a pointer points to."""
    words, pointers, arrays = resolve_typedefs(declared, unit)
    if arrays:
        element = _type_size(words, pointers, unit)
        for inner in arrays[1:]:
            count = constant_text(inner, unit)
            if count is None:
                return None
            element = replace(element, count=element.count * count)
        return element
    return _type_size(words, pointers - 1, unit) if pointers else None


def _type_size(words: str, pointers: int, unit: Unit) -> Size:
    words, deeper, arrays = resolve_typedefs(Declared("", words.strip(), pointers), unit)
    if deeper > 0:
        return Size(_POINTER)
    known = element_size(Declared("", words))
    if known is not None and not arrays:
        return Size(known)
    plain = words.replace("const", "").replace("struct", "").replace("union", "").strip()
    return Size(1, plain)


def _sizeof(node: Node, function: Function | None, unit: Unit) -> Size | None:
    named = field(node, "type")
    if named is not None:
        written = text(named)
        return _type_size(written.replace("*", " "), written.count("*"), unit)
    value = field(node, "value")
    if value is None:
        return None
    value = bare(value)
    if value.type == "pointer_expression" and operator_of(value) == "*":
        return pointee(field(value, "argument"), function)
    if value.type == "subscript_expression":
        return pointee(field(value, "argument"), function)
    if value.type == "string_literal":
        return Size(literal_length(string_literal(value) or "") + 1)
    declared = declaration(value, function)
    if declared is None:
        name = text(value)
        return _type_size(name, 0, unit) if name in unit.facts.types else None
    _, pointers, arrays = resolve_typedefs(declared, unit)
    if arrays and function is not None:
        return _array_bytes(value, declared, function)
    return Size(_POINTER) if pointers else _type_size(declared.type, 0, unit)


def _times(left: Size | None, right: Size | None) -> Size | None:
    if left is None or right is None or (left.unit and right.unit):
        return None
    return Size(left.count * right.count, left.unit or right.unit)


def _extent_at_offset(node: Node, function: Function, fuel: int) -> Extent | None:
    operator = operator_of(node)
    left, right = field(node, "left"), field(node, "right")
    if operator not in ("+", "-") or left is None:
        return None
    steps, base = constant(right, function), _extent(left, function, fuel - 1)
    return (
        None
        if steps is None
        else _shift_extent(base, steps if operator == "+" else -steps, pointee(left, function))
    )


def _shift_extent(base: Extent | None, steps: int, element: Size | None) -> Extent | None:
    if base is None or element is None or element.unit != base.size.unit:
        return None
    moved = steps * element.count
    return replace(
        base, size=replace(base.size, count=base.size.count - moved), offset=base.offset + moved
    )


def _address(inner: Node, function: Function, fuel: int) -> Extent | None:
    if inner.type == "subscript_expression":
        array = field(inner, "argument")
        steps = constant(index_of(inner), function)
        if array is None or steps is None:
            return None
        return _shift_extent(_extent(array, function, fuel - 1), steps, pointee(array, function))
    declared = declaration(inner, function)
    if declared is None:
        return None
    words, pointers, arrays = resolve_typedefs(declared, function.unit)
    if arrays:
        return _extent_of_name(inner, function, fuel)
    size = _type_size(words, pointers, function.unit)
    own = declared.node if isinstance(declared, Variable) else None
    return Extent(size, 0, "scalar", own, text(inner))


def _row(node: Node, function: Function) -> Extent | None:
    """`a[i]` of an array of arrays."""
    array = field(node, "argument")
    declared = declaration(array, function)
    if declared is None or len(resolve_typedefs(declared, function.unit)[2]) < 2:
        return None
    size = _element(declared, function.unit)
    return None if size is None else Extent(size, 0, "array", None, text(node))


def index_of(subscript: Node) -> Node | None:
    """Return the index of `a[i]`, in C and in C++."""
    index = field(subscript, "index")
    indices = field(subscript, "indices") if index is None else None
    if indices is not None and indices.named_child_count:
        return indices.named_children[-1]
    return index

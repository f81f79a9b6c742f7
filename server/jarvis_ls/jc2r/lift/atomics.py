"""`static mut` numbers, pointers and tables of them as atomics, which safe code may read and write.

A relaxed load or store of an atomic is the load or store that C does, and an atomic has the layout
of its number, so that C may go on using it under its name. All uses are seen, in every module; a
variable keeps its form where one of them is none of these: read, assigned, changed by an operator,
or its address taken as a raw pointer, which `as_ptr` gives as well. What a pointer points to is
not safer than before. Elements of tables are atomics of their own. There are none for numbers with
a point: the bits of one are in a whole number of its size.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass, replace

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import arguments_of, outermost
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, name_of, rewritten
from jarvis_ls.jc2r.lift.variable_uses import (
    attributes_of,
    function_name,
    is_in_pattern,
    uses_of,
)

_NUMBER = re.compile(rb"([iu])(8|16|32|64|size)\Z")
_FLOAT = re.compile(rb"f(32|64)\Z")
_TABLE = re.compile(rb"(\[*)([^\[;]+)((?:; ?\w+\])+)\Z")
_MOST_ELEMENTS = 64
"""Elements that may be listed one by one: each is longer as an atomic."""
_POINTER = re.compile(rb"\*(mut|const) (.+)\Z", re.DOTALL)
_EXPORT = re.compile(rb"#\[(?:no_mangle|export_name = \"\w+\")\]")
_FETCHING = {b"+=": b"add", b"-=": b"sub", b"|=": b"or", b"&=": b"and", b"^=": b"xor"}
_WRAPPING = {b"wrapping_add": b"+=", b"wrapping_sub": b"-="}
_ACTING = ("call_expression", "assignment_expression", "compound_assignment_expr", "block")
_SYNC = b"core::sync::atomic::"
_IMPORT = b"use core::sync::atomic::Ordering::Relaxed;\n"
_WORD = re.compile(rb"\bRelaxed\b")


@dataclass(frozen=True, slots=True)
class _Variable:
    """One `static mut`."""

    item: Node
    type: bytes
    atomic: bytes
    """The type that it gets."""
    constant: bool = False
    """Whether it is a pointer to what it does not change."""
    depth: int = 0
    """How many indices lead to a number; 0 for what is no table."""
    whole: bytes = b""
    """The type of the table."""

    @property
    def has_point(self) -> bool:
        """Return whether it holds the bits of another number."""
        return self.type in (b"f32", b"f64")


class _Crate:
    """The variables of a crate that become atomics."""

    def __init__(self, sources: list[Source], excluded: Set[str]) -> None:
        found = [
            (number, variable)
            for number, source in enumerate(sources)
            for item in below(source.root, "static_item")
            if (variable := _begin(source, item)) is not None
        ]
        uses = uses_of(sources, [(number, variable.item) for number, variable in found])
        self.variables: dict[int, _Variable] = {}
        """By the declaration."""
        self.by_use: dict[tuple[int, int], _Variable] = {}
        """By the file and the place of a number: a name with its path, or an element."""
        self.by_address: dict[tuple[int, int], _Variable] = {}
        """By the file and what takes the address of a table, or of a row."""
        for _, variable in found:
            mine = [
                (number, use, _place_of(sources[number], variable, use))
                for number, use in uses.get(variable.item.id, [])
            ]
            places = {(number, place.id): variable for number, _, place in mine if place}
            alone = {key: variable for key in places if key in _numbers(variable, mine)}
            if len(mine) == sum(place is not None for _, _, place in mine) and all(
                function_name(use) not in ({""} | excluded) for _, use, _ in mine
            ):
                if variable.depth and not alone:
                    continue  # only its address is used, which is not safer
                self.variables[variable.item.id] = variable
                self.by_use |= alone
                self.by_address |= {key: variable for key in places if key not in alone}


def _numbers(
    variable: _Variable, uses: list[tuple[int, Node, Node | None]]
) -> set[tuple[int, int]]:
    """Return the places, by the file, that are numbers and no tables."""
    return {
        (number, place.id)
        for number, _, place in uses
        if place is not None and (not variable.depth or place.type == "index_expression")
    }


def atomics(sources: list[Source], excluded: Set[str]) -> dict[int, bytes]:
    """Return new texts by the index of their file; functions whose names are `excluded` stay, with
    the variables that they use."""
    crate = _Crate(sources, excluded)
    made = {}
    for number, source in enumerate(sources):
        text = _text(crate, number, source) if crate.variables else source.data
        if text != source.data:
            made[number] = text
    return made


def _begin(source: Source, item: Node) -> _Variable | None:
    """Return a variable that may be an atomic; None when it is of another type, or elsewhere."""
    kind, value = field(item, "type"), field(item, "value")
    mutable = any(child.type == "mutable_specifier" for child in item.children)
    if kind is None or value is None or not mutable or source.path.stem == "sys":
        return None
    if any(_EXPORT.match(text) is None for text in attributes_of(source, item)):
        return None
    text = b" ".join(source.text(kind).split())
    if text.startswith(b"[") and (table := _TABLE.match(text)) is not None:
        element = _begin_number(item, table[2])
        depth = len(table[1])
        if element is None or depth != table[3].count(b"]") or not _is_listed(value, depth):
            return None
        return replace(element, depth=depth, whole=text)
    return _begin_number(item, text)


def _begin_number(item: Node, text: bytes) -> _Variable | None:
    if (number := _NUMBER.match(text)) is not None:
        return _Variable(item, text, b"Atomic" + number[1].upper() + number[2])
    if (bits := _FLOAT.match(text)) is not None:
        return _Variable(item, text, b"AtomicU" + bits[1])
    if text == b"bool":
        return _Variable(item, text, b"AtomicBool")
    if (pointer := _POINTER.match(text)) is not None and b"dyn " not in text:
        atomic = b"AtomicPtr<" + pointer[2] + b">"
        return _Variable(item, text, atomic, constant=pointer[1] == b"const")
    return None


def _is_listed(value: Node, depth: int) -> bool:
    """Return whether the value of a table is written there, element by element or as one for all,
    and is not long."""
    if value.type != "array_expression":
        return False
    inner = value.named_children
    if field(value, "length") is not None:
        inner = inner[:1]
    elif len(inner) > _MOST_ELEMENTS or any(node.type == "line_comment" for node in inner):
        return False
    return depth == 1 or all(_is_listed(node, depth - 1) for node in inner)


def _place_of(source: Source, variable: _Variable, use: Node) -> Node | None:
    """Return the number that a use is, with its indices, or what takes the address of a table or a
    row; None when an atomic has no such use."""
    if is_in_pattern(use):
        return None
    place, left = use, variable.depth
    while (around := outermost(place).parent) is not None and left:
        if around.type != "index_expression" or bare(first(around)) != place:
            break
        place, left = around, left - 1
    around = outermost(place).parent
    if around is None or around.type != "reference_expression":
        return None if left else place
    raw = any(child.type == "raw" for child in around.children) or source.text(around).startswith(
        b"&raw "
    )
    if not raw:
        return None
    return around if left else place


def _text(crate: _Crate, number: int, source: Source) -> bytes:
    def rule(node: Node, say: Say) -> bytes | None:
        if node.type == "static_item" and node.id in crate.variables:
            return _declaration(source, crate.variables[node.id], say)
        if node.type == "reference_expression":
            if (variable := crate.by_address.get((number, node.id))) is not None:
                return _address_of_rows(source, variable, node, say)
            variable = used(field(node, "value"))
            return None if variable is None else _address(variable, node, place_text(node, say))
        if node.type in ("assignment_expression", "compound_assignment_expr"):
            left, right = field(node, "left"), field(node, "right")
            variable = used(left)
            if variable is None or left is None or right is None:
                return None
            name = place_text(node, say)
            own = source.text(bare(left) or left)
            again = not any(True for _ in below(left, *_ACTING))
            sign = field(node, "operator")
            if node.type == "compound_assignment_expr" and sign is not None:
                return _write_change(variable, name, source.text(sign), say(right), node, again)
            plain = not variable.depth and not variable.has_point
            if plain and (change := _change_of(source, own, right)) is not None:
                return _write_change(variable, name, change[0], say(change[1]), node, again)
            value = _as_value(variable, say(right))
            if variable.depth and _may_change(source, right):
                # what is assigned is worked out before the place
                return b"{ let __new = " + value + b"; " + name + b".store(__new, Relaxed) }"
            return name + b".store(" + value + b", Relaxed)"
        if (variable := crate.by_use.get((number, node.id))) is not None:
            return _load(variable, code_of(node, say))
        return None

    def place_text(node: Node, say: Say) -> bytes:
        place = bare(field(node, "left") or field(node, "value"))
        assert place is not None
        return code_of(place, say)

    def code_of(place: Node, say: Say) -> bytes:
        if place.type != "index_expression":
            return source.text(place)
        base, index = bare(place.named_children[0]), place.named_children[1]
        assert base is not None
        return code_of(base, say) + b"[" + say(index) + b"]"

    def used(node: Node | None) -> _Variable | None:
        inner = bare(node)
        return None if inner is None else crate.by_use.get((number, inner.id))

    root = source.root
    text = rewritten(source.data, root, rule)
    text = source.data[: root.start_byte] + text + source.data[root.end_byte :]
    if b"Relaxed)" not in text or _IMPORT in source.data:
        return text
    place = next((item for item in root.children if item.type == "use_declaration"), None)
    if place is None or _WORD.search(source.data) is not None:
        return text.replace(b", Relaxed)", b", core::sync::atomic::Ordering::Relaxed)").replace(
            b"(Relaxed)", b"(core::sync::atomic::Ordering::Relaxed)"
        )
    return text[: place.start_byte] + _IMPORT + text[place.start_byte :]


def _declaration(source: Source, variable: _Variable, say: Say) -> bytes:
    kind, value = field(variable.item, "type"), field(variable.item, "value")
    word = next(c for c in variable.item.children if c.type == "mutable_specifier")
    assert kind is not None and value is not None
    first_value = _first_value(variable, value, variable.depth, say)
    head = source.data[variable.item.start_byte : word.start_byte]
    name = name_of(variable.item).encode()
    return head + name + b": " + _whole_type(variable) + b" = " + first_value + b";"


def _whole_type(variable: _Variable) -> bytes:
    atomic = _SYNC + variable.atomic
    return variable.whole.replace(variable.type, atomic, 1) if variable.depth else atomic


def _first_value(variable: _Variable, value: Node, depth: int, say: Say) -> bytes:
    """Return the atomics that a variable begins with."""
    if not depth:
        atomic = _SYNC + variable.atomic.partition(b"<")[0]
        return atomic + b"::new(" + _as_value(variable, say(value)) + b")"
    made = [_first_value(variable, inner, depth - 1, say) for inner in value.named_children]
    length = field(value, "length")
    if length is None:
        return b"[" + b", ".join(made) + b"]"
    # of what is no plain value only a constant is repeated
    return b"[const { " + made[0] + b" }; " + say(length) + b"]"


def _load(variable: _Variable, name: bytes) -> bytes:
    text = name + b".load(Relaxed)"
    if variable.has_point:
        return variable.type + b"::from_bits(" + text + b")"
    return text + (b".cast_const()" if variable.constant else b"")


def _as_value(variable: _Variable, value: bytes) -> bytes:
    if variable.has_point:
        return variable.type + b"::to_bits(" + value + b")"
    if not variable.constant:
        return value
    if value == b"core::ptr::null()":
        return b"core::ptr::null_mut()"
    cast = b" as " + variable.type
    return b"(" + value + (b"" if value.endswith(cast) else cast) + b").cast_mut()"


def _change_of(source: Source, name: bytes, value: Node) -> tuple[bytes, Node] | None:
    """Return the operator and the amount of what changes a number: of `n.wrapping_add(2)`, or
    `n | 2`, for `n`; None for another value."""
    inner = bare(value)
    if inner is None:
        return None
    if inner.type == "binary_expression":
        left, by, sign = (field(inner, part) for part in ("left", "right", "operator"))
        operator = b"" if sign is None else source.text(sign) + b"="
    elif inner.type == "call_expression" and len(arguments_of(inner)) == 1:
        method, by = field(inner, "function"), arguments_of(inner)[0]
        left = None if method is None else field(method, "value")
        called = None if method is None else field(method, "field")
        operator = b"" if called is None else _WRAPPING.get(source.text(called), b"")
    else:
        return None
    own = bare(left)
    if own is None or by is None or source.text(own) != name or operator not in _FETCHING:
        return None
    if any(True for _ in below(by, *_ACTING)):
        return None  # it may change the number, too
    return operator, by


def _may_change(source: Source, value: Node) -> bool:
    """Return whether working out a value may change what else is read beside it."""
    for node in below(value, *_ACTING):
        method = field(node, "function") if node.type == "call_expression" else None
        called = None if method is None else field(method, "field")
        if called is None or not source.text(called).startswith(b"wrapping_"):
            return True
    return False


def _write_change(
    variable: _Variable, name: bytes, sign: bytes, value: bytes, node: Node, again: bool
) -> bytes:
    """Return what changes a number by an operator; `again` says whether the place may be worked out
    twice."""
    method = b"" if variable.has_point else _FETCHING.get(sign, b"")
    logical = variable.atomic == b"AtomicBool"
    if method and not variable.depth and not (logical and method in (b"add", b"sub")):
        return _fetch(name, method, value, node)
    operation = sign.removesuffix(b"=")
    begin = b"{ let __by = " + value + b"; "
    if not again:
        begin, name = begin + b"let __number = &" + name + b"; ", b"__number"
    result = _load(variable, name) + b" " + operation + b" __by"
    if method in (b"add", b"sub") and variable.depth:
        result = _load(variable, name) + b".wrapping_" + method + b"(__by)"
    if variable.has_point:
        result = _as_value(variable, result)
    return begin + name + b".store(" + result + b", Relaxed) }"


def _fetch(name: bytes, method: bytes, value: bytes, node: Node) -> bytes:
    text = name + b".fetch_" + method + b"(" + value + b", Relaxed)"
    alone = node.parent is not None and node.parent.type == "expression_statement"
    return text if alone else b"{ " + text + b"; }"


def _address(variable: _Variable, node: Node, name: bytes) -> bytes:
    """Return the address of a number at the place `name`."""
    constant = node.text is not None and b"&raw const" in node.text
    text = name + b".as_ptr()"
    if variable.has_point:
        text += b".cast::<" + variable.type + b">()"
    if variable.depth and constant:
        return text + b".cast_const()"
    cast = b" as *mut " + variable.type if variable.constant else b""
    return b"(" + text + cast + b")" if cast else text


def _address_of_rows(source: Source, variable: _Variable, node: Node, say: Say) -> bytes:
    """Return the address of a table, or of a row of one, as a pointer to plain numbers."""
    place = bare(field(node, "value"))
    depth, name = 0, place
    while name is not None and name.type == "index_expression":
        depth, name = depth + 1, bare(first(name))
    assert place is not None
    text = source.text(place) if not depth else say(place)
    words = variable.whole[depth:]
    for _ in range(depth):
        words = words[: words.rindex(b";")]
    address = b"(&raw const " + text + b")"
    if b"&raw const" not in source.text(node)[:12]:
        address += b".cast_mut()"
    return address + b".cast::<" + words + b">()"

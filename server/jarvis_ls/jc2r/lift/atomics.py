"""`static mut` numbers and pointers as atomics, which safe code may read and write.

A relaxed load or store of an atomic is the load or store that C does, and an atomic has the layout
of its number, so that C may go on using it under its name. All uses are seen, in every module; a
variable keeps its form where one of them is none of these: read, assigned, changed by an operator,
or its address taken as a raw pointer, which `as_ptr` gives as well. What a pointer points to is
not safer than before.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import arguments_of, outermost
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, name_of, rewritten
from jarvis_ls.jc2r.lift.variable_uses import (
    attributes_of,
    function_name,
    is_in_pattern,
    uses_of,
)

_NUMBER = re.compile(rb"([iu])(8|16|32|64|size)\Z")
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
        """By the file and the name with its path."""
        for _, variable in found:
            mine = uses.get(variable.item.id, [])
            if all(
                _is_known_use(sources[number], use) and function_name(use) not in ({""} | excluded)
                for number, use in mine
            ):
                self.variables[variable.item.id] = variable
                self.by_use |= {(number, use.id): variable for number, use in mine}


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
    if (number := _NUMBER.match(text)) is not None:
        return _Variable(item, text, b"Atomic" + number[1].upper() + number[2])
    if text == b"bool":
        return _Variable(item, text, b"AtomicBool")
    if (pointer := _POINTER.match(text)) is not None and b"dyn " not in text:
        atomic = b"AtomicPtr<" + pointer[2] + b">"
        return _Variable(item, text, atomic, constant=pointer[1] == b"const")
    return None


def _is_known_use(source: Source, use: Node) -> bool:
    """Return whether a use is one that an atomic has."""
    if is_in_pattern(use):
        return False
    whole = outermost(use)
    if whole.parent is None or whole.parent.type != "reference_expression":
        return True
    return any(child.type == "raw" for child in whole.parent.children) or source.text(
        whole.parent
    ).startswith(b"&raw ")


def _text(crate: _Crate, number: int, source: Source) -> bytes:
    def rule(node: Node, say: Say) -> bytes | None:
        if node.type == "static_item" and node.id in crate.variables:
            return _declaration(source, crate.variables[node.id], say)
        if node.type == "reference_expression":
            variable = used(field(node, "value"))
            return None if variable is None else _address(source, variable, node)
        if node.type in ("assignment_expression", "compound_assignment_expr"):
            left, right = field(node, "left"), field(node, "right")
            variable = used(left)
            if variable is None or left is None or right is None:
                return None
            name = source.text(bare(left) or left)
            sign = field(node, "operator")
            if node.type == "compound_assignment_expr" and sign is not None:
                return _write_change(variable, name, source.text(sign), say(right), node)
            if (change := _change_of(source, name, right)) is not None:
                return _write_change(variable, name, change[0], say(change[1]), node)
            return name + b".store(" + _as_value(variable, say(right)) + b", Relaxed)"
        if (variable := crate.by_use.get((number, node.id))) is not None:
            constant = b".cast_const()" if variable.constant else b""
            return source.text(node) + b".load(Relaxed)" + constant
        return None

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
    begun = _as_value(variable, say(value))
    head = source.data[variable.item.start_byte : word.start_byte]
    name = name_of(variable.item).encode()
    return (
        head
        + name
        + b": "
        + _SYNC
        + variable.atomic
        + b" = "
        + _SYNC
        + variable.atomic.partition(b"<")[0]
        + b"::new("
        + begun
        + b");"
    )


def _as_value(variable: _Variable, value: bytes) -> bytes:
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


def _write_change(variable: _Variable, name: bytes, sign: bytes, value: bytes, node: Node) -> bytes:
    method = _FETCHING.get(sign, b"")
    logical = variable.atomic == b"AtomicBool"
    if method and not (logical and method in (b"add", b"sub")):
        text = name + b".fetch_" + method + b"(" + value + b", Relaxed)"
        alone = node.parent is not None and node.parent.type == "expression_statement"
        return text if alone else b"{ " + text + b"; }"
    operation = sign.removesuffix(b"=")
    return (
        b"{ let __by = "
        + value
        + b"; "
        + name
        + b".store("
        + name
        + b".load(Relaxed) "
        + operation
        + b" __by, Relaxed) }"
    )


def _address(source: Source, variable: _Variable, node: Node) -> bytes | None:
    place = bare(field(node, "value"))
    assert place is not None
    cast = b" as *mut " + variable.type if variable.constant else b""
    text = source.text(place) + b".as_ptr()" + cast
    return b"(" + text + b")" if cast else text

"""The types of expressions, as the text of a crate says them.

What a name, a field, an element or a call is, follows from its declaration; of literals without a
suffix, of closures and of generic functions nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as data_field

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first, name_of
from jarvis_ls.jc2r.lift.unsafe_operations import declaration_of

_SUFFIX = re.compile(r"-?[\d_.]+([iuf]\d+|[iu]size)\Z")
_SAME = re.compile(r"(?:wrapping_\w+|rotate_\w+|saturating_\w+|abs|min|max|pow|swap_bytes)\Z")
_COUNTING = frozenset({"count_ones", "count_zeros", "leading_zeros", "trailing_zeros"})
_ATOMIC = re.compile(r"(?:core::sync::atomic::)?Atomic([IU])(8|16|32|64|size)\Z")
_LOADING = frozenset({"load", "fetch_add", "fetch_sub", "fetch_or", "fetch_and", "fetch_xor"})
_REFERENCE = re.compile(r"&(?:'\w+ )?(?:mut )?|\*(?:mut|const) ")
_ELEMENTS = re.compile(r"\[(.+?)(?:; [^\]]*)?\]\Z")
_ARITHMETIC = frozenset("+ - * / % & | ^ << >>".split())


@dataclass(frozen=True, slots=True)
class Declared:
    """What the items of a crate are; a name with two meanings has none."""

    values: Mapping[str, str] = data_field(default_factory=dict)
    """Types of variables and constants, and what functions return."""
    members: Mapping[str, Mapping[str, str]] = data_field(default_factory=dict)
    """Types of the fields of each structure."""


def declarations_of(sources: Sequence[Source]) -> Declared:
    """Return what the files of a crate declare."""
    values: dict[str, set[str]] = {}
    members: dict[str, list[dict[str, str]]] = {}
    for source in sources:
        for item in below(
            source.root, "static_item", "const_item", "function_item", "function_signature_item"
        ):
            part = "return_type" if item.type.startswith("function") else "type"
            kind = None if field(item, "type_parameters") is not None else field(item, part)
            values.setdefault(name_of(item), set()).add(_text(source, kind))
        for item in below(source.root, "struct_item"):
            members.setdefault(name_of(item), []).append(
                {
                    _text(source, field(member, "name")): _text(source, field(member, "type"))
                    for member in below(item, "field_declaration")
                }
            )
    return Declared(
        {name: next(iter(kinds)) for name, kinds in values.items() if len(kinds) == 1},
        {name: found[0] for name, found in members.items() if len(found) == 1},
    )


def type_of(source: Source, value: Node | None, declared: Declared) -> str:
    """Return the type of an expression; empty when its text does not say it."""
    node = bare(value)
    if node is None:
        return ""
    if node.type == "type_cast_expression":
        return _text(source, field(node, "type"))
    if suffix := _SUFFIX.match(_text(source, node)):
        return suffix[1]
    rule = _RULES.get(node.type)
    return "" if rule is None else rule(source, node, declared)


def _of_name(source: Source, node: Node, declared: Declared) -> str:
    name = declaration_of(source, node)
    if name is not None:
        if name.type not in ("let_declaration", "parameter"):
            return ""
        kind = field(name, "type")
        if kind is None and name.type == "let_declaration":
            return type_of(source, field(name, "value"), declared)
        return _text(source, kind)
    return declared.values.get(_text(source, node), "")


def _of_path(source: Source, node: Node, declared: Declared) -> str:
    return declared.values.get(_text(source, node).rpartition("::")[2], "")


def _of_field(source: Source, node: Node, declared: Declared) -> str:
    kind = _target(type_of(source, field(node, "value"), declared))
    members = declared.members.get(kind.rpartition("::")[2], {})
    return members.get(_text(source, field(node, "field")), "")


def _of_element(source: Source, node: Node, declared: Declared) -> str:
    array = _ELEMENTS.match(_target(type_of(source, first(node), declared)))
    index = node.named_children[-1]
    return "" if array is None or index.type == "range_expression" else array[1]


def _of_unary(source: Source, node: Node, declared: Declared) -> str:
    inner = type_of(source, first(node), declared)
    if node.children[0].type != "*":
        return inner
    return _REFERENCE.sub("", inner, count=1) if _REFERENCE.match(inner) else ""


def _of_binary(source: Source, node: Node, declared: Declared) -> str:
    sign, left = field(node, "operator"), field(node, "left")
    if sign is None or sign.type not in _ARITHMETIC:
        return ""
    kind = type_of(source, left, declared)
    if kind or sign.type in ("<<", ">>"):
        return kind
    return type_of(source, field(node, "right"), declared)


def _of_call(source: Source, node: Node, declared: Declared) -> str:
    called = field(node, "function")
    if called is None:
        return ""
    if called.type in ("identifier", "scoped_identifier"):
        local = called.type == "identifier" and declaration_of(source, called) is not None
        return "" if local else _of_path(source, called, declared)
    if called.type != "field_expression":
        return ""
    name, kind = _text(source, field(called, "field")), ""
    value = field(called, "value")
    if name in _COUNTING:
        return "u32"
    if name == "len":
        return "usize"
    if _SAME.match(name) or name in _LOADING:
        kind = type_of(source, value, declared)
    if name in _LOADING:
        atomic = _ATOMIC.match(kind)
        return "" if atomic is None else atomic[1].lower() + atomic[2]
    return kind


def _of_choice(source: Source, node: Node, declared: Declared) -> str:
    block = field(node, "consequence")
    inside = [] if block is None else block.named_children
    return type_of(source, inside[-1], declared) if len(inside) == 1 else ""


def _target(kind: str) -> str:
    """Return what a reference shows."""
    return _REFERENCE.sub("", kind, count=1) if kind.startswith("&") else kind


def _text(source: Source, node: Node | None) -> str:
    return "" if node is None else " ".join(source.text(node).decode("utf-8", "replace").split())


_RULES = {
    "identifier": _of_name,
    "scoped_identifier": _of_path,
    "field_expression": _of_field,
    "index_expression": _of_element,
    "unary_expression": _of_unary,
    "binary_expression": _of_binary,
    "call_expression": _of_call,
    "if_expression": _of_choice,
}

"""The source and target types of a `transmute`, as far as the code shows them."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.functions import Function, Unit
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.rust.shapes import arguments, is_last, return_type
from jarvis_ls.jsec.local.rust.values import type_of


def transmute_types(node: Node, function: Function | None, unit: Unit) -> tuple[str, str]:
    """Return the source and target type of a call of `transmute`; empty text when not known.

    They come from its type arguments, the type of the argument, the `let` it initialises, the
    cast around it, or the return type when it is the value of the function.
    """
    callee = field(node, "function")
    type_arguments = field(callee, "type_arguments")
    source = target = ""
    if type_arguments is not None:
        written = [text(c) for c in type_arguments.named_children]
        if len(written) == 2:
            source, target = (word if word != "_" else "" for word in written)
    if not source:
        source = type_of(next(iter(arguments(node)), None), function, unit)
    if not target:
        target = expected_type(node, function)
    return source, target


def without_lifetimes(written: str) -> str:
    """Return a type as text without lifetimes: `&'a [u8]` is `&[u8]`."""
    return re.sub(r"'\w+\s*,?\s*", "", written).replace("<>", "")


def is_restricted(written: str, unit: Unit) -> bool:
    """Return whether a type has invalid bit patterns: `bool`, `char`, `NonZero…`, an enum."""
    if written in ("bool", "char") or re.match(r"(?:std::num::)?NonZero\w+$", written):
        return True
    declared = unit.facts.types.get(written.removeprefix("Self::"))
    return declared is not None and declared.type.split(" ")[0] == "enum"


def expected_type(node: Node, function: Function | None) -> str:
    """Return the type expected of an expression: of its `let`, field or return; empty when not
    known.
    """
    below = node
    for outer in ancestors(node):
        kind = outer.type
        if kind == "let_declaration":
            return text(field(outer, "type"))
        if kind == "field_initializer" and function is not None:
            known = function.unit.facts.fields.get(text(field(outer, "field")), ())
            return known[0].type if len(known) == 1 else ""
        if kind == "type_cast_expression":
            return ""
        if kind == "function_item":
            return return_type(function)
        if kind == "return_expression":
            return return_type(function)
        if kind == "block" and not is_last(below):
            return ""
        if kind == "expression_statement" and outer.children[-1].type == ";":
            return ""
        if kind not in (
            "block",
            "unsafe_block",
            "parenthesized_expression",
            "expression_statement",
        ):
            return ""
        below = outer
    return ""

"""Pointer to an integer is cast to one of another width.

## What it does
Finds an integer whose address is handed to a function as that of an integer of more or fewer bytes,
such as `read_number(&io, (uint32_t *)size)` with `size_t *size`.

## Why is this bad?
A function that writes more bytes overwrites what is behind the variable. One that writes fewer
leaves the rest of it as it was, and sets the wrong end of it on big-endian machines.

## Example
```c
unsigned int length;
read_size(stream, (size_t *)&length);
```

Use instead:
```c
size_t length;
read_size(stream, &length);
```

## References
- CWE-787: Out-of-bounds Write
- CWE-704: Incorrect Type Conversion or Cast
- SEI CERT C EXP39-C: Do not access a variable through a pointer of an incompatible type
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.declarations import Declared
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.buffer_sizes import resolve_typedefs
from jarvis_ls.jsec.local.c.integers import declared_width
from jarvis_ls.jsec.local.constants import declaration

_MOST = 64
"""Uses of a pointer that are examined."""
_QUALIFIED = frozenset({"const", "void", "struct", "union", "enum", "long"})
"""Words of types that are left out: what is const is not written, and `long` has the width of the
platform."""


def _is_of_pointer(node: Node) -> bool:
    parent = node.parent
    kind = field(node, "type")
    return (
        parent is not None
        and parent.type == "argument_list"
        and kind is not None
        and (kind.text or b"").endswith(b"*")
    )


@rule(
    query=nodes("(cast_expression) @site", when=_is_of_pointer),
    category="type_safety",
    cwe=(704, 787),
    confidence=0.5,
    severity="medium",
    suggestion="Use a variable of type '{type}', and check its value before it is converted.",
)
def pointer_to_other_width(site: Site) -> Iterator[Report]:
    function, operand = site.function, field(site.node, "value")
    written = text(field(site.node, "type")).removesuffix("*").strip()
    if function is None or operand is None or not _QUALIFIED.isdisjoint(written.split()):
        return
    asked = declared_width(Declared("", written), function)
    given = _width_of_target(bare(operand), function)
    if asked is None or given is None or asked == given or asked == 1:
        return
    if given < asked:
        message = "'{pointer}' leads to {given} bytes, but is cast to a pointer to {asked} bytes."
    else:
        message = "Only {asked} of the {given} bytes at '{pointer}' are reached through the cast."
    yield Report(
        site.node,
        message,
        cwe=(787, 704) if given < asked else (704,),
        confidence=0.6 if given < asked else 0.45,
        pattern="cast",
        pointer=text(operand),
        asked=str(asked),
        given=str(given),
        type=written,
    )


def _width_of_target(operand: Node, function: Function) -> int | None:
    """Return the bytes of the single integer that an address or a pointer leads to."""
    if operand.type == "pointer_expression" and operator_of(operand) == "&":
        target = field(operand, "argument")
        declared = declaration(target, function)
        if declared is None or (target is not None and target.type == "subscript_expression"):
            return None
        return None if "long" in declared.type.split() else declared_width(declared, function)
    declared = declaration(operand, function) if operand.type == "identifier" else None
    if not isinstance(declared, Variable) or not _leads_to_single(operand, declared, function):
        return None
    words, pointers, arrays = resolve_typedefs(declared, function.unit)
    if pointers != 1 or arrays or not {"long", "void"}.isdisjoint(words.split()):
        return None
    return declared_width(Declared("", words), function)


def _leads_to_single(pointer: Node, declared: Variable, function: Function) -> bool:
    """Return whether a pointer is used as that of one value: dereferenced by `*`, never indexed or
    moved."""
    is_read = False
    for use in function.uses(text(pointer))[:_MOST]:
        parent = use.parent
        if parent is None or use == declared.node or use == pointer:
            continue
        if parent.type in ("subscript_expression", "update_expression"):
            return False
        if parent.type == "binary_expression" and operator_of(parent) in ("+", "-"):
            return False
        is_read = is_read or (parent.type == "pointer_expression" and operator_of(parent) == "*")
    return is_read

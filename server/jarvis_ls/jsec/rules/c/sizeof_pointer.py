"""sizeof applied to a pointer.

## What it does
Finds `sizeof(p)` of a pointer (also of an array parameter) as the size in a call that works on
`p`, in an allocation stored in `p`, and in `sizeof(p) / sizeof(p[0])`.

## Why is this bad?
The result is the size of a pointer, usually 8, not of the object it points to. Too few bytes are
cleared, copied, compared or allocated, and the rest is stale or out of bounds.

## Example
```c
double *sum = malloc(sizeof(sum));
```

Use instead:
```c
double *sum = malloc(sizeof(*sum));
```

## References
- CWE-467: Use of sizeof() on a Pointer Type
- SEI CERT C ARR01-C: Do not apply the sizeof operator to a pointer when taking the size of an array
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.declarations import Declared
from jarvis_ls.codeintel.functions import Function, call_at
from jarvis_ls.codeintel.nodes import ancestors, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.local.c.buffer_sizes import ALLOCATORS, resolve_typedefs
from jarvis_ls.jsec.local.c.copy_sizes import READS, WRITES
from jarvis_ls.jsec.local.constants import declaration

CALL = "'{written}' is the size of the pointer, not of the buffer passed to '{call}'."
ALLOCATION = "'{written}' allocates the size of the pointer, not of the object it points to."
_COMPARES = frozenset({"memcmp", "bcmp", "strncmp", "strncasecmp", "wcsncmp", "wmemcmp"})
COUNT = "'{pointer}' is a pointer: dividing its size does not give a number of elements."


@rule(
    query=nodes("(sizeof_expression) @site"),
    category="buffer_overflow",
    cwe=(467, 131),
    confidence=0.85,
    suggestion="Use the size of the pointed-to object, or pass the size along with the pointer.",
    fixable=True,
)
def sizeof_pointer(site: Site) -> Iterator[Report]:
    value, function = field(site.node, "value"), site.function
    if function is None:
        return
    if value is None:
        yield from _of_type(site)
        return
    value = bare(value)
    if value.type not in ("identifier", "field_expression"):
        return
    declared = declaration(value, function) or _member(value, function)
    if declared is None or _is_reference(declared):
        return
    if isinstance(declared, Variable) and _is_array_elsewhere(declared, function):
        return
    _, pointers, arrays = resolve_typedefs(declared, function.unit)
    if pointers == 0 or (arrays and not (isinstance(declared, Variable) and declared.is_parameter)):
        return
    found = _context(site, value)
    if found is None:
        return
    message, call = found
    double = pointers > 1
    fix = None
    if message is ALLOCATION:
        fix = Rewrite(
            "Use the size of '*{pointer}'",
            [(site.node, f"sizeof(*{text(value)})")],
            pointer=text(value),
        )
    yield Report(
        site.node,
        message,
        confidence=0.4 if double else None,
        pattern="sizeof",
        written=text(site.node),
        pointer=text(value),
        call=call,
        fix=fix,
    )


def _member(value: Node, function: Function) -> Declared | None:
    """Return the C++ member of an undeclared name, when all members of that name have one type."""
    if value.type != "identifier" or function.unit.language != "cpp":
        return None
    known = set(function.unit.facts.fields.get(text(value), ()))
    return known.pop() if len(known) == 1 else None


def _is_array_elsewhere(declared: Variable, function: Function) -> bool:
    """Return whether another preprocessor branch declares the variable as an array."""
    return any(
        other.arrays and other.scope[1] == declared.scope[1] and not other.is_parameter
        for other in function.variables.get(declared.name, ())
        if other is not declared
    )


def _is_reference(declared: Variable | Declared) -> bool:
    """Return whether this is `T (&name)[n]`, whose size is that of the array (not `T *&name`)."""
    around = declared.node.parent if isinstance(declared, Variable) else None
    if around is None or around.type != "reference_declarator":
        return False
    return around.parent is None or around.parent.type != "pointer_declarator"


def _of_type(site: Site) -> Iterator[Report]:
    """Report `memset(p, 0, sizeof(T *))`, where `p` points to a `T`."""
    written = text(field(site.node, "type")).replace(" ", "")
    listed = site.node.parent
    if written[-1:] != "*" or listed is None or listed.type != "argument_list":
        return
    call = call_at(site.unit, site.item, listed.parent, site.function) if listed.parent else None
    place = WRITES[call.name][0] if call is not None and call.name in WRITES else None
    target = call.arg(place) if call is not None and place is not None else None
    declared = declaration(bare(target), site.function) if target is not None else None
    if call is None or declared is None or declared.pointers != 1 or declared.arrays:
        return
    if declared.type.split()[-1:] == [written[:-1].split("struct")[-1]]:
        yield Report(
            site.node,
            CALL,
            pattern="sizeof",
            written=text(site.node),
            pointer=declared.name,
            call=call.name,
        )


def _context(site: Site, pointer: Node) -> tuple[str, str] | None:
    """Return the message and the call when the use of the size shows that it is wrong."""
    name = text(pointer)
    below = site.node
    for outer in ancestors(site.node):
        if outer.type == "binary_expression":
            if _counts(outer, below, name):
                return COUNT, ""
            if operator_of(outer) not in ("*", "-", "+"):
                return None
        elif outer.type == "argument_list":
            below = outer
            continue
        elif outer.type == "call_expression":
            return _call_context(site, outer, name)
        elif outer.type != "parenthesized_expression":
            return None
        below = outer
    return None


def _counts(division: Node, left: Node, name: str) -> bool:
    """Return whether this is `sizeof(p) / sizeof(p[0])`."""
    if operator_of(division) != "/" or field(division, "left") != left:
        return False
    divisor = text(field(division, "right")).replace(" ", "").strip("()")
    return divisor in (f"sizeof({name}[0]", f"sizeof(*{name}", f"sizeof{name}[0]", f"sizeof*{name}")


def _call_context(site: Site, node: Node, name: str) -> tuple[str, str] | None:
    call = call_at(site.unit, site.item, node, site.function)
    if call is None:
        return None
    if call.name in ALLOCATORS:
        target = call.target
        return (ALLOCATION, call.name) if target is not None and text(target) == name else None
    places = [table[call.name][0] for table in (WRITES, READS) if call.name in table]
    if call.name in _COMPARES:
        places = [0, 1]
    if any(text(bare(a)) == name for i in places if (a := call.arg(i)) is not None):
        return CALL, call.name
    return None

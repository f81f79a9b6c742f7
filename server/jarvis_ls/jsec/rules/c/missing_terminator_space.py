"""Allocation without space for the null terminator.

## What it does
Finds `malloc(strlen(s))` and variants, `malloc(strlen(s + 1))` with the 1 inside the parentheses,
and `malloc(wcslen(s) + 1)`, which counts wide characters as bytes.

## Why is this bad?
`strlen` does not count the terminator. The copy that follows overflows the heap block by one byte,
which is enough for an exploit.

## Example
```c
char *copy = malloc(strlen(name));
strcpy(copy, name);
```

Use instead:
```c
char *copy = malloc(strlen(name) + 1);
strcpy(copy, name);
```

## References
- CWE-131: Incorrect Calculation of Buffer Size
- CWE-122: Heap-based Buffer Overflow
- CWE-193: Off-by-one Error
- SEI CERT C STR31-C: Guarantee that storage for strings has sufficient space
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, call_at
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.buffer_sizes import ALLOCATORS, size_value

NO_ROOM = "Allocation size '{size}' has no space for the null terminator of '{string}'."
INSIDE = (
    "Misplaced '+ 1' in '{size}' shortens the string instead of adding space for the terminator."
)
WIDE = "Allocation size '{size}' counts wide characters of '{string}', not bytes."


@rule(
    query=calls(*(name for name in ALLOCATORS if len(ALLOCATORS[name]) == 1)),
    category="buffer_overflow",
    cwe=(131, 122, 193, 787),
    confidence=0.7,
    suggestion="Add one for the terminator, and multiply by sizeof(wchar_t) for wide strings.",
    fixable=True,
)
@flow_verdicts(faults=("buffer-write-stack", "buffer-write-heap"))
def missing_terminator_space(call: Call) -> Iterator[Report]:
    size = call.arg(ALLOCATORS[call.name][0])
    if size is None or call.function is None:
        return
    measure = _length_call(call, size)
    if measure is None:
        return
    string = measure.arg(0)
    added = _adds(size)
    if measure.name == "wcslen" and "sizeof" not in text(size):
        yield _report(call, WIDE, size, string, 0.8, None)
    elif not added and _plus_one(string):
        yield _report(call, INSIDE, size, string, 0.85, None)
    elif not added:
        end = measure.node.end_byte
        text_of = (measure.node.start_byte, measure.node.start_byte)
        fix = Rewrite("Add space for the terminator", [(text_of, "("), ((end, end), " + 1)")])
        yield _report(call, NO_ROOM, size, string, 0.9 if _is_copied(call) else None, fix)


def _report(
    call: Call,
    message: str,
    size: Node,
    string: Node | None,
    confidence: float | None,
    fix: Rewrite | None,
) -> Report:
    return Report(
        call.node,
        message,
        confidence=confidence,
        pattern=call.name,
        size=text(size),
        string=text(string),
        fix=fix,
    )


def _length_call(call: Call, size: Node) -> Call | None:
    """Return the only `strlen` in a size that is otherwise a sum or product."""
    found: list[Call] = []
    stack = [size]
    for _ in range(24):
        if not stack:
            break
        node = bare(stack.pop())
        if node.type == "binary_expression":
            if operator_of(node) not in ("*", "+"):
                return None
            stack.extend(c for c in (field(node, "left"), field(node, "right")) if c is not None)
        elif node.type == "sizeof_expression":
            unit = size_value(node, call.function, call.unit)
            if unit is None or unit.unit or unit.count not in (1, 4):
                return None
        elif node.type == "call_expression":
            inner = call_at(call.unit, call.item, node, call.function)
            if inner is None or inner.name not in ("strlen", "wcslen"):
                return None
            found.append(inner)
    return found[0] if len(found) == 1 else None


def _adds(size: Node) -> bool:
    """Return whether anything is added to the length."""
    stack = [size]
    for _ in range(24):
        if not stack:
            return False
        node = bare(stack.pop())
        if node.type == "binary_expression":
            if operator_of(node) == "+":
                return True
            stack.extend(c for c in (field(node, "left"), field(node, "right")) if c is not None)
    return False


def _plus_one(string: Node | None) -> bool:
    if string is None:
        return False
    string = bare(string)
    return (
        string.type == "binary_expression"
        and operator_of(string) == "+"
        and text(field(string, "right")) == "1"
    )


def _is_copied(call: Call) -> bool:
    """Return whether the string is copied with its terminator later on."""
    target, function = call.target, call.function
    if target is None or function is None:
        return False
    name = text(target)
    return any(
        later.name in ("strcpy", "stpcpy", "wcscpy", "sprintf", "strcat")
        and later.node.start_byte > call.node.end_byte
        and text(later.arg(0)) == name
        for later in function.calls[:512]
    )

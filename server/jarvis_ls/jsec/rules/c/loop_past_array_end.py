"""Loop runs past the end of an array.

## What it does
Takes the last value of the variable of a counting loop from its condition (`i < 100`, `i <= N`, `i
< strlen(s)` with a known string) and compares it with the size of every array indexed with it. `i
<= n` over an array of `n` elements is found without knowing `n`.

## Why is this bad?
The loop reads or writes out of bounds. The usual causes are `<=` in place of `<` and the size of
another, larger array as the bound.

## Example
```c
int sums[12];
for (int i = 0; i <= 12; i++)
    sums[i] = 0;
```

Use instead:
```c
int sums[12];
for (int i = 0; i < 12; i++)
    sums[i] = 0;
```

## References
- CWE-193: Off-by-one Error
- CWE-787: Out-of-bounds Write
- CWE-125: Out-of-bounds Read
- CWE-805: Buffer Access with Incorrect Length Value
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Function, Unit
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node, captures, compile_query
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, flow_verdicts, nodes, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent, index_of, pointee
from jarvis_ls.jsec.local.c.copy_sizes import amount_of
from jarvis_ls.jsec.local.c.indices import may_index
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.constants import constant, declaration

MAX_ACCESSES = 64
"""Array accesses that are checked in a loop."""

KNOWN = "Index '{variable}' reaches {last} and is out of bounds for '{array}' ({count} elements)."
NAMED = "Index '{variable}' reaches {last}, the number of elements of '{array}' (off by one)."


@dataclass(frozen=True, slots=True)
class _Count:
    variable: str
    operator: Node
    limit: Node


def _has_limit(loop: Node) -> bool:
    """Return whether the text of the condition of a loop holds a `<`."""
    condition = loop.child_by_field_name("condition")
    return condition is not None and b"<" in (condition.text or b"")


@rule(
    query=nodes("(for_statement) @site (while_statement) @site", when=_has_limit),
    category="buffer_overflow",
    cwe=(193, 787, 125, 805, 121, 126),
    confidence=0.85,
    suggestion="Bound the loop by the size of the smallest array it accesses.",
    fixable=True,
)
@flow_verdicts(faults=("buffer-write-stack", "buffer-write-heap", "buffer-read-over"))
def loop_past_array_end(site: Site) -> Iterator[Report]:
    function, body = site.function, field(site.node, "body")
    count = _count(field(site.node, "condition"))
    if function is None or body is None or count is None or not _by_one(site.node, count.variable):
        return
    if not _may_be_known(count, site.unit):
        return
    if not may_index(site.unit.source.data, body.start_byte, body.end_byte, count.variable):
        return
    accesses = list(_accesses_by(count.variable, function, body))
    limit = amount_of(count.limit, function).size if accesses else None
    inclusive = text(count.operator) == "<="
    last = None if limit is None or limit.unit else limit.count - (not inclusive)
    for access, array, offset in accesses:
        if last is not None:
            yield from _numbers(function, count, access, array, last + offset)
        elif inclusive and offset == 0:
            yield from _names(function, count, access, array)


def _numbers(
    function: Function, count: _Count, access: Node, array: Node, last: int
) -> Iterator[Report]:
    memory, element = extent(array, function), pointee(array, function)
    if memory is None or element is None or memory.offset < 0 or element.count == 0:
        return
    if memory.size.unit != element.unit:
        return
    elements = memory.size.count // element.count
    if last < elements or _is_checked(function, count, access, elements):
        return
    yield Report(
        access,
        KNOWN,
        confidence=memory.weigh(0.85),
        pattern="loop",
        variable=count.variable,
        last=str(last),
        array=text(array),
        count=str(elements),
        fix=_rewrite(count) if last == elements and text(count.operator) == "<=" else None,
    ).with_related([(count.operator, "Loop bound is checked here.")])


def _names(function: Function, count: _Count, access: Node, array: Node) -> Iterator[Report]:
    declared = declaration(array, function)
    size = text(bare(count.limit))
    if declared is None or not declared.arrays or declared.arrays[0] != size:
        return
    if _is_checked(function, count, access, None):
        return
    yield Report(
        access,
        NAMED,
        pattern="loop",
        variable=count.variable,
        last=size,
        array=text(array),
        fix=_rewrite(count),
    ).with_related([(count.operator, "Loop bound is checked here.")])


def _rewrite(count: _Count) -> Rewrite:
    return Rewrite(
        "Replace '<=' with '<' before '{last}'",
        [(count.operator, "<")],
        safe=False,
        last=text(count.limit),
    )


def _may_be_known(count: _Count, unit: Unit) -> bool:
    """Return whether a limit may be a constant, or the size in a declaration: the value of a
    variable is left to the flow analysis.
    """
    limit = bare(count.limit)
    if limit.type == "identifier" and text(count.operator) == "<":
        return text(limit) in unit.facts.macros or text(limit) in unit.facts.enumerators
    return limit.type not in ("field_expression", "subscript_expression", "pointer_expression")


def _count(condition: Node | None) -> _Count | None:
    """Return `i < n` or `i <= n`, alone or as the first operand of `&&`."""
    for _ in range(8):
        if condition is None:
            return None
        if condition.type in ("condition_clause", "parenthesized_expression"):
            condition = condition.named_children[0] if condition.named_child_count else None
            continue
        if condition.type != "binary_expression":
            return None
        operator = field(condition, "operator")
        if text(operator) == "&&":
            condition = field(condition, "left")
            continue
        left, right = field(condition, "left"), field(condition, "right")
        if operator is None or left is None or right is None or left.type != "identifier":
            return None
        return _Count(text(left), operator, right) if text(operator) in ("<", "<=") else None
    return None


def _by_one(loop: Node, variable: str) -> bool:
    """Return whether a `for` counts up by one; any `while` passes."""
    update = field(loop, "update")
    if loop.type != "for_statement" or update is None:
        return loop.type == "while_statement"
    step_text = text(update).replace(" ", "")[:80]
    return any(step in step_text for step in (f"{variable}++", f"++{variable}", f"{variable}+=1"))


def _accesses_by(variable: str, function: Function, body: Node) -> Iterator[tuple[Node, Node, int]]:
    """Yield accesses indexed by the loop variable, their arrays and the offset added to it."""
    for access in _accesses(function, body):
        index, array = index_of(access), field(access, "argument")
        if index is not None and array is not None:
            offset = _offset(bare(index), variable, function)
            if offset is not None:
                yield access, array, offset


def _accesses(function: Function, body: Node) -> list[Node]:
    query = compile_query(function.unit.language, "(subscript_expression) @index")
    return captures(query, body).get("index", [])[:MAX_ACCESSES]


def _offset(index: Node, variable: str, function: Function) -> int | None:
    """Return the offset added to the loop variable in an index; None for any other index."""
    if index.type == "identifier":
        return 0 if text(index) == variable else None
    if index.type != "binary_expression" or text(field(index, "left")) != variable:
        return None
    steps, operator = constant(field(index, "right"), function), operator_of(index)
    if steps is None or operator not in ("+", "-"):
        return None
    return steps if operator == "+" else -steps


def _is_checked(function: Function, count: _Count, access: Node, elements: int | None) -> bool:
    """Return whether something between the condition and the access keeps the variable small, or
    changes it."""
    start = count.limit.end_byte
    limits = bounds(function, count.variable, access.start_byte, start + 1)
    if elements is not None and limits.high is None and elements in limits.excluded:
        return True
    if limits.upper and (elements is None or limits.high is None or limits.high < elements):
        return True
    writes = reaching(function, count.variable, access.start_byte)
    body = access.start_byte
    return writes is None or any(
        start < w.at <= body and w.operator not in ("++", "+=") for w in writes
    )

"""A loop runs further than an array it goes through.

## What it does
Takes the last value of a counting loop's variable from its condition (`i < 100`, `i <= N`,
`i < strlen(s)` with a string that is seen) and compares it with the size of every array that is
indexed with it. `i <= n` over an array of `n` elements is found without knowing `n`.

## Why is this bad?
The loop reads or writes behind the array. `<=` where `<` was meant is the classic form; a loop
sized by another, larger array the other.

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

from jarvis_ls.codeintel.code import Function, Unit, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node, captures, compile_query
from jarvis_ls.jsec.c.bounds import bounds
from jarvis_ls.jsec.c.copies import amount_of
from jarvis_ls.jsec.c.extents import extent, index_of, pointee
from jarvis_ls.jsec.c.indices import may_index
from jarvis_ls.jsec.c.reaching import reaching
from jarvis_ls.jsec.constants import constant, declaration
from jarvis_ls.jsec.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.site import Site

MAX_ACCESSES = 64
"""Indexed arrays looked at in one loop."""

KNOWN = "The loop takes '{variable}' up to {last}, but '{array}' has {count} elements."
NAMED = "The loop takes '{variable}' up to {last}, which is the number of elements of '{array}'."


@dataclass(frozen=True, slots=True)
class _Count:
    variable: str
    operator: Node
    limit: Node


def _has_limit(loop: Node) -> bool:
    """Whether the condition of a loop holds a `<`, told by its text."""
    condition = loop.child_by_field_name("condition")
    return condition is not None and b"<" in (condition.text or b"")


@rule(
    query=nodes("(for_statement) @site (while_statement) @site", when=_has_limit),
    category="buffer_overflow",
    cwe=(193, 787, 125, 805, 121, 126),
    confidence=0.85,
    suggestion="End the loop at the size of the smallest array it goes through.",
    fixable=True,
    answered=("buffer-write-stack", "buffer-write-heap", "buffer-read-over"),
)
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
    if last < elements or _checked(function, count, access, elements):
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
        related=[(count.operator, "The loop ends here.")],
        fix=_rewrite(count) if last == elements and text(count.operator) == "<=" else None,
    )


def _names(function: Function, count: _Count, access: Node, array: Node) -> Iterator[Report]:
    declared = declaration(array, function)
    size = text(bare(count.limit))
    if declared is None or not declared.arrays or declared.arrays[0] != size:
        return
    if _checked(function, count, access, None):
        return
    yield Report(
        access, NAMED, pattern="loop", variable=count.variable, last=size, array=text(array),
        related=[(count.operator, "The loop ends here.")], fix=_rewrite(count),
    )  # fmt: skip


def _rewrite(count: _Count) -> Rewrite:
    return Rewrite("End the loop before '{last}'", [(count.operator, "<")], safe=False,
                   last=text(count.limit))  # fmt: skip


def _may_be_known(count: _Count, unit: Unit) -> bool:
    """Whether a limit may be a number that is known here, or the size in a declaration: that of a
    variable is for flow."""
    limit = bare(count.limit)
    if limit.type == "identifier" and text(count.operator) == "<":
        return text(limit) in unit.facts.macros or text(limit) in unit.facts.enumerators
    return limit.type not in ("field_expression", "subscript_expression", "pointer_expression")


def _count(condition: Node | None) -> _Count | None:
    """`i < n` or `i <= n`, alone or first of several conditions joined by `&&`."""
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
    """Whether a `for` counts up by one; other loops are not looked into."""
    update = field(loop, "update")
    if loop.type != "for_statement" or update is None:
        return loop.type == "while_statement"
    written = text(update).replace(" ", "")[:80]
    return any(step in written for step in (f"{variable}++", f"++{variable}", f"{variable}+=1"))


def _accesses_by(variable: str, function: Function, body: Node) -> Iterator[tuple[Node, Node, int]]:
    """Accesses indexed by the loop variable, the arrays, and what is added to the variable."""
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
    """What is added to the loop variable in an index; None when it is something else."""
    if index.type == "identifier":
        return 0 if text(index) == variable else None
    if index.type != "binary_expression" or text(field(index, "left")) != variable:
        return None
    steps, operator = constant(field(index, "right"), function), operator_of(index)
    if steps is None or operator not in ("+", "-"):
        return None
    return steps if operator == "+" else -steps


def _checked(function: Function, count: _Count, access: Node, elements: int | None) -> bool:
    """Whether something between the condition and the access keeps the variable small, or
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
    )  # fmt: skip

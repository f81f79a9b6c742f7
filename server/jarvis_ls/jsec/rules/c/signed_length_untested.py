"""Signed length of a caller may be negative.

## What it does
Finds functions that other files can call, which check some of their parameters, and move a pointer
by a signed length among the others that nothing tests.

## Why is this bad?
A negative length moves the pointer to before its block.

## Example
```c
int parse(struct parser *parser, int length) {
    if (parser == NULL)
        return -1;
    parser->end += length;
```

Use instead:
```c
int parse(struct parser *parser, int length) {
    if (parser == NULL || length < 0)
        return -1;
    parser->end += length;
```

## References
- CWE-195: Signed to Unsigned Conversion Error
- CWE-787: Out-of-bounds Write
- CWE-125: Out-of-bounds Read
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.lengths import LENGTH, words_of
from jarvis_ls.jsec.local.constants import declaration
from jarvis_ls.jsec.local.guards import leaves, null_checked

_SIGNED = frozenset({"int", "long", "short", "ssize_t", "long int", "gint", "gssize"})


def _moves(function: Function) -> bool:
    return not function.is_static


@rule(
    query=functions(containing=("+=",), when=_moves),
    category="integer_overflow",
    cwe=(195, 787, 125),
    confidence=0.45,
    severity="medium",
    suggestion="Reject a negative '{length}' first.",
)
def signed_length_untested(function: Function) -> Iterator[Report]:
    lengths = [
        parameter
        for parameter in function.parameters
        if parameter.type in _SIGNED and not parameter.is_pointer and LENGTH.search(parameter.name)
    ]
    if not lengths or not _checks_parameters(function):
        return
    for length in lengths:
        move = _move_by(function, length)
        if move is not None and not _is_tested(function, length):
            yield Report(
                move,
                "'{length}' may be negative: the caller chooses it, and nothing tests it.",
                pattern=length.name,
                length=length.name,
            )


def _checks_parameters(function: Function) -> bool:
    """Return whether the function leaves for some pointer parameter that is null."""
    pointers = [parameter.name for parameter in function.parameters if parameter.is_pointer]
    names = [parameter.name for parameter in function.parameters if not parameter.arrays]
    first = next(iter(function.nodes("if")), None)
    body, condition = field(first, "consequence"), field(first, "condition")
    if body is None or condition is None or not leaves(body):
        return False
    words = words_of(condition)
    return any(
        name in words and (name in pointers or null_checked(function, name, 0, body.start_byte))
        for name in names
    )


def _move_by(function: Function, length: Variable) -> Node | None:
    """Return where a pointer is moved by the length."""
    for node in function.nodes("assign"):
        right, target = field(node, "right"), field(node, "left")
        if operator_of(node) != "+=" or right is None or text(bare(right)) != length.name:
            continue
        declared = declaration(target, function)
        if declared is not None and declared.pointers:
            return node
    return None


def _is_tested(function: Function, length: Variable) -> bool:
    """Return whether a comparison names the length, or it gets a new value."""
    if any(length.name in words_of(condition) for condition in function.conditions):
        return True
    return any(text(field(node, "left")) == length.name for node in function.nodes("assign"))

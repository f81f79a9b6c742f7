"""An exported function writes through a pointer it never tests.

## What it does
Reports `*result = …` in a function that is part of a library's interface (its declaration
carries an export macro or attribute) when the parameter points to a plain number, the write
happens on every call, and the function nowhere tests the pointer.

## Why is this bad?
A library does not choose its callers. One that does not want the result passes NULL, as other
functions of the same kind allow, and the library crashes inside the caller's process.

## Example
```c
EXPORT const char *last_error(struct file *f, int *number)
{
    *number = f->error;
    return f->message;
}
```

Use instead:
```c
EXPORT const char *last_error(struct file *f, int *number)
{
    if (number != NULL)
        *number = f->error;
    return f->message;
}
```

## References
- CWE-476: NULL Pointer Dereference
- SEI CERT C API00-C: Functions should validate their parameters
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, Variable, ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.unset import SCALARS
from jarvis_ls.jsec.guards import null_checked
from jarvis_ls.jsec.rule import Report, Rewrite, functions, rule

_HEAD = 400
_MARK = re.compile(rb"[A-Z][A-Z0-9_]|dllexport|visibility")
_PLAIN = frozenset({"compound_statement", "expression_statement"})


def _may_be_exported(function: Function) -> bool:
    """Whether a word in capitals stands in the head of a function, or an attribute."""
    head = function.unit.source.data[function.start : min(function.start + _HEAD, function.end)]
    return _MARK.search(head.partition(b"{")[0]) is not None


@rule(
    query=functions(when=_may_be_exported),
    category="input_validation",
    cwe=(476,),
    confidence=0.59,
    severity="medium",
    suggestion="Write to '*{parameter}' only when '{parameter}' is not NULL.",
    fixable=True,
    reached="store-reached",
)
def unchecked_out_parameter(function: Function) -> Iterator[Report]:
    if function.is_static or not _is_exported(function):
        return
    told: set[str] = set()
    for node in function.nodes("assign"):
        left = field(node, "left")
        if left is None or left.type != "pointer_expression":
            continue
        target = field(left, "argument")
        if target is None or target.type != "identifier" or text(target) in told:
            continue
        name = text(target)
        variable = function.variable(name, node.start_byte)
        if variable is None or not _is_out(variable) or not _always(node, function):
            continue
        if null_checked(function, name) or text(field(node, "right")).startswith("*"):
            continue
        told.add(name)
        yield Report(
            left,
            "'{function}' is exported and writes to '*{parameter}', but never tests whether a "
            "caller passed NULL.",
            pattern=name,
            function=function.name.rpartition("(")[2].rstrip(")")[:60],
            parameter=name,
            fix=_guard(node, name, function),
        )


def _is_out(variable: Variable) -> bool:
    """A parameter that points to one plain number."""
    words = variable.type.split()
    return (
        variable.is_parameter
        and variable.pointers == 1
        and "const" not in words
        and bool(words)
        and "char" not in words
        and all(word in SCALARS for word in words)
    )


def _is_exported(function: Function) -> bool:
    """Whether the declaration is marked as part of a library's interface: a macro wrapped
    around the name (`API(name) (…)`), one in front of it, or an export attribute."""
    declarator = function.declarator
    if declarator is None:
        return False
    outermost: Node = declarator
    for outer in ancestors(declarator, function.node):
        if outer.type == "function_declarator":
            outermost = outer
    inner = field(outermost, "declarator")
    if inner is not None and inner.type == "function_declarator":
        return text(field(inner, "declarator")).isupper()
    body = function.body
    head = function.unit.source.data[function.start : body.start_byte if body else function.end]
    written = head[:400].decode("utf-8", "replace").partition("(")[0]
    return "dllexport" in written or "visibility" in written or any(
        word.isupper() and word.endswith(("EXPORT", "_API", "EXTERN", "PUBLIC"))
        for word in written.split()
    )  # fmt: skip


def _always(node: Node, function: Function) -> bool:
    """Whether an assignment is made on every call: it stands directly in the body."""
    return all(outer.type in _PLAIN for outer in ancestors(node, function.node))


def _guard(node: Node, name: str, function: Function) -> Rewrite | None:
    statement = node.parent
    if statement is None or statement.type != "expression_statement":
        return None
    null = "nullptr" if function.unit.language == "cpp" else "NULL"
    start = statement.start_byte
    return Rewrite("Write only when '{parameter}' is not NULL",
                   [((start, start), f"if ({name} != {null}) ")], parameter=name)  # fmt: skip

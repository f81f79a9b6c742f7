"""Missing null check on an output parameter.

## What it does
Reports `*result = …` in a function of a library's interface (its declaration carries an export
macro or attribute) when the parameter points to a scalar, the write happens on every call, and
the function never checks the pointer.

## Why is this bad?
A library does not control its callers. A caller that does not need the result passes NULL, as
similar functions allow, and the library crashes in the caller's process.

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

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.source import line_start
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, Rewrite, flow_verdicts, functions, rule
from jarvis_ls.jsec.local.c.layout import layout_of, replace_statement
from jarvis_ls.jsec.local.c.uninitialised import SCALARS
from jarvis_ls.jsec.local.guards import null_checked

_HEAD = 400
_MARK = re.compile(rb"[A-Z][A-Z0-9_]|dllexport|visibility")
_PLAIN = frozenset({"compound_statement", "expression_statement"})


def _may_be_exported(function: Function) -> bool:
    """Return whether the head of a function has a word in capitals or an attribute."""
    data = function.unit.source.data
    head = data[_line_of(function) : min(function.start + _HEAD, function.end)]
    return _MARK.search(head.partition(b"{")[0]) is not None


def _line_of(function: Function) -> int:
    """Return where the line begins that a function does: the parser is not given the macros that
    export it, which are there."""
    return line_start(function.unit.source.data, function.start)


@rule(
    query=functions(when=_may_be_exported),
    category="input_validation",
    cwe=(476,),
    confidence=0.59,
    severity="medium",
    suggestion="Write to '*{parameter}' only if '{parameter}' is not NULL.",
    fixable=True,
)
@flow_verdicts(trace="store-reached")
def unchecked_out_parameter(function: Function) -> Iterator[Report]:
    if function.is_static or not _is_exported(function):
        return
    reported: set[str] = set()
    for node in function.nodes("assign"):
        left = field(node, "left")
        if left is None or left.type != "pointer_expression":
            continue
        target = field(left, "argument")
        if target is None or target.type != "identifier" or text(target) in reported:
            continue
        name = text(target)
        variable = function.variable(name, node.start_byte)
        if variable is None or not _is_out(variable) or not _always(node, function):
            continue
        if null_checked(function, name) or text(field(node, "right")).startswith("*"):
            continue
        reported.add(name)
        yield Report(
            left,
            "Exported function '{function}' writes to '*{parameter}' without a null check.",
            pattern=name,
            function=function.name.rpartition("(")[2].rstrip(")")[:60],
            parameter=name,
            fix=_guard(node, name, function),
        )


def _is_out(variable: Variable) -> bool:
    """Return whether a variable is a parameter that points to a scalar."""
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
    """Return whether the declaration is exported: by a macro around the name (`API(name) (…)`) or
    before it, or by an attribute.
    """
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
    end = body.start_byte if body else function.end
    head = function.unit.source.data[_line_of(function) : end]
    written = head[:400].decode("utf-8", "replace").partition("(")[0]
    return (
        "dllexport" in written
        or "visibility" in written
        or any(
            word.isupper() and word.endswith(("EXPORT", "_API", "EXTERN", "PUBLIC"))
            for word in written.split()
        )
    )


def _always(node: Node, function: Function) -> bool:
    """Return whether an assignment is unconditional: directly in the body."""
    return all(outer.type in _PLAIN for outer in ancestors(node, function.node))


def _guard(node: Node, name: str, function: Function) -> Rewrite | None:
    statement = node.parent
    if statement is None or statement.type != "expression_statement":
        return None
    null = "nullptr" if function.unit.language == "cpp" else "NULL"
    lines = layout_of(function).when(f"{name} != {null}", [text(statement)])
    return Rewrite(
        "Write only if '{parameter}' is not NULL",
        replace_statement(function, statement, lines),
        parameter=name,
    )

"""Two smart pointers own the same object.

## What it does
Reports a second smart pointer constructed from the same raw pointer, a smart pointer constructed
from `other.get()` or `this`, and `delete` of a pointer owned by a smart pointer.

## Why is this bad?
Each owner has its own reference count and deletes the object at its end: a double free.

## Example
```cpp
Session *raw = new Session;
std::shared_ptr<Session> first(raw);
std::shared_ptr<Session> second(raw);
```

Use instead:
```cpp
auto first = std::make_shared<Session>();
std::shared_ptr<Session> second = first;
```

## References
- CWE-415: Double Free
- CWE-416: Use After Free
- SEI CERT C++ MEM56-CPP: Do not store an already-owned pointer value in an unrelated smart pointer
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node, captures, compile_query
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.guards import same_path, written_between

_OWNER = re.compile(r"(?:const )?(?:std::|boost::)?(?:unique_ptr|shared_ptr)\s?<")
_MESSAGE = "'{pointer}' is already owned by a smart pointer and will be deleted twice."


@rule(
    query=functions(containing=("unique_ptr", "shared_ptr")),
    category="memory_mgmt",
    cwe=(415, 416),
    confidence=0.88,
    only="cpp",
    suggestion="Copy or move the existing smart pointer instead.",
)
def two_owners_of_one_pointer(function: Function) -> Iterator[Report]:
    owned: dict[str, Node] = {}
    for node in function.nodes("decl"):
        if not _OWNER.match(text(field(node, "type"))[:200]):
            continue
        for declarator in node.children_by_field_name("declarator"):
            value = _single_argument(declarator)
            if value is None:
                continue
            written = text(value)
            if written == "this" or _is_get(value):
                yield Report(value, _MESSAGE, confidence=0.82, pointer=written)
            elif written.isidentifier() and _is_raw(function, value):
                first = owned.setdefault(written, value)
                if first != value and not _separate(function, first, value, written):
                    yield Report(
                        value,
                        _MESSAGE,
                        pointer=written,
                        causes=[(first, "First owner constructed here.")],
                    )
    yield from _deletes(function, owned)


def _single_argument(declarator: Node) -> Node | None:
    value = field(declarator, "value")
    if (
        value is None and declarator.type == "function_declarator"
    ):  # `T x(raw);` parses as a function declaration
        parameters = field(declarator, "parameters")
        if parameters is None or parameters.named_child_count != 1:
            return None
        parameter = parameters.named_children[0]
        return field(parameter, "type") if parameter.named_child_count == 1 else None
    if value is None or value.type not in ("argument_list", "initializer_list"):
        return None
    return value.named_children[0] if value.named_child_count == 1 else None


def _is_get(value: Node) -> bool:
    if value.type != "call_expression":
        return False
    callee = field(value, "function")
    return callee is not None and text(field(callee, "field")) == "get" and ("(" in text(value))


def _is_raw(function: Function, value: Node) -> bool:
    variable = function.variable(text(value), value.start_byte)
    return variable is not None and variable.is_pointer


def _separate(function: Function, first: Node, second: Node, name: str) -> bool:
    if not same_path(function, first, second):
        return True
    return written_between(function, name, first.end_byte, second.start_byte)


def _deletes(function: Function, owned: dict[str, Node]) -> Iterator[Report]:
    if not owned:
        return
    query = compile_query("cpp", "(delete_expression) @delete")
    for node in captures(query, function.node).get("delete", ()):
        name = text(node.named_children[-1]) if node.named_child_count else ""
        first = owned.get(name)
        if first is None or node.start_byte < first.start_byte:
            continue
        if not _separate(function, first, node, name):
            yield Report(
                node,
                _MESSAGE,
                pattern="delete",
                pointer=name,
                causes=[(first, "Owned by a smart pointer here.")],
            )

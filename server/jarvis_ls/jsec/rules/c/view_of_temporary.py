"""Dangling pointer into a string.

## What it does
Reports a pointer or `std::string_view` to the characters of a temporary (`(a + b).c_str()`,
`stream.str().c_str()`, `std::string_view v = a + b`), and a `return` of `c_str()`, `data()` or a
view of a local string.

## Why is this bad?
The temporary is destroyed at the end of the full expression, the local at the end of the
function. Every later access is a use after free.

## Example
```cpp
const char *path = (folder + "/config").c_str();
open_file(path);
```

Use instead:
```cpp
std::string path = folder + "/config";
open_file(path.c_str());
```

## References
- CWE-416: Use After Free
- CWE-562: Return of Stack Variable Address
- SEI CERT C++ STR52-CPP: Use valid references, pointers, and iterators to reference elements of a
  basic_string
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.containers import is_string
from jarvis_ls.jsec.local.c.control_flow import closures

_INSIDE = frozenset({"c_str", "data", "constData"})
_MAKE_NEW = frozenset(
    {
        "str",
        "substr",
        "toStdString",
        "toUtf8",
        "toLatin1",
        "toLocal8Bit",
        "to_string",
        "string",
        "wstring",
    }
)
_VIEWS = frozenset({"std::string_view", "string_view", "std::wstring_view"})
_TEXTS = ("c_str", "data", "Data", "string_view")
"""What a function with a word of `_INSIDE` or `_VIEWS` has one of."""


@rule(
    query=functions(containing=_TEXTS),
    category="memory_mgmt",
    cwe=(416, 562),
    confidence=0.85,
    only="cpp",
    suggestion="Store the string itself in a variable that outlives the pointer.",
)
def view_of_temporary(function: Function) -> Iterator[Report]:
    for call in function.calls:
        if not call.is_method or call.name not in _INSIDE or call.receiver is None:
            continue
        if _is_temporary(bare(call.receiver)) and call.target is not None and _is_kept(call):
            yield Report(
                call.node,
                "Dangling pointer: '{target}' points into a temporary destroyed at the end "
                "of this statement.",
                pattern=call.name,
                target=text(call.target),
            )
    for node in function.nodes("decl"):
        if text(field(node, "type")) not in _VIEWS:
            continue
        for declarator in node.children_by_field_name("declarator"):
            value = field(declarator, "value")
            if value is not None and _is_temporary(_only(value)):
                yield Report(
                    value,
                    "Dangling pointer: '{target}' points into a temporary destroyed at the end "
                    "of this statement.",
                    pattern="string_view",
                    target=text(field(declarator, "declarator")),
                )
    yield from _dangling_returns(function)


def _dangling_returns(function: Function) -> Iterator[Report]:
    declarator = field(function.node, "declarator")
    pointer = declarator is not None and declarator.type == "pointer_declarator"
    view = text(field(function.node, "type")) in _VIEWS
    if not pointer and not view:
        return
    hidden = closures(function)
    for node in function.nodes("return"):
        value = next((c for c in node.named_children if c.type != "comment"), None)
        if value is None or any(a <= node.start_byte < b for a, b in hidden):
            continue
        inner = value
        if value.type == "call_expression":
            callee = field(value, "function")
            if callee is None or text(field(callee, "field")) not in _INSIDE:
                continue
            inner = bare(field(callee, "argument") or value)
        elif not view:
            continue
        if _is_local_string(function, inner) or _is_temporary(inner):
            yield Report(
                value,
                "Dangling pointer: the string '{string}' is destroyed when the function returns.",
                pattern="return",
                string=text(inner)[:60],
            )


def _is_local_string(function: Function, node: Node) -> bool:
    variable = function.variable(text(node), node.start_byte) if node.type == "identifier" else None
    if variable is None or variable.is_static or variable.pointers or not is_string(variable.type):
        return False
    parent = variable.node.parent
    return parent is None or parent.type != "reference_declarator"


def _is_temporary(node: Node) -> bool:
    """Return whether this constructs a string: `std::string(…)`, `a + b`, `s.substr(…)`."""
    node = bare(node)
    if node.type == "binary_expression" and operator_of(node) == "+":
        return _makes_string(field(node, "left")) or _makes_string(field(node, "right"))
    return _makes_new(node)


def _makes_string(node: Node | None) -> bool:
    """Return whether an operand of `+` shows that strings are concatenated."""
    if node is None:
        return False
    node = bare(node)
    if node.type == "string_literal" or _makes_new(node):
        return True
    return node.type == "binary_expression" and _makes_string(field(node, "left"))


def _makes_new(node: Node) -> bool:
    if node.type != "call_expression":
        return False
    callee = field(node, "function")
    if callee is None:
        return False
    if callee.type == "field_expression":
        return text(field(callee, "field")) in _MAKE_NEW
    return text(callee) in ("std::string", "std::wstring", "string", "std::to_string", "to_string")


def _is_kept(call: Call) -> bool:
    """Return whether the target is a pointer, not a string that copies the characters."""
    target = call.target
    if target is None or call.function is None:
        return False
    variable = call.function.variable(text(target), target.start_byte)
    return variable is not None and (variable.pointers > 0 or variable.type == "auto")


def _only(node: Node) -> Node:
    if node.type in ("argument_list", "initializer_list") and node.named_child_count == 1:
        return node.named_children[0]
    return node

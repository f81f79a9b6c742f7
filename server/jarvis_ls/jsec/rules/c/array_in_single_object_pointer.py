"""Array held by a smart pointer for a single object.

## What it does
Reports `std::unique_ptr<T>`, `std::shared_ptr<T>`, `std::auto_ptr<T>` or their `reset` initialised
with `new T[n]` where the template argument is not an array type.

## Why is this bad?
The smart pointer calls `delete`, but the array needs `delete[]`: the behaviour is undefined. Only
one destructor runs, and the allocator may receive an address it did not return.

## Example
```cpp
std::unique_ptr<char> buffer(new char[size]);
```

Use instead:
```cpp
std::unique_ptr<char[]> buffer(new char[size]);
```

## References
- CWE-762: Mismatched Memory Management Routines
- SEI CERT C++ MEM51-CPP: Properly deallocate dynamically allocated resources
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule

_SMART = re.compile(r"(?:std::|boost::)?(?:unique_ptr|shared_ptr|auto_ptr|scoped_ptr)<")

_PARAMETER = re.compile(r"[A-Z][A-Z0-9]?")
"""Names that parameters of templates have."""


@rule(
    query=nodes(cpp="(new_expression) @site"),
    category="memory_mgmt",
    cwe=(762,),
    confidence=0.9,
    only="cpp",
    suggestion="Use '{type}[]' as the template argument, or use std::vector.",
    fixable=True,
)
def array_in_single_object_pointer(site: Site) -> Iterator[Report]:
    declarator, template = field(site.node, "declarator"), _template(site)
    if declarator is None or declarator.type != "new_declarator" or template is None:
        return
    spelling = text(template).replace(" ", "")
    arguments = field(template, "arguments")
    if not _SMART.match(spelling) or arguments is None or not arguments.named_child_count:
        return
    if arguments.named_child_count > 1 or text(arguments.named_children[0]).endswith("]"):
        return
    if "auto_ptr" in spelling and "[]" in spelling:
        return
    kind = arguments.named_children[0]
    if _PARAMETER.fullmatch(text(kind)):
        return  # which may be an array itself
    end = kind.end_byte
    yield Report(
        site.node,
        "'{pointer}' deletes a single object but holds an array (mismatched delete).",
        pattern=spelling.partition("<")[0],
        pointer=text(template),
        type=text(kind),
        fix=None
        if "auto_ptr" in spelling or "scoped_ptr" in spelling
        else Rewrite(
            "Change the template argument to '{type}[]'", [((end, end), "[]")], type=text(kind)
        ),
    )


def _template(site: Site) -> Node | None:
    """Return the type of the smart pointer around an array; None when it has a deleter."""
    for outer in ancestors(site.node):
        kind = outer.type
        if kind in ("argument_list", "initializer_list") and outer.named_child_count > 1:
            return None
        if kind == "declaration":
            return _template_in(field(outer, "type"))
        if kind == "call_expression":
            callee = field(outer, "function")
            if callee is not None and callee.type == "field_expression":
                return _of_receiver(site, callee)
            return _template_in(callee)
        if kind == "compound_literal_expression":
            return _template_in(field(outer, "type"))
        if kind not in (
            "argument_list",
            "initializer_list",
            "init_declarator",
            "parenthesized_expression",
        ):
            return None
    return None


def _of_receiver(site: Site, callee: Node) -> Node | None:
    """Return the declared type of `p` in `p.reset(…)`."""
    receiver = field(callee, "argument")
    if text(field(callee, "field")) != "reset" or receiver is None or site.function is None:
        return None
    variable = site.function.variable(text(receiver), receiver.start_byte)
    for outer in ancestors(variable.node) if variable is not None else ():
        if outer.type in ("declaration", "parameter_declaration"):
            return _template_in(field(outer, "type"))
    return None


def _template_in(node: Node | None) -> Node | None:
    for _ in range(4):
        if node is None or node.type in ("template_type", "template_function"):
            return node
        node = field(node, "name")
    return None

"""String comparison by address.

## What it does
Finds `==` and `!=` between a string literal and a pointer to or array of characters, and between
two character arrays. `std::string` compares contents and is left out.

## Why is this bad?
This compares addresses, not contents. The result is false for equal strings at different
addresses, and whether two equal literals share one address is unspecified.

## Example
```c
if (command == "quit")
    return;
```

Use instead:
```c
if (strcmp(command, "quit") == 0)
    return;
```

## References
- CWE-597: Use of Wrong Operator in String Comparison
- CWE-595: Comparison of Object References Instead of Object Contents
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.local.constants import declaration, string_literal

_CHAR_ARRAY = re.compile(rb"char\s[^;(]{0,200}\[")
_NAMES = re.compile(rb"\w+\s*[!=]=\s*\w+")


def _may_be_texts(node: Node) -> bool:
    """Return whether two names or a literal are compared, ruling out most by their text."""
    written = node.text or b""
    if b'"' not in written and _NAMES.fullmatch(written) is None:
        return False
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return False
    kinds = {left.type, right.type}
    return "string_literal" in kinds or kinds == {"identifier"}


@rule(
    query=nodes("(binary_expression) @site", operators=("==", "!="), when=_may_be_texts),
    category="type_safety",
    cwe=(597, 595),
    confidence=0.9,
    severity="medium",
    suggestion="Compare the contents with 'strcmp'.",
    fixable=True,
)
def string_compared_by_address(site: Site) -> Iterator[Report]:
    left, right, function = field(site.node, "left"), field(site.node, "right"), site.function
    if left is None or right is None or function is None:
        return
    if left.type == right.type == "identifier" and not _has_char_arrays(function):
        return
    left, right = bare(left), bare(right)
    literals = [n for n in (left, right) if n.type in ("string_literal", "concatenated_string")]
    if len(literals) == 2:
        return
    if literals:
        other = right if literals[0] == left else left
        confidence = _confidence(other, function)
    else:
        both = _is_array(left, function) and _is_array(right, function)
        confidence = 0.85 if both and text(left) != text(right) else 0.0
    if confidence:
        operator = operator_of(site.node)
        fixed = f"strcmp({text(left)}, {text(right)}) {operator} 0"
        yield Report(
            site.node,
            "'{comparison}' compares addresses, not string contents.",
            confidence=confidence,
            pattern=operator,
            comparison=text(site.node)[:80],
            fix=Rewrite("Compare with strcmp", [(site.node, fixed)], safe=False),
        )


def _confidence(other: Node, function: Function) -> float:
    """Return the confidence that the other operand is a pointer to characters."""
    declared = declaration(other, function)
    if declared is not None:
        plain = "char" in declared.type.split() and "::" not in declared.type
        return 0.9 if plain and (declared.pointers or declared.arrays) else 0.0
    if function.unit.language == "cpp" or string_literal(other, function) is not None:
        return 0.0
    return (
        0.7
        if other.type
        in ("identifier", "field_expression", "call_expression", "subscript_expression")
        else 0.0
    )


@once_per_function
def _has_char_arrays(function: Function) -> bool:
    return _CHAR_ARRAY.search(function.node.text or b"") is not None


def _is_array(node: Node, function: Function) -> bool:
    if node.type != "identifier":
        return False
    declared = function.variable(text(node), node.start_byte)
    return (
        declared is not None
        and declared.is_array
        and declared.type.split()[-1:] == ["char"]
        and not declared.pointers
    )

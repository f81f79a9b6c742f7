"""Membership test with strchr() is true for the terminator.

## What it does
Finds loops that move on while `strchr(set, *p)` finds the character, and `strchr(set, c)` of a
character behind which the next one is read, where nothing tests it for the terminator.

## Why is this bad?
The terminator belongs to every string: `strchr(set, '\\0')` is not NULL, and the scan continues
beyond the end of the text.

## Example
```c
while (strchr(" \\t", *p))
    p++;
```

Use instead:
```c
while (*p && strchr(" \\t", *p))
    p++;
```

## References
- CWE-125: Out-of-bounds Read
- CWE-126: Buffer Over-read
- CWE-170: Improper Null Termination
- SEI CERT C STR31-C: Guarantee that storage for strings has sufficient space
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.constants import string_literal

_HERE = re.compile(
    r"\*\s?(?P<pointer>[A-Za-z_]\w*)|(?P<array>[A-Za-z_]\w*)\s?\[\s?(?P<index>[A-Za-z_]\w*)\s?\]"
)
_NEXT = re.compile(r"\*\s?(?:\+\+\s?([A-Za-z_]\w*)|([A-Za-z_]\w*)\s?\+\+)")
_STEPS = 12
_MAX_TEXT = 2000


@rule(
    query=calls("strchr", "index", "wcschr"),
    category="buffer_overflow",
    cwe=(125, 126, 170),
    confidence=0.6,
    severity="medium",
    suggestion="Test '{character}' for the terminator first.",
)
def set_test_finds_terminator(call: Call) -> Iterator[Report]:
    function, wanted = call.function, call.arg(1)
    if function is None or wanted is None or not _is_constant_set(call.arg(0), function):
        return
    wanted = bare(wanted)
    condition = _decided(call.node)
    if condition is None or _is_negated(call.node, condition):
        return
    owner = condition.parent
    if owner is None:
        return
    at = _HERE.fullmatch(text(wanted))
    if owner.type in ("while_statement", "for_statement", "do_statement") and at is not None:
        position = at["pointer"] or at["index"]
        if _names_otherwise(condition, call.node, text(wanted)) or not _steps(owner, position):
            return
        if owner.type == "for_statement" and position not in text(field(owner, "update")):
            return
    elif owner.type == "if_statement":
        cursor = _read_by_step(function, wanted)
        if not cursor or not _reads_next(field(owner, "consequence"), cursor):
            return
        if _is_tested(function, wanted, condition, call.node):
            return
    else:
        return
    yield Report(
        call.node,
        "'{call}' finds the terminator too: the scan continues beyond the end of the text.",
        pattern=call.name,
        call=text(call.node)[:80],
        character=text(wanted),
    )


def _is_constant_set(node: Node | None, function: Function) -> bool:
    """Return whether an argument is a literal, or a macro by its name."""
    return node is not None and (
        string_literal(node, function) is not None
        or (node.type == "identifier" and text(node).isupper())
    )


def _decided(node: Node) -> Node | None:
    """Return the condition of a statement that a call alone, or joined by `&&`, decides."""
    below = node
    for _ in range(_STEPS):
        above = below.parent
        if above is None:
            return None
        if above.type in ("while_statement", "for_statement", "if_statement", "do_statement"):
            return below if field(above, "condition") == below else None
        if above.type == "binary_expression" and operator_of(above) not in ("&&", "!=", "=="):
            return None
        if above.type not in ("binary_expression", "parenthesized_expression", "unary_expression"):
            return None
        below = above
    return None


def _is_negated(node: Node, condition: Node) -> bool:
    """Return whether the condition holds when the character is not found."""
    return any(
        operator_of(above) in ("!", "==")
        for above in ancestors(node)
        if condition.start_byte <= above.start_byte and above.end_byte <= condition.end_byte
    )


def _names_otherwise(condition: Node, call: Node, character: str) -> bool:
    """Return whether a condition says more about the character, or about a position, than the
    call."""
    rest = text(condition).replace(text(call), "", 1)
    match = _HERE.fullmatch(character)
    position = "" if match is None else match["pointer"] or match["index"]
    return character in rest or re.search(rf"\b{position}\b", rest) is not None


def _steps(loop: Node, position: str) -> bool:
    """Return whether a short loop only moves a position on."""
    body, update = field(loop, "body"), field(loop, "update")
    written = f"{text(body)} {text(update)}"[:_MAX_TEXT]
    return re.search(rf"\+\+\s?{position}\b|\b{position}\s?(?:\+\+|\+=)", written) is not None and (
        "break" not in written and "return" not in written and "if" not in written
    )


def _read_by_step(function: Function, wanted: Node) -> str:
    """Return the cursor that a character was read through with a step, as in `c = *++p`; empty
    when it was not."""
    written = text(wanted)
    if wanted.type == "identifier":
        writes = reaching(function, written, wanted.start_byte) or []
        written = text(writes[0].value) if len(writes) == 1 else ""
    match = _NEXT.fullmatch(written)
    return "" if match is None else match[1] or match[2]


def _reads_next(body: Node | None, cursor: str) -> bool:
    """Return whether a branch reads the next character by a step of a cursor."""
    return body is not None and any(
        cursor in (match[1], match[2]) for match in _NEXT.finditer(text(body)[:_MAX_TEXT])
    )


def _is_tested(function: Function, wanted: Node, condition: Node, call: Node) -> bool:
    """Return whether some condition, up to that of the call, names the character otherwise."""
    character = text(wanted)
    if character in text(condition).replace(text(call), "", 1):
        return True
    return any(
        re.search(rf"\b{character}\b", text(each))
        for each in function.conditions
        if each.end_byte <= condition.start_byte
        and wanted.type == "identifier"
        and any(
            write.at <= each.start_byte
            for write in reaching(function, character, wanted.start_byte) or ()
        )
    )

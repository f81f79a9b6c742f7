"""Backward scan without a test for the start of the text.

## What it does
Finds loops that go back from the end of a text while its characters are of some kind, such as
blanks, and compare the position with nothing.

## Why is this bad?
A text of nothing but such characters, or an empty one, is left at its front: the loop reads, and
often writes, before the start of the array.

## Example
```c
char *end = line + strlen(line) - 1;
while (*end == '\\n')
    *end-- = '\\0';
```

Use instead:
```c
char *end = line + strlen(line);
while (end > line && end[-1] == '\\n')
    *--end = '\\0';
```

## References
- CWE-127: Buffer Under-read
- CWE-124: Buffer Underwrite ('Buffer Underflow')
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule

_LENGTHS = frozenset({"strlen", "wcslen"})
_LAST = re.compile(
    r"(?:&?\s?(?P<base>[A-Za-z_]\w*)\s?(?:\+|\[)\s?)?\(?\s?(?:strlen|wcslen)\s?"
    r"\(\s?(?P<text>[A-Za-z_]\w*)\s?\)\s?-\s?1\s?[\])]?"
)
"""The place of the last character: `s + strlen(s) - 1`, `&s[strlen(s) - 1]`, `strlen(s) - 1`."""
_MAX_TEXT = 2000
_MOST = 100
"""Loops of a function that are examined."""


@rule(
    query=functions(calling=_LENGTHS),
    category="buffer_overflow",
    cwe=(127, 124),
    confidence=0.6,
    suggestion="Compare '{position}' with the start of the text first.",
)
def backward_scan_without_start(function: Function) -> Iterator[Report]:
    if not any(operator_of(node) == "--" for node in function.nodes("update")):
        return
    for loop in function.nodes("loop")[:_MOST]:
        condition = field(loop, "condition")
        step = _step_back(function, loop)
        if condition is None or step is None or len(text(loop)) > _MAX_TEXT:
            continue
        start = _scan_pointer(function, step, loop)
        if not start or not _only_looks(condition, step, start):
            continue
        if _is_mentioned_otherwise(loop, condition, step, start) or _skips_front(
            function, start, loop
        ):
            continue
        yield Report(
            condition,
            "'{position}' may go back beyond the start of '{text}'.",
            pattern="backward-scan",
            position=step,
            text=start,
        )


def _step_back(function: Function, loop: Node) -> str:
    """Return the variable that a loop decrements; empty when that is not exactly one."""
    names = {
        text(field(node, "argument"))
        for node in function.nodes("update")
        if loop.start_byte <= node.start_byte < loop.end_byte
    }
    name = names.pop() if len(names) == 1 else ""
    return name if name.isidentifier() else ""


def _scan_pointer(function: Function, position: str, loop: Node) -> str:
    """Return the text at whose last character a variable stands when the loop begins."""
    variable = function.variable(position, loop.start_byte)
    if variable is None:
        return ""
    values = [
        right
        for node in function.nodes("assign")
        if node.start_byte < loop.end_byte
        and text(field(node, "left")) == position
        and (right := field(node, "right")) is not None
    ]
    if variable.initial is not None and not variable.is_parameter:
        values.insert(0, variable.initial)
    match = _LAST.fullmatch(text(bare(values[-1]))[:_MAX_TEXT]) if len(values) == 1 else None
    if match is None or match["base"] not in (None, match["text"]):
        return ""
    is_index = match["base"] is None
    return match["text"] if is_index is not variable.is_pointer else ""


def _only_looks(condition: Node, position: str, start: str) -> bool:
    """Return whether a condition continues on what the character at the position is."""
    written = text(condition)
    looks = rf"\*\s?{position}\b|\b{start}\s?\[\s?{position}\s?\]|\*\s?--\s?{position}\b"
    return re.search(looks, written) is not None and "!=" not in written


def _is_mentioned_otherwise(loop: Node, condition: Node, position: str, start: str) -> bool:
    """Return whether a loop does more with a position than to look at its character and step."""
    head, whole = text(condition), text(loop)
    rest = whole.replace(head, "", 1)
    for looks in (rf"\*\s?{position}\b", rf"\b{start}\s?\[\s?{position}\s?\]"):
        head = re.sub(looks + r"\s?-{0,2}", "", head)
        rest = re.sub(looks, "", rest)
    rest = re.sub(rf"--\s?{position}\b|\b{position}\s?--", "", rest)
    word = rf"\b{position}\b"
    return re.search(word, head) is not None or re.search(word, rest.replace("--", "")) is not None


def _skips_front(function: Function, start: str, loop: Node) -> bool:
    """Return whether the function passes the same kind of characters at the front before, or looks
    at the first one."""
    begin = function.start if function.body is None else function.body.start_byte
    before = function.unit.source.data[begin : loop.start_byte].decode("utf-8", "replace")
    looks = rf"\b{start}\s?\+\+|\+\+\s?{start}\b|(?<!\w\s)\*\s?{start}\b|\b{start}\s?\[\s?0"
    return re.search(looks, before) is not None

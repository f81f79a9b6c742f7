"""Iterator invalidation: container modified during iteration.

## What it does
Reports `erase`, `insert`, `push_back`, `clear` and similar calls on the container of a range-based
`for`, and `erase(it)` in an iterator loop that then advances the erased iterator, unless the loop
is left right after.

## Why is this bad?
The modification invalidates the iterator of the loop, which then reads freed memory, skips
elements, or runs past the end.

## Example
```cpp
for (auto it = items.begin(); it != items.end(); ++it)
    if (it->expired())
        items.erase(it);
```

Use instead:
```cpp
for (auto it = items.begin(); it != items.end();)
    it = it->expired() ? items.erase(it) : std::next(it);
```

## References
- CWE-416: Use After Free
- CWE-672: Operation on a Resource after Expiration or Release
- SEI CERT C++ CTR51-CPP: Use valid references, pointers, and iterators to reference elements of a
  container
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import ancestors, bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, methods, rule

_GROWING = frozenset({"push_back", "emplace_back", "insert", "emplace", "push_front", "resize"})
_NODE_BASED = re.compile(r"(?:std::)?(?:list|forward_list|map|set|multimap|multiset)\b")
_LEAVING = frozenset({"break_statement", "return_statement", "throw_statement", "goto_statement"})


@rule(
    query=methods("erase", "clear", "pop_back", *_GROWING),
    category="memory_mgmt",
    cwe=(416, 672),
    confidence=0.85,
    only="cpp",
    suggestion=(
        "Continue with the iterator that erase() returns, or modify the container after the loop."
    ),
)
def container_changed_while_iterated(call: Call) -> Iterator[Report]:
    if call.receiver is None or call.function is None:
        return
    container = text(call.receiver)
    for outer in ancestors(call.node, call.function.node):
        if outer.type == "lambda_expression":
            return
        changed = (
            _ranges_over(outer, container, call)
            if outer.type == "for_range_loop"
            else _iterates(outer, container, call)
            if outer.type == "for_statement"
            else False
        )
        if changed:
            if not _left_after(call, outer):
                yield Report(
                    call.node,
                    "{method}() on '{container}' invalidates the iterator of the loop.",
                    pattern=call.name,
                    container=container,
                    method=call.name,
                    causes=[(_head(outer), "Iteration starts here.")],
                )
            return


def _ranges_over(loop: Node, container: str, call: Call) -> bool:
    over = field(loop, "right")
    if over is None or text(bare(over)) != container:
        return False
    return not (call.name in _GROWING and _is_node_based(call))


def _iterates(loop: Node, container: str, call: Call) -> bool:
    """Return whether a `for` advances an iterator of the container in its head."""
    update, start = field(loop, "update"), field(loop, "initializer")
    if update is None or start is None or update.type != "update_expression":
        return False
    iterator = text(field(update, "argument"))
    begins = text(start).replace(" ", "")
    named = re.escape(container.replace(" ", ""))
    if not re.search(rf"(?<![\w.>:]){named}(?:\.|->)c?begin\(\)|\bc?begin\({named}\)", begins):
        return False
    if iterator not in re.findall(r"\w+", text(start)) or text(call.target) == iterator:
        return False
    if call.name == "erase":
        argument = call.arg(0)
        return argument is not None and text(argument) == iterator
    return not _is_node_based(call)


def _is_node_based(call: Call) -> bool:
    assert call.receiver is not None and call.function is not None
    variable = call.function.variable(text(call.receiver), call.receiver.start_byte)
    return variable is not None and _NODE_BASED.match(variable.type[:200]) is not None


def _left_after(call: Call, loop: Node) -> bool:
    """Return whether the loop is always left after the change."""
    node: Node | None = call.node
    for _ in range(12):
        if node is None or node == loop:
            return False
        if node.type == "return_statement":
            return True
        following = node.next_named_sibling
        for _ in range(6):
            if following is None:
                break
            if following.type in _LEAVING:
                return True
            following = following.next_named_sibling
        node = node.parent
        if node is not None and node.type in ("for_statement", "while_statement", "do_statement"):
            return False
    return False


def _head(loop: Node) -> tuple[int, int]:
    body = field(loop, "body")
    return loop.start_byte, body.start_byte if body is not None else loop.end_byte

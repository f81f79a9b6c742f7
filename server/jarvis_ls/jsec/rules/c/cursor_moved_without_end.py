"""Callee moves a position without knowing where the data ends.

## What it does
Finds `end - p` and `length - (p - start)` used as the size of what is left, where a function moved
`p` through its address, got neither the end nor the length, and nothing compares them afterwards.

## Why is this bad?
The function stops where its own limit is. When it moves beyond this end, the difference is
negative, and as a size it is huge.

## Example
```c
if (!skip_name(packet, &p))
    return -1;
use(p, end - p);
```

Use instead:
```c
if (!skip_name(packet, &p) || p > end)
    return -1;
use(p, end - p);
```

## References
- CWE-191: Integer Underflow (Wrap or Wraparound)
- CWE-125: Out-of-bounds Read
- CWE-787: Out-of-bounds Write
- SEI CERT C INT30-C: Ensure that unsigned integer operations do not wrap
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, bare, field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.flow.library.c_functions import TABLE
from jarvis_ls.jsec.local.c.differences import Sum, is_not_negative, sum_of
from jarvis_ls.jsec.local.c.lengths import is_length, words_of
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.guards import enclosing_loop

_WORD = re.compile(r"[A-Za-z_]\w*")


def _subtracts_position(node: Node) -> bool:
    """Return whether a name, or a difference, is taken from a name."""
    left, right = field(node, "left"), field(node, "right")
    if left is None or right is None or left.type not in ("identifier", "field_expression"):
        return False
    return right.type in ("identifier", "parenthesized_expression")


@rule(
    query=nodes("(binary_expression) @site", operators=("-",), when=_subtracts_position),
    category="integer_overflow",
    cwe=(191, 125, 787),
    confidence=0.3,
    severity="medium",
    suggestion="Check after the call that '{cursor}' is not beyond the end.",
)
def cursor_moved_without_end(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None:
        return
    amount = sum_of(site.node, function)
    if amount is None or amount.constant:
        return
    for cursor in amount.names(-1):
        variable = function.variable(cursor, site.node.start_byte)
        if variable is None or not variable.is_pointer:
            continue
        call = _moved_by(function, cursor, amount, site.node)
        if call is None or not _is_rest(site.node, cursor) or _is_tested(site.node):
            continue
        places = [site.node.start_byte]
        if call.node.start_byte > site.node.start_byte:
            places.append(_end_of_step(call, function))
        if not any(is_not_negative(function, amount, place) for place in places):
            yield Report(
                site.node,
                "'{call}' moves '{cursor}' and knows no limit of '{rest}', which may be negative.",
                pattern=call.name,
                call=call.written,
                cursor=cursor,
                rest=text(site.node),
            )
            return


def _moved_by(function: Function, cursor: str, amount: Sum, at: Node) -> Call | None:
    """Return a call of a function of the project that moved a cursor, if it was given nothing that
    the end is worked out from, and the end was not looked for behind it."""
    names = [name for name in (*amount.names(1), *amount.names(-1)) if name != cursor]
    ends = {word for name in names for word in _WORD.findall(name)[:1]}
    looked_for = 0
    for name in amount.names(1):
        for write in (reaching(function, name, at.start_byte) or ()) if name.isidentifier() else ():
            ends |= words_of(write.value) | words_of(write.node)
            looked_for = max(looked_for, write.at)
    for call in _movers(function, cursor, at, looked_for):
        if call.name in TABLE or call.is_method or _gets_structure(call, cursor):
            continue
        given = {word for argument in call.arguments for word in words_of(argument)}
        if not (given & ends) - {cursor}:
            return call
    return None


def _movers(function: Function, cursor: str, at: Node, since: int) -> Iterator[Call]:
    """Yield the calls behind a byte that may have moved a cursor last, those further down in the
    loop as well."""
    for write in reaching(function, cursor, at.start_byte) or ():
        if write.call is not None and since <= write.at <= at.start_byte:
            yield write.call
    loop = enclosing_loop(at, function)
    if loop is None or loop.start_byte <= since:
        return
    for call in function.calls:
        if at.end_byte < call.node.start_byte < loop.end_byte and any(
            text(argument).replace(" ", "") == f"&{cursor}" for argument in call.arguments
        ):
            yield call


def _is_tested(node: Node) -> bool:
    """Return whether the variable that gets a difference is compared there: `(n = end - p) < 0`."""
    given = use_of(node)
    compared = use_of(given) if given is not None else None
    return (
        given is not None
        and given.type == "assignment_expression"
        and compared is not None
        and compared.type == "binary_expression"
    )


def _end_of_step(call: Call, function: Function) -> int:
    """Return the end of the block that a call is in, where what was tested behind it holds."""
    for above in ancestors(call.node, function.node):
        if above.type == "compound_statement":
            return above.end_byte - 1
    return call.node.end_byte


def _gets_structure(call: Call, cursor: str) -> bool:
    """Return whether a call gets the address of another variable, which may hold the end."""
    return any(
        operator_of(bare(argument)) == "&" and cursor not in words_of(argument)
        for argument in call.arguments
    )


def _is_rest(node: Node, cursor: str) -> bool:
    """Return whether a difference is the value of a length, or an argument beside the cursor."""
    user = use_of(node)
    if user is None:
        return False
    if user.type == "init_declarator":
        return is_length(field(user, "declarator"))
    if user.type == "assignment_expression":
        return is_length(field(user, "left"))
    if user.type != "argument_list":
        return False
    inner = next((each for each in (node, *ancestors(node)) if each.parent == user), node)
    return any(
        cursor in words_of(argument) for argument in user.named_children if argument != inner
    )

"""Untrusted pointer dereference.

## What it does
Finds records that `fread`, `recv`, `read` and the like fill byte by byte, and reports where a
pointer member is then dereferenced before the program has assigned it.

## Why is this bad?
An address from another process is meaningless here, and the sender of the bytes controls it. A
write through it is a write-what-where condition: an attacker can change any writable memory.

## Example
```c
struct node { struct node *next; int value; } node;
recv(peer, &node, sizeof node, 0);
node.next->value = node.value;
```

Use instead:
```c
struct { uint32_t next; int32_t value; } sent;
recv(peer, &sent, sizeof sent, 0);
if (sent.next < count)
    nodes[sent.next].value = sent.value;
```

## References
- CWE-123: Write-what-where Condition
- CWE-822: Untrusted Pointer Dereference
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.inputs import FILLERS
from jarvis_ls.jsec.local.c.statement_effects import identifiers_named

_WITHIN = 0.45
"""Confidence where the bytes may come from another thread, as through a pipe."""


@rule(
    query=calls("fgets", "fread", "pread", "read", "recv", "recvfrom"),
    category="input_validation",
    cwe=(822, 123),
    confidence=0.75,
    suggestion="Read an index and look the address up in a table of the program.",
)
def pointer_from_input(call: Call) -> Iterator[Report]:
    record = _record_of(call.arg(FILLERS[call.name][0]))
    if record is None or call.function is None:
        return
    settled: set[str] = set()
    for use in identifiers_named(call.function, text(record), start=call.node.end_byte):
        member = use.parent
        if member is None or member.type != "field_expression" or text(member) in settled:
            continue
        access = _access(member)
        if access is None:
            if member.parent is not None and field(member.parent, "left") == member:
                settled.add(text(member))
        elif _is_pointer(call, text(field(member, "field"))):
            settled.add(text(member))
            yield Report(
                member,
                "Pointer '{pointer}' read by {call}() is dereferenced: the address is "
                "attacker-controlled.",
                cwe=(123, 822) if _is_written(access) else (822,),
                confidence=_WITHIN if call.name in ("read", "pread") else 0.75,
                pattern=call.name,
                pointer=text(member),
                call=call.name,
                causes=[(call.node, "Filled with untrusted input here.")],
            )


def _record_of(argument: Node | None) -> Node | None:
    """Return the record in `&record`, whatever type that is cast to."""
    place = bare(argument) if argument is not None else None
    while place is not None and place.type == "cast_expression":
        inner = field(place, "value")
        place = bare(inner) if inner is not None else None
    if place is None or place.type != "pointer_expression":
        return None
    record = field(place, "argument")
    is_address = operator_of(place) == "&"
    return record if is_address and record is not None and record.type == "identifier" else None


def _access(member: Node) -> Node | None:
    """Return the expression that dereferences a member; None when there is none."""
    outer = member.parent
    if outer is None:
        return None
    if outer.type == "field_expression" and operator_of(outer) == "->":
        return outer
    if outer.type == "subscript_expression" and field(outer, "argument") == member:
        return outer
    if outer.type == "pointer_expression" and operator_of(outer) == "*":
        return outer
    return None


def _is_pointer(call: Call, name: str) -> bool:
    known = call.unit.facts.fields.get(name, ())
    return bool(known) and all(declared.pointers > 0 for declared in known)


def _is_written(access: Node) -> bool:
    outer = access.parent
    while outer is not None and outer.type in ("field_expression", "subscript_expression"):
        access, outer = outer, outer.parent
    return outer is not None and field(outer, "left") == access

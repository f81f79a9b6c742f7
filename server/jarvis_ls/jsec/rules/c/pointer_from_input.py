"""A pointer comes from outside and is used as it is.

## What it does
Finds records that `fread`, `recv`, `read` and their kin fill byte by byte, and reports where a
pointer among their members is then dereferenced, before the program gave it a value of its own.

## Why is this bad?
An address of another process means nothing here. Whoever sends the bytes chooses it, and with a
write through it what is written where: a way to change anything the program may write to.

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

from jarvis_ls.codeintel.code import Call, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.inputs import FILLERS
from jarvis_ls.jsec.c.mentions import named
from jarvis_ls.jsec.rule import Report, calls, rule

_WITHIN = 0.45
"""Confidence where threads of one program often hand each other addresses."""


@rule(
    query=calls("fgets", "fread", "pread", "read", "recv", "recvfrom"),
    category="input_validation",
    cwe=(822, 123),
    confidence=0.75,
    suggestion="Read a number and look the address up in a table of your own.",
)
def pointer_from_input(call: Call) -> Iterator[Report]:
    record = _filled(call.arg(FILLERS[call.name][0]))
    if record is None or call.function is None:
        return
    settled: set[str] = set()
    for use in named(call.function, text(record), start=call.node.end_byte):
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
                "'{pointer}' came in through {call}(): whoever sent it chose the address.",
                cwe=(123, 822) if _is_written(access) else (822,),
                confidence=_WITHIN if call.name in ("read", "pread") else 0.75,
                pattern=call.name,
                pointer=text(member),
                call=call.name,
                causes=[(call.node, "The record is filled here.")],
            )


def _filled(argument: Node | None) -> Node | None:
    """The record in `&record`, whatever type that is cast to."""
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
    """What stands for the memory that a member points to, where it is used so."""
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
    return bool(known) and all(one.pointers > 0 for one in known)


def _is_written(access: Node) -> bool:
    outer = access.parent
    while outer is not None and outer.type in ("field_expression", "subscript_expression"):
        access, outer = outer, outer.parent
    return outer is not None and field(outer, "left") == access

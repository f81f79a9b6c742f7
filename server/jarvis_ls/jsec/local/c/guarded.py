"""Where a function holds locks, and what it does to shared variables there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.c.locks import PAIRS, RELEASES, lock_of
from jarvis_ls.jsec.local.guards import NULLS

LOCK_WORDS = frozenset({"lock_guard", "unique_lock", "scoped_lock", "QMutexLocker", *PAIRS})
"""Words one of which a function has that takes a lock; the types of guards come first."""

_start = attrgetter("start_byte")
LOCK_TEXTS = ("_lock", "lock_", "lock(", "Lock", "Section", "mutex_enter")
"""What the text of a function that takes a lock has one of."""
_GUARD = re.compile(r"^(?:std::)?(?:lock_guard|unique_lock|scoped_lock|QMutexLocker)\b")
_ATOMIC = re.compile(r"(?i)atomic|thread_local|__thread|once_flag|\bconst\b|mutex|volatile")
_SMART = re.compile(r"\b(?:std::)?(?:shared_ptr|unique_ptr|weak_ptr)\b")
_MOST = 16
"""Locks, and uses of one variable, that are examined in a function."""
_MOST_MEMBERS = 200


@dataclass(frozen=True, slots=True)
class Held:
    """A range of a function in which it holds a lock."""

    start: int
    """First byte behind what takes the lock."""
    end: int
    """Where it is given back: by a call, or at the end of the block of its guard."""
    node: Node
    """What takes it."""


def takes_locks(function: Function) -> bool:
    """Return whether a function may take a lock, by a look at its words."""
    return function.mentions(LOCK_WORDS)


@once_per_function
def held_ranges(function: Function) -> list[Held]:
    """Return where the function holds a lock that it takes itself, in order."""
    found = list(_of_guards(function)) if function.unit.language == "cpp" else []
    calls = function.calls
    for at, call in enumerate(calls):
        if len(found) >= _MOST:
            break
        lock = lock_of(call) if call.name in PAIRS else ""
        if not lock:
            continue
        release = next(
            (
                later.node
                for later in calls[at + 1 :]
                if later.name in RELEASES
                and lock_of(later) == lock
                and _is_around(later.node, call.node)
            ),
            None,
        )
        end = function.end if release is None else release.start_byte
        found.append(Held(call.node.end_byte, end, call.node))
    return sorted(found, key=lambda held: held.start)[:_MOST]


def is_held(function: Function, at: int) -> bool:
    """Return whether the function holds a lock of its own at a byte."""
    return any(held.start <= at < held.end for held in held_ranges(function))


def writes_of_shared(function: Function, held: Held) -> dict[str, Node]:
    """Return the shared variables and members of the own class that are given a value while a lock
    is held: name to the first place."""
    found: dict[str, Node] = {}
    for node in function.nodes("assign"):
        if held.start <= node.start_byte < held.end and operator_of(node) == "=":
            target = field(node, "left")
            name = own_name(target)
            if target is not None and name and name not in found and shared_type(function, target):
                found[name] = node
    return found


def own_name(node: Node | None) -> str:
    """Return the name of a plain variable or of a member of `this`; empty for anything else."""
    if node is None:
        return ""
    node = bare(node)
    if node.type == "identifier":
        return text(node)
    if node.type == "field_expression" and text(field(node, "argument")) == "this":
        return text(field(node, "field"))
    return ""


def shared_type(function: Function, node: Node) -> str:
    """Return the type of a variable of file scope or a member of the own class that threads may
    share, with `*` behind it for a pointer; empty for locals, atomic variables and what is not
    declared."""
    name = own_name(node)
    if not name or function.variable(name, node.start_byte) is not None:
        return ""
    facts = function.unit.facts
    members = facts.fields.get(name, ()) if function.unit.language == "cpp" else ()
    known = facts.variables.get(name) or (members[0] if len(members) == 1 else None)
    if known is None:
        declared = _declared_around(function, name)
    else:
        declared = "" if known.arrays else known.type + "*" * known.pointers
    return "" if _ATOMIC.search(declared) else declared


def _declared_around(function: Function, name: str) -> str:
    """Return the same type from the class around a method, such as a template."""
    body = next((a for a in ancestors(function.node) if a.type == "field_declaration_list"), None)
    for member in body.named_children[:_MOST_MEMBERS] if body is not None else ():
        declarator = field(member, "declarator") if member.type == "field_declaration" else None
        if declarator is not None and text(declarator).lstrip("* ") == name:
            return text(member).partition(name)[0].strip().replace(" *", "*")
    return ""


def is_pointer(type_: str) -> bool:
    """Return whether the type that `shared_type` gives is a pointer, raw or smart."""
    return type_.endswith("*") or _SMART.search(type_) is not None


def uses_of(function: Function, name: str, start: int, end: int) -> Iterator[Node]:
    """Yield the places between two bytes that name a shared variable or a member of `this`, with
    `this->` in front of it."""
    for node in function.uses(name, start, end)[:_MOST]:
        if function.variable(name, node.start_byte) is None:
            yield node
    members = function.nodes("member")
    first = bisect_left(members, start, key=_start)
    for node in members[first : bisect_left(members, end, lo=first, key=_start)]:
        if own_name(node) == name:
            yield node


def is_tested(use: Node) -> bool:
    """Return whether a condition asks whether a variable is null, or set."""
    parent = use.parent
    while parent is not None and parent.type == "parenthesized_expression":
        use, parent = parent, parent.parent
    if parent is None:
        return False
    if parent.type == "unary_expression":
        return operator_of(parent) == "!"
    if parent.type == "condition_clause":
        return True
    if parent.type == "binary_expression":
        if operator_of(parent) in ("&&", "||"):
            return True
        sides = {text(field(parent, "left")), text(field(parent, "right"))}
        return operator_of(parent) in ("==", "!=") and not NULLS.isdisjoint(sides)
    return use.type == "parenthesized_expression" and parent.type in (
        "if_statement",
        "while_statement",
    )


def is_dereferenced(use: Node) -> bool:
    """Return whether a pointer is followed at a place."""
    parent = use.parent
    if parent is None:
        return False
    if parent.type == "field_expression":
        return operator_of(parent) == "->" and field(parent, "argument") == use
    if parent.type == "subscript_expression":
        return field(parent, "argument") == use
    return parent.type == "pointer_expression" and operator_of(parent) == "*"


def _of_guards(function: Function) -> Iterator[Held]:
    """Yield the ranges in which objects hold a lock until their block ends."""
    for node in function.nodes("decl"):
        if not _GUARD.match(text(field(node, "type"))[:80]):
            continue
        block = next((a for a in ancestors(node) if a.type == "compound_statement"), None)
        declarator = field(node, "declarator")
        name = text(field(declarator, "declarator") or declarator)
        released = next(
            (
                call.node.start_byte
                for call in function.calls
                if call.name == "unlock"
                and text(call.receiver) == name
                and call.node.start_byte > node.end_byte
                and _is_around(call.node, node)
            ),
            function.end,
        )
        end = function.end if block is None else block.end_byte
        yield Held(node.end_byte, min(end, released), node)


def _is_around(release: Node, taking: Node) -> bool:
    """Return whether the block of a release is that of what takes the lock, or around it: others
    belong to a branch that leaves."""
    block = next((a for a in ancestors(release) if a.type == "compound_statement"), None)
    return block is not None and block.start_byte <= taking.start_byte < block.end_byte

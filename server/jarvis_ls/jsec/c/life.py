"""The states one variable goes through, and the faults that show on the way.

A pointer is unset, null, perhaps null, alive, released, moved, or nothing is known of it; each
event of `happenings.py` changes that, and some must not happen in some states.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from jarvis_ls.codeintel.code import Function, Unit, Variable, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.allocation import ACQUIRES, RELEASES, Family
from jarvis_ls.jsec.c.control import Region
from jarvis_ls.jsec.c.happenings import may_fail
from jarvis_ls.jsec.c.paths import Event, Exhausted, Walker

UNSET, NULL, TESTED_NULL, MAYBE, LIVE, FREED, OTHER, STACK, MOVED, USED, KNOWN = (
    1 << bit for bit in range(11)
)
_EMPTY = NULL | TESTED_NULL
SCALARS = frozenset({
    "char", "short", "int", "long", "unsigned", "signed", "float", "double", "bool", "_Bool",
    "size_t", "ssize_t", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t",
    "int64_t", "uint64_t", "const", "time_t", "off_t", "wchar_t",
})  # fmt: skip


_MACRO_WORDS = "words in macros"
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong."""

    kind: str
    """`use-after-release`, `double-release`, `null`, `null-later`, `unchecked`, `unset`,
    `maybe-unset`, `not-heap`, `not-start`, `leak`, `lost`, `mismatch`, `returned-local`."""
    node: Node
    """Where."""
    name: str
    """The variable."""
    certain: bool
    """Whether it is so on every way that leads here."""
    origin: Node | None = None
    """Where it was released, acquired, tested or declared."""
    detail: str = ""
    """The function that acquired or released it, or what the event says."""
    how: str = ""
    """What is done to it there."""
    family: str = ""
    """Resource in question."""
    is_pointer: bool = True
    """Whether the variable is one."""


class Life(Walker):
    """Follows one variable and notes its faults."""

    optimistic = UNSET | NULL
    doubtful = TESTED_NULL

    def __init__(
        self,
        name: str,
        events: list[Event],
        size: int,
        function: Function,
        variable: Variable | None,
    ) -> None:
        super().__init__(name, events, size)
        self._function = function
        self._variable = variable
        self._pointer = variable is None or variable.pointers > 0 or variable.arrays != () or (
            not is_number(variable) and any(e.kind == "dereference" for e in events)
        )  # fmt: skip
        self._acquired = [e for e in events if e.kind == "set" and e.extra.startswith("acquired")]
        self._found: dict[tuple[str, int], Fault] = {}
        self._untested: Event | None = None

    def walk(self, region: Region, mask: int, end: Node | None) -> Iterator[Fault]:
        """Follow the variable through a region; its faults in order of discovery."""
        try:
            self.run(region, mask, end)
        except Exhausted:
            return
        yield from self._found.values()

    def step(self, mask: int, event: Event) -> int:
        """The states after an event; faults are noted on the way."""
        handler = getattr(self, f"_{event.kind}", None)
        return mask if handler is None else handler(mask, event)

    def narrow(self, mask: int, valid: bool, at: int) -> int:
        """The states left when a condition at a byte found the variable valid or not."""
        if valid:
            left = mask & ~_EMPTY
            if left & MAYBE:
                left = left & ~MAYBE | LIVE
            return left & ~OTHER | KNOWN if left & OTHER else left
        late = self._pointer and mask == USED
        if late and not self.asserting and not self.repeating:
            used = self._last("dereference", at)
            if used is not None:
                self._note("null-later", used.node, True, self._use_at(at))
        untested = self._untested
        if untested is not None and mask == LIVE and not self.asserting and not self.repeating:
            origin = self._last("set", at)
            if origin is not None and origin.at < untested.at < at:
                self._note("null-later", untested.node, True, self._use_at(at))
        left = mask & (_EMPTY | UNSET)
        if mask & (OTHER | MAYBE):
            left |= TESTED_NULL
        return left | (OTHER if mask & USED else 0)

    def doubt(self, mask: int) -> int:
        """A null that another part of the condition may exclude is not held against it."""
        return mask & ~TESTED_NULL | OTHER

    def leave(self, mask: int, node: Node, how: str) -> None:
        """What is still owned here is leaked."""
        held = mask & (LIVE | MAYBE)
        if not held or self._variable is None or self._variable.is_parameter:
            return
        origin = self._last("set", node.end_byte)
        if origin is None or not _owned(origin.extra) or self._function.name == "main":
            return
        self._note("leak", node, mask == held, origin.node, origin.extra.partition(" ")[2], how)

    def _declared(self, _mask: int, _event: Event) -> int:
        variable = self._variable
        if variable is None or not needs_value(variable):
            return OTHER
        return OTHER if self.name in _macro_words(self._function.unit) else UNSET

    def _set(self, mask: int, event: Event) -> int:
        held = mask & (LIVE | MAYBE)
        lost = held and mask == held and event.extra != "moved" and self._variable is not None
        if lost and event.node.type != "identifier":
            origin = self._last("set", event.at)
            if origin is not None and _owned(origin.extra):
                self._note("lost", event.node, True, origin.node, origin.extra.partition(" ")[2])
        value = event.extra
        if value == "null":
            return NULL
        if value.startswith("acquired"):
            return MAYBE if may_fail(value) else LIVE
        if value.startswith("stack"):
            return STACK
        if value == "moved":
            return self._move(mask, event)
        return OTHER

    def _move(self, mask: int, _event: Event) -> int:
        return MOVED if mask and not mask & ~(LIVE | MAYBE | MOVED | USED) and (
            mask & (LIVE | MAYBE | MOVED) and self._acquired
        ) else OTHER  # fmt: skip

    def _free(self, mask: int, event: Event) -> int:
        if mask & FREED:
            freed = self._last("free", event.at) or self._last("free", event.at, later=True)
            self._note("double-release", event.node, mask & ~_EMPTY == FREED,
                       freed.node if freed else None, event.extra)  # fmt: skip
        if mask & STACK and not self._told_apart:
            origin = self._last("set", event.at)
            what = origin.extra.partition(" ")[2] if origin else ""
            self._note("not-heap", event.node, mask == STACK, origin.node if origin else None, what)
        if mask & MOVED:
            moved = self._last("move", event.at) or self._last("set", event.at)
            self._note(
                "not-start", event.node, mask == MOVED, moved.node if moved else None, event.extra
            )
        if mask & UNSET:
            self._unset(mask, event)
        if mask & (LIVE | MAYBE | OTHER | USED | KNOWN):
            self._check_family(event)
        return FREED | mask & _EMPTY if mask & ~_EMPTY else mask

    def _check_family(self, event: Event) -> None:
        family = self._only_family
        if family is None or event.extra not in RELEASES or event.extra in family.release:
            return
        acquired = self._acquired[0]
        self._note("mismatch", event.node, True, acquired.node,
                   acquired.extra.split(" ")[1], event.extra)  # fmt: skip

    @functools.cached_property
    def _only_family(self) -> Family | None:
        """The one family all values of the variable come from."""
        families = {_family_of(e.extra.split(" ")[1]) for e in self._acquired}
        unknown = any(e.kind == "set" and e.extra == "unknown" for e in self.events)
        return families.pop() if len(families) == 1 and not unknown else None

    def _dereference(self, mask: int, event: Event) -> int:
        self._read(mask, event)
        if mask & _EMPTY:
            self._null(mask, event)
        if mask & MAYBE:
            origin = self._last("set", event.at)
            if origin is not None and origin.extra.startswith("acquired"):
                self._note("unchecked", event.node, mask == MAYBE, origin.node,
                           origin.extra.partition(" ")[2], event.extra)  # fmt: skip
                self._untested = event if mask == MAYBE else self._untested
        held = mask & (LIVE | MAYBE | MOVED | STACK)
        if held:
            return mask & ~(_EMPTY | MAYBE | UNSET | FREED) | (LIVE if mask & MAYBE else 0)
        if mask == KNOWN:
            return KNOWN
        return USED if mask and not mask & ~(OTHER | USED) else OTHER if mask else 0

    def _null(self, mask: int, event: Event) -> None:
        if not self._pointer:
            return
        certain = not mask & ~_EMPTY
        if not certain and not mask & TESTED_NULL:
            return
        self._note("null", event.node, certain, None, "", event.extra)

    def _read(self, mask: int, event: Event) -> int:
        if mask & FREED:
            freed = self._last("free", event.at) or self._last("free", event.at, later=True)
            if event.kind == "dereference" or "%p" not in text(event.node.parent):
                self._note("use-after-release", event.node, mask & ~_EMPTY == FREED,
                           freed.node if freed else None,
                           freed.extra if freed else "", event.extra or event.kind)  # fmt: skip
        if mask & UNSET:
            self._unset(mask, event)
        if mask & STACK and event.extra == "return":
            origin = self._last("set", event.at)
            what = origin.extra.partition(" ")[2] if origin else ""
            self._note("returned-local", event.node, mask == STACK,
                       origin.node if origin else None, what)  # fmt: skip
        left = mask & ~(FREED | UNSET)
        return left or (OTHER if mask else 0)

    def _handed(self, mask: int, event: Event) -> int:
        """Read by a call that may as well be a macro, which may set it."""
        left = self._read(mask & ~UNSET, event) if mask & ~UNSET else mask
        return OTHER if mask == UNSET else left

    def _member(self, mask: int, event: Event) -> int:
        self._read(mask & (FREED | UNSET), event)
        return mask

    def _test(self, mask: int, event: Event) -> int:
        if mask & UNSET:
            self._unset(mask, event)
            return (mask & ~UNSET) or OTHER
        return mask

    def _unset(self, mask: int, event: Event) -> None:
        if event.extra and self._function.unit.language == "cpp" and event.extra[0].isupper():
            return
        kind = "unset" if mask == UNSET else "maybe-unset"
        declared = self.events[0].node
        how = event.kind if event.kind == "dereference" else event.extra or event.kind
        self._note(kind, event.node, mask == UNSET, declared, "", how)

    def _alias(self, mask: int, _event: Event) -> int:
        held = mask & (LIVE | MAYBE | MOVED)
        return mask & ~held | OTHER if held else mask

    def _pass(self, mask: int, _event: Event) -> int:
        left = mask & ~LIVE | OTHER if mask & LIVE else mask
        if left & MAYBE:
            left = left & ~MAYBE | OTHER
        return left if not left & USED else left & ~USED | OTHER

    def _checked(self, mask: int, _event: Event) -> int:
        return OTHER if mask else 0

    _shared = _checked
    _address = _checked

    @functools.cached_property
    def _told_apart(self) -> bool:
        """Whether a condition compares the variable with one of the things it may point to."""
        things = {e.extra.rpartition(" ")[2] for e in self.events if e.extra.startswith("stack ")}
        return any(
            self.name in written and any(thing in written for thing in things)
            for written in map(text, self._function.conditions)
        )

    @functools.cached_property
    def _by_kind(self) -> dict[str, list[Event]]:
        kinds: dict[str, list[Event]] = {}
        for event in self.events:
            kinds.setdefault(event.kind, []).append(event)
        return kinds

    def _last(self, kind: str, at: int, *, later: bool = False) -> Event | None:
        """The last event of a kind before a byte (the last of all when `later`)."""
        found = self._by_kind.get(kind, [])
        index = len(found) if later else bisect_left(found, at, key=lambda e: e.at)
        return found[index - 1] if index else None

    def _use_at(self, at: int) -> Node | None:
        index = bisect_left(self.events, at, key=lambda e: e.at)
        return self.events[index].node if index < len(self.events) else None

    def _note(self, kind: str, node: Node, certain: bool, origin: Node | None = None,
              detail: str = "", how: str = "") -> None:  # fmt: skip
        key = (kind, node.start_byte)
        before = self._found.get(key)
        if before is not None and before.certain >= certain:
            return
        family = ACQUIRES.get(detail.split(" ")[0]) or RELEASES.get(detail)
        self._found[key] = Fault(
            kind, node, self.name, certain, origin, detail, how,
            family.resource if family else "memory", self._pointer,
        )  # fmt: skip


def _owned(value: str) -> bool:
    """Whether what an event stores must be released by whoever holds it."""
    words = value.split(" ")
    return words[0] == "acquired" and words[1] in ACQUIRES


def _family_of(function_name: str) -> Family | None:
    return ACQUIRES.get(function_name)


def needs_value(variable: Variable) -> bool:
    """Whether a variable without initialiser holds garbage: pointers and plain numbers."""
    if variable.arrays or not (variable.pointers or is_number(variable)):
        return False
    node: Node | None = variable.node.parent
    for _ in range(8):
        if node is None or node.type == "function_declarator":
            return False
        if node.type == "declaration":
            return text(node.children[0]) != "extern" and field(node, "value") is None
        node = node.parent
    return False


def is_number(variable: Variable) -> bool:
    """Whether a variable is declared as a plain number."""
    return not variable.pointers and bool(variable.type) and all(
        word in SCALARS for word in variable.type.split()
    )  # fmt: skip


def _macro_words(unit: Unit) -> frozenset[str]:
    """Words in the bodies of the file's macros: such a macro may set a variable unseen."""
    known: frozenset[str] | None = unit.__dict__.get(_MACRO_WORDS)
    if known is None:
        known = unit.__dict__[_MACRO_WORDS] = _collect_macro_words(unit)
    return known


def _collect_macro_words(unit: Unit) -> frozenset[str]:
    facts = unit.facts
    bodies = [macro.body for macro in facts.function_macros.values()]
    bodies += [body for body in facts.macros.values() if not body.isidentifier()]
    return frozenset(word for body in bodies for word in _WORD.findall(body))

"""What a function does with locks: which are taken twice, kept at the end, returned twice, and
which are taken while others are held. Every lock is followed through branches and loops."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntFlag

from jarvis_ls.codeintel.functions import Call, Function, Unit
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_file, once_per_function
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.local.c.control_flow import Condition, Region, control_of
from jarvis_ls.jsec.local.c.path_walker import Event, Exhausted, Walker
from jarvis_ls.jsec.local.constants import declaration
from jarvis_ls.jsec.local.guards import written_between


class LockState(IntFlag):
    """What may be true of a lock at a place of a function."""

    ENTRY = 1
    """As the caller left it."""
    HELD = 2
    RELEASED = 4
    UNKNOWN = 8


TAKES = ("lock", "try")
"""Kinds of events after which a lock may be held."""
MAX_LOCKS = 8
"""Locks followed in one function."""

MAX_TAKERS = 60
"""Functions of a file that take its locks."""
MAX_CALLS = 3
"""Calls through which a lock may be taken."""
MAX_FAULTS = 20
"""Faults told of one lock."""
MAX_QUESTIONS = 100
"""How often the result of taking a lock is looked for in conditions."""

PAIRS = {
    "pthread_mutex_lock": "pthread_mutex_unlock",
    "pthread_spin_lock": "pthread_spin_unlock",
    "pthread_rwlock_wrlock": "pthread_rwlock_unlock",
    "pthread_rwlock_rdlock": "pthread_rwlock_unlock",
    "mtx_lock": "mtx_unlock",
    "EnterCriticalSection": "LeaveCriticalSection",
    "AcquireSRWLockExclusive": "ReleaseSRWLockExclusive",
    "AcquireSRWLockShared": "ReleaseSRWLockShared",
    "g_mutex_lock": "g_mutex_unlock",
    "g_rec_mutex_lock": "g_rec_mutex_unlock",
    "spin_lock": "spin_unlock",
    "spin_lock_irq": "spin_unlock_irq",
    "spin_lock_bh": "spin_unlock_bh",
    "mutex_lock": "mutex_unlock",
    "sqlite3_mutex_enter": "sqlite3_mutex_leave",
    "uv_mutex_lock": "uv_mutex_unlock",
    "SDL_LockMutex": "SDL_UnlockMutex",
    "omp_set_lock": "omp_unset_lock",
    "lock": "unlock",
    "lock_shared": "unlock_shared",
}
"""Functions that take a lock (first argument, or receiver), with those that return it."""

TRIES = {
    "pthread_mutex_trylock": True,
    "pthread_mutex_timedlock": True,
    "pthread_spin_trylock": True,
    "pthread_rwlock_trywrlock": True,
    "pthread_rwlock_tryrdlock": True,
    "mtx_trylock": True,
    "mtx_timedlock": True,
    "TryEnterCriticalSection": False,
    "g_mutex_trylock": False,
    "spin_trylock": False,
    "mutex_trylock": False,
    "mutex_lock_interruptible": True,
    "try_lock": False,
    "uv_mutex_trylock": True,
}
"""Functions that may fail to take a lock, and whether 0 means that they did take it."""

INITS = frozenset(
    {
        "pthread_mutex_init",
        "mtx_init",
        "InitializeCriticalSection",
        "pthread_spin_init",
        "pthread_rwlock_init",
        "g_mutex_init",
    }
)
RELEASES = frozenset(PAIRS.values())
REENTRANT = frozenset(
    {
        "EnterCriticalSection",
        "sqlite3_mutex_enter",
        "g_rec_mutex_lock",
        "pthread_rwlock_rdlock",
        "AcquireSRWLockShared",
        "lock_shared",
    }
)
"""Functions that may take the same lock again."""

TAKING = (*PAIRS, *TRIES)
_TAKING = frozenset(TAKING)
_METHODS = frozenset({"lock", "unlock", "try_lock", "lock_shared", "unlock_shared"})
_RECURSIVE = (b"PTHREAD_MUTEX_RECURSIVE", b"mtx_recursive", b"RECURSIVE_MUTEX", b"init_recursive")

_CHOICES = frozenset(
    {
        "if_statement",
        "switch_statement",
        "conditional_expression",
        "preproc_if",
        "preproc_ifdef",
        "preproc_else",
        "preproc_elif",
    }
)


def may_be_recursive(unit: Unit) -> bool:
    """Return whether a file makes locks that anyone who holds them may take again."""
    return any(word in unit.source.data for word in _RECURSIVE)


@dataclass(frozen=True, slots=True)
class LockFault:
    """One thing that is wrong with a lock."""

    kind: str
    """`twice`, `kept`, `released-twice`."""
    lock: str
    """The lock as written."""
    node: Node
    """Where."""
    origin: Node | None
    """Where it was taken or returned before."""
    taken_by: str
    """The function that took it."""
    gives_back: bool
    """Whether the function gives the lock back somewhere."""
    partly: bool = False
    """Whether other ways that lead to the same place gave it back."""


@dataclass(frozen=True, slots=True)
class Nesting:
    """A lock is taken while another is held."""

    outer: str
    inner: str
    taken: Node
    """The call that takes the outer one."""
    node: Node
    """The call that takes the inner one, or that of the function which does."""
    within: Node | None = None
    """Where that function takes it."""


@dataclass(frozen=True, slots=True)
class Locks:
    """What is known of the locks of a function."""

    faults: tuple[LockFault, ...]
    nestings: tuple[Nesting, ...]


def lock_of(call: Call) -> str:
    """Return the lock a call takes or returns, as written without blanks; empty for other
    calls.
    """
    name = call.name
    if name not in PAIRS and name not in TRIES and name not in RELEASES and name not in INITS:
        return ""
    if name in _METHODS:
        if not call.is_method or call.arguments or not _is_mutex(call):
            return ""
        return text(call.receiver).replace(" ", "")
    return "" if call.is_method else text(call.arg(0)).replace(" ", "").lstrip("&")


@once_per_function
def takings(function: Function) -> int:
    """Return how many calls of a function take a lock, or try to.

    Rules that look at the whole file run with every keystroke: they walk only through
    functions with as many as a report of theirs needs.
    """
    if not function.mentions(_TAKING):
        return 0
    return sum(call.name in _TAKING for call in function.calls)


@once_per_function
def locks(function: Function) -> Locks:
    """Faults and nestings of all locks of a function."""
    return _walk_locks(function, {})


@once_per_file
def nestings(whole: WholeUnit) -> list[Nesting]:
    """Return which locks are taken while others are held, in order of place; functions of the file
    that are called with a lock held count too."""
    takers = _takers(whole)
    found: list[Nesting] = []
    for function in whole.mentioning(b"ock", b"Section"):
        count = takings(function)
        if not count:
            continue
        inner = {name: taken for name, taken in takers.items() if name != function.name}
        if any(call.name in inner for call in function.calls):
            found += _walk_locks(function, inner).nestings
        elif count > 1:
            found += locks(function).nestings
    return found


def _takers(whole: WholeUnit) -> dict[str, dict[str, Node]]:
    """Functions of the file that take locks of the file, themselves or by what they call: names
    of the locks and where they are taken."""
    found: dict[str, dict[str, Node]] = {}
    for function in whole.mentioning(b"ock", b"Section"):
        if not takings(function) or not function.name:  # torn: no one calls it
            continue
        taken = {lock_of(call): call.node for call in function.calls if call.name in PAIRS}
        known = {key: node for key, node in taken.items() if _is_of_file(function, key, node)}
        if known and len(found) < MAX_TAKERS:
            found[function.name] = known
    for _ in range(MAX_CALLS):
        names = tuple(name.encode() for name in found)
        more: dict[str, dict[str, Node]] = {}
        for function in whole.mentioning(*names) if names else ():
            if not function.name:
                continue
            called = {
                name: node
                for call in function.calls
                if call.name != function.name
                for name, node in found.get(call.name, {}).items()
            }
            if called.keys() - found.get(function.name, {}).keys():
                more[function.name] = {**called, **found.get(function.name, {})}
        if not more or len(found) > MAX_TAKERS:
            break
        found.update(more)
    return found


def _is_of_file(function: Function, key: str, node: Node) -> bool:
    """Return whether a lock is, or is part of, a variable of file scope."""
    name = re.match(r"[A-Za-z_]\w*", key)
    return (
        name is not None
        and name[0] in function.unit.facts.variables
        and function.variable(name[0], node.start_byte) is None
    )


def _walk_locks(function: Function, inner: Mapping[str, Mapping[str, Node]]) -> Locks:
    """Return the same, with what the functions `inner` take that are called."""
    root = control_of(function)
    events = _events(function, inner)
    taken = [
        key
        for key, kind in dict.fromkeys((k, e.kind) for k, e in events)
        if kind in ("lock", "try", "init") and key
    ]
    if root is None or not taken:
        return Locks((), ())
    faults: list[LockFault] = []
    nestings: list[Nesting] = []
    for key in dict.fromkeys(taken[:MAX_LOCKS]):
        walk = _LockWalk(function, key, events, _size(root))
        try:
            walk.run(root, LockState.ENTRY, _closing(function))
        except Exhausted:
            continue
        faults.extend(f for f in walk.faults.values() if f.kind != "kept" or not walk.entered_held)
        for nesting in walk.nestings.values():
            within = inner.get(nesting.inner)
            nestings += (
                [nesting]
                if within is None
                else [
                    replace(nesting, inner=lock, within=node)
                    for lock, node in within.items()
                    if lock != key
                ]
            )
    return Locks(tuple(faults), tuple(nestings))


def _events(function: Function, inner: Mapping[str, Mapping[str, Node]]) -> list[tuple[str, Event]]:
    found = []
    for call in function.calls:
        key = lock_of(call)
        if not key:
            if call.name in inner:
                event = Event(call.node.end_byte - 1, 0, "call", call.node, call.name)
                found.append((call.name, event))
            elif _may_release(call):
                event = Event(call.node.end_byte - 1, 0, "maybe", call.node, call.name)
                found.append(("", event))
            continue
        kind = (
            "lock"
            if call.name in PAIRS
            else "try"
            if call.name in TRIES
            else "init"
            if call.name in INITS
            else "unlock"
        )
        found.append((key, Event(call.node.end_byte - 1, 0, kind, call.node, call.name)))
    found.sort(key=lambda entry: entry[1].at)
    return found


def _closing(function: Function) -> Node | None:
    body = function.body
    return body.children[-1] if body is not None and body.child_count else None


def _size(root: Region) -> int:
    size, stack = 0, list(root.parts)
    while stack:
        size += 1
        stack.extend(stack.pop().parts)
    return size


class _LockWalk(Walker):
    """Follows one lock."""

    throws = True

    def __init__(
        self, function: Function, key: str, events: list[tuple[str, Event]], size: int
    ) -> None:
        self.own = [event for k, event in events if k == key]
        self.results = dict(_results(self.own))
        seen = [(key, event) for event in _looks(function, self.results)]
        ordered = sorted([*events, *seen], key=lambda entry: entry[1].at)
        super().__init__("", [event for _, event in ordered], size)
        self.function = function
        self.key = key
        self.keys = {event.node.id: k for k, event in ordered}
        self.gives_back = any(event.kind == "unlock" for event in self.own)
        self.entered_held = False
        self._questions = 0
        self.faults: dict[tuple[str, int], LockFault] = {}
        self.nestings: dict[int, Nesting] = {}

    def step(self, mask: int, event: Event) -> int:
        if event.kind == "see":
            return mask
        if event.kind == "maybe":
            return LockState.UNKNOWN
        if self.keys[event.node.id] != self.key:
            if event.kind in ("lock", "call") and mask == LockState.HELD:
                self._nest(event)
            return mask
        if event.kind == "lock":
            if mask == LockState.HELD and event.extra not in REENTRANT:
                self._note("twice", event.node)
            return LockState.HELD
        if event.kind == "try":
            return LockState.UNKNOWN
        if event.kind == "unlock" and mask == LockState.RELEASED:
            self._note("released-twice", event.node)
        elif event.kind == "unlock" and mask == LockState.ENTRY:
            self.entered_held = True  # the caller holds it; the function lets go for a while
        return LockState.RELEASED

    def _nest(self, event: Event) -> None:
        """Another lock is taken while this one is held, since it was taken last."""
        if event.node.id in self.nestings:
            return
        taken = self._last(TAKES, event.at) or event
        self.nestings[event.node.id] = Nesting(
            self.key, self.keys[event.node.id], taken.node, event.node
        )

    def _last(self, kinds: tuple[str, ...], at: int) -> Event | None:
        """Return the last event of these kinds on the lock before a byte."""
        before = bisect_left(self.own, at, key=lambda item: item.at)
        return next((e for e in reversed(self.own[:before]) if e.kind in kinds), None)

    def narrow(self, mask: int, valid: bool, at: int) -> int:
        event = self.results[self.name]
        zero_is_success = TRIES.get(event.extra, True)
        return LockState.HELD if valid is not zero_is_success else LockState.RELEASED

    def leave(self, mask: int, node: Node, how: str) -> None:
        sometimes = mask & LockState.HELD and not mask & LockState.UNKNOWN and not self.gives_back
        if mask == LockState.HELD or sometimes:
            self._note("kept", node)
        elif (
            mask & (LockState.HELD | LockState.RELEASED) == (LockState.HELD | LockState.RELEASED)
            and not mask & LockState.UNKNOWN
            and all(self._is_plain(event) for event in self.own if event.kind == "unlock")
        ):
            self._note("kept", node, partly=True)  # a jump goes past what returns it

    def _is_plain(self, event: Event) -> bool:
        """Return whether no condition of its own decides that a lock is returned."""
        taken = self.own[0].node
        return all(
            outer.type not in _CHOICES or outer.start_byte <= taken.start_byte < outer.end_byte
            for outer in ancestors(event.node, self.function.node)
        )

    def _decide(self, condition: Condition, mask: int) -> tuple[int, int]:
        self.name = ""
        if condition.test is not None and mask and condition.logic is None:
            event = self.results.get(condition.test[0])
            at = condition.region.start
            if event is not None and self._is_fresh(event, condition.test[0], at):
                self.name = condition.test[0]
        return super()._decide(condition, mask)

    def _is_fresh(self, event: Event, name: str, at: int) -> bool:
        """Return whether a variable still holds the result of the call that took the lock."""
        if not name.isidentifier() or event.at >= at:
            return True
        self._questions += 1
        if self._questions > MAX_QUESTIONS:
            return False
        return not written_between(self.function, name, event.at + 1, at)

    def _note(self, kind: str, node: Node, *, partly: bool = False) -> None:
        if len(self.faults) >= MAX_FAULTS:
            return
        wanted = ("unlock",) if kind == "released-twice" else TAKES
        origin = self._last(wanted, node.end_byte - 1)
        if self._moves((origin or self.own[0]).at, node.start_byte):
            return
        taken_by = next((e.extra for e in self.own if e.kind in TAKES), "")
        self.faults[(kind, node.id)] = LockFault(
            kind, self.key, node, origin.node if origin else None, taken_by, self.gives_back, partly
        )

    def _moves(self, start: int, end: int) -> bool:
        """Return whether the name of the lock means something else by then."""
        words = set(re.findall(r"[A-Za-z_]\w*", self.key)[:6])
        for kind, part in (("assign", "left"), ("update", "argument")):
            for changed in self.function.nodes(kind):
                if start <= changed.start_byte < end and text(field(changed, part)) in words:
                    return True
        return any(
            start <= name.node.start_byte < end
            for word in words
            for name in self.function.variables.get(word, ())
            if not name.is_parameter
        )


def _results(own: list[Event]) -> Iterator[tuple[str, Event]]:
    """Yield what holds the result of taking the lock: the call itself, or a variable."""
    for event in own:
        if event.kind not in TAKES:
            continue
        yield text(event.node), event
        for outer in ancestors(event.node):
            if outer.type == "assignment_expression":
                yield text(field(outer, "left")), event
            elif outer.type == "init_declarator":
                yield text(field(outer, "declarator")), event
            if outer.type != "parenthesized_expression":
                break


def _looks(function: Function, results: dict[str, Event]) -> Iterator[Event]:
    """Yield uses of the variables that hold a result, so that conditions on them are walked."""
    for name, event in results.items():
        if name.isidentifier():
            for use in function.uses(name, event.at):
                yield Event(use.start_byte, 0, "see", use)


def _may_release(call: Call) -> bool:
    """Return whether a function sounds as if it gave locks back that its caller took."""
    lowered = call.name.lower()
    return any(word in lowered for word in ("unlock", "release", "leave"))


def _is_mutex(call: Call) -> bool:
    """Return whether a method is called on something declared as a mutex (and not, say, a
    unique_lock, which knows by itself).
    """
    declared = declaration(call.receiver, call.function)
    if declared is not None:
        return "mutex" in declared.type and "recursive" not in declared.type
    fields = call.unit.facts.fields.get(text(call.receiver).rpartition(">")[2].rpartition(".")[2])
    return bool(fields) and all(
        "mutex" in f.type and "recursive" not in f.type for f in fields or ()
    )

"""Locks that different files take in opposite order.

Where a lock is taken with another held, the function's answer says so; what is wrong shows only
where such places of the whole program meet. A rule sees the order within one file by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from jarvis_ls.jsec.flow.domain.fault import Fault, Step

INVERSION = "lock-order"
"""Kind of the flaw."""
UNDER = "lock-under"
"""What the kind of a place begins with at which a lock is taken while another is held."""
OTHER_ORDER = "Opposite order: '{inner}' is acquired while '{outer}' is held."


def nesting(
    outer: str, inner: str, others: Iterable[str], file: str, function: str, steps: tuple[Step, ...]
) -> Fault:
    """Return a place where `inner` is taken with `outer` held and `others` as well; the locks are
    named as in the program, those of one file with its path. The last of the steps is the place.
    """
    kind = f"{UNDER} {outer} {inner}-reached"
    args = (("outer", outer), ("inner", inner), ("others", "\n".join(sorted(others))))
    return Fault(kind, file, function, steps[-1].span, True, args, steps)


def is_nested(kind: str) -> bool:
    """Return whether a fault of a kind says that a lock is taken while another is held."""
    return kind.startswith(UNDER)


def inversions(faults: Iterable[Fault]) -> list[Fault]:
    """Return the places of a program where a lock is taken with another held that some other file
    takes the other way round, each pair once, at the later of its places. The order of `faults`
    does not matter."""
    taken: dict[tuple[str, str], list[Fault]] = defaultdict(list)
    for fault in faults:
        if is_nested(fault.kind):
            said = dict(fault.args)
            taken[said["outer"], said["inner"]].append(fault)
    firsts = {pair: _firsts(places) for pair, places in taken.items()}
    found = []
    for (outer, inner), places in taken.items():
        opposite = firsts.get((inner, outer), [])
        pairs = (
            (place, two)
            for place in places
            for two in opposite
            if _place(place) > _place(two) and _may_block(place, two)
        )
        first = min(pairs, key=lambda pair: (_place(pair[0]), _place(pair[1])), default=None)
        if first is not None:
            found.append(_inversion(*first))
    return found


def _firsts(places: Iterable[Fault]) -> list[Fault]:
    """Return the first place of those that are alike in what may keep them apart from others: a
    program may take two locks in one order in thousands of places.
    """
    found: dict[tuple[frozenset[str], str], Fault] = {}
    for fault in places:
        key = frozenset(step.file for step in fault.steps), dict(fault.args)["others"]
        if key not in found or _place(fault) < _place(found[key]):
            found[key] = fault
    return list(found.values())


def _place(fault: Fault) -> tuple[str, tuple[int, int]]:
    return fault.file, fault.span


def _may_block(first: Fault, two: Fault) -> bool:
    """Return whether nothing keeps two orders apart, and a rule that examines one file does not see
    it.
    """
    held = [set(dict(fault.args)["others"].split("\n")) - {""} for fault in (first, two)]
    files = {step.file for fault in (first, two) for step in fault.steps}
    return len(files) > 1 and not held[0] & held[1]


def _inversion(fault: Fault, two: Fault) -> Fault:
    names = tuple((key, name.rpartition("\0")[2]) for key, name in fault.args if key != "others")
    said = dict(names)
    other = (("inner", said["outer"]), ("outer", said["inner"]))
    seen = [*two.steps[:-1], replace(two.steps[-1], message=OTHER_ORDER, args=other)]
    at = replace(fault.steps[-1], message=INVERSION)
    return replace(fault, kind=INVERSION, args=names, steps=(*seen, *fault.steps[:-1], at))

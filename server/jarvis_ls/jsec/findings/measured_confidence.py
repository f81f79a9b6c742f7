"""Confidence as it was measured: kinds of flow faults of which few proved right when read.

The numbers come from `tests/bench/judged.jsonl`, which `npm run bench -- calibration` sums up: of
what passes so many calls, less than half was true. What stays in one function is another matter.
"""

from __future__ import annotations

from typing import Final

from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.interp.trace import BRANCH, BRANCH_CASE, CALLED, LOOP_ENDS

UNPROVEN: Final = 0.55
"""Most confidence of such a finding."""

_CALLS: Final[dict[str, int]] = {
    "memory-leak": 3,
    "resource-leak": 1,
    "null-dereference": 1,
    "read-before-buffer": 1,
    "read-beyond-buffer": 1,
    "free-of-moved-pointer": 1,
    "use-after-free": 1,
    "double-free": 1,
    "missing-unlock": 3,
    "uninitialized-variable": 0,
    "negative-number-as-size": 0,
    "shift-beyond-width": 0,
    "untrusted-search-path": 0,
    "allocation-size-from-input": 0,
}
"""Calls on the way from which on findings of a rule were mostly false."""


def measured_confidence(rule: str, fault: Fault, confidence: float) -> float:
    """Return the confidence of a finding, lowered where those like it proved wrong. A way without
    a condition, such as `drop(p); drop(p);`, rests on nothing that may be otherwise."""
    limit = 0 if _is_reopened(fault) or _is_callers(fault) else _CALLS.get(rule)
    if limit is None or confidence <= UNPROVEN:
        return confidence
    calls = sum(step.message == CALLED for step in fault.steps)
    is_plain = not any(step.message == BRANCH for step in fault.steps)
    if is_plain and limit:
        return confidence
    return UNPROVEN if calls >= limit else confidence


def _is_reopened(fault: Fault) -> bool:
    """Return whether a leak is that of a stream that `freopen` gave back to its owner."""
    names = (dict(step.args).get("name", "") for step in fault.steps)
    return fault.kind == "resource-leak" and any(name.startswith("freopen") for name in names)


def _is_callers(fault: Fault) -> bool:
    """Return whether a leak is told in a function that was entered after its caller allocated: what
    the caller does with it, such as a destructor of another file, is not at hand there."""
    if fault.kind not in ("leak", "resource-leak"):
        return False
    is_allocated = False
    here = fault.function.rpartition("::")[2]
    for step in fault.steps:
        name = dict(step.args).get("name", "")
        if step.message == CALLED:
            if is_allocated and name.rpartition("::")[2] == here:
                return True
        elif step.message not in (BRANCH, BRANCH_CASE, LOOP_ENDS) and name:
            is_allocated = True
    return False

"""Saying what flow proved."""

from __future__ import annotations

import re

from jarvis_ls.jsec.flow.fault import Fault

CALLED = "{name} is called."
DECISIONS = frozenset({"The condition is {value} here.", "This case is taken."})
UNSURE = 0.55
_PLACE = re.compile(r"\{(\w+)\}")


def told(fault: Fault, *templates: str) -> str:
    """The first of the templates whose places are all known; the last has none."""
    known = {name for name, _ in fault.args}
    for template in templates:
        if known.issuperset(_PLACE.findall(template)):
            return template
    return templates[-1]


def far_fetched(fault: Fault) -> float | None:
    """The confidence of a fault that rests on how conditions come out before a function is called:
    callers mostly know what the analysis does not. None where the rule's own holds."""
    decided = False
    for step in fault.steps:
        if step.message == CALLED and decided:
            return UNSURE
        decided = decided or step.message in DECISIONS
    return None

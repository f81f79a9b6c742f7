"""What a file gives cause for throughout is told once, at its first place, and leads to the others.

A habit of the author is one thing to know and to decide about; a finding for each place would
bury those that stand for themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from jarvis_ls.core.finding import Finding, Message, Related
from jarvis_ls.jsec.rule import all_rules

SLIPS = 3
"""So many places of a rule in one file are told each."""
_MOST_SHOWN = 16
"""Places besides the first that a finding leads to."""


def gather(findings: Sequence[Finding]) -> list[Finding]:
    """The findings of one file, by position, with those that are gathered told as one.

    What a comment suppresses stays as it is and does not count.
    """
    rules = all_rules()
    alike: dict[tuple[str, float], list[Finding]] = defaultdict(list)
    for one in findings:
        if not one.suppressed and one.rule in rules and rules[one.rule].gathered:
            alike[one.rule, one.confidence].append(one)
    habits = {key: several for key, several in alike.items() if len(several) > SLIPS}
    told = []
    for one in findings:
        several = [] if one.suppressed else habits.get((one.rule, one.confidence), [])
        if not several:
            told.append(one)
        elif one is several[0]:
            told.append(_gathered(several, rules[one.rule].gathered))
    return told


def _gathered(several: Sequence[Finding], template: str) -> Finding:
    first, *others = several
    count = sum(int(dict(one.message.args).get("count", "1")) for one in several)
    places = list(first.related)
    for other in others[:_MOST_SHOWN]:
        places += [Related(other.file, other.span, Message("Here too.")), *other.related]
    return replace(
        first,
        message=Message(template, (("count", str(count)),)),
        related=tuple(places[:_MOST_SHOWN]),
    )

"""What a file gives cause for throughout is reported once, at its surest place, and leads to the
others.

A habit of the author is one thing to know and to decide about; a finding for each place would
bury those that represent themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from jarvis_ls.core.finding import Finding, Message, Related
from jarvis_ls.jsec.findings.same_flaw import merge_same_flaws
from jarvis_ls.jsec.rules.registry import all_rules

SLIPS = 3
"""So many places of a rule in one file are reported each."""
_MOST_SHOWN = 16
"""Places besides the first that a finding leads to."""


def gather(findings: Sequence[Finding], *, unsettled: bool = False) -> list[Finding]:
    """Return the findings of one file, by position: a flaw that several rules see is reported by
    the one that says most, and those that are gathered told as one.

    What a comment suppresses stays as it is and does not count, nor do guesses that flow has yet
    to judge, each by itself, when they are `unsettled`.
    """
    rules = all_rules()
    if not unsettled:
        findings = merge_same_flaws(findings)
    alike: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        rule = rules.get(finding.rule)
        if rule is None or finding.suppressed or not rule.summary:
            continue
        if not (unsettled and (rule.verdicts.faults or rule.verdicts.sound)):
            alike[finding.rule].append(finding)
    habits = {
        rule: _surest_first(several) for rule, several in alike.items() if len(several) > SLIPS
    }
    told = []
    for finding in findings:
        several = [] if finding.suppressed else habits.get(finding.rule, [])
        if not several:
            told.append(finding)
        elif finding is several[0]:
            told.append(_merge_findings(several, rules[finding.rule].summary))
    return told


def _surest_first(several: list[Finding]) -> list[Finding]:
    """Return findings with the first of the highest confidence before the others."""
    surest = max(several, key=lambda finding: finding.confidence)
    return [surest, *(finding for finding in several if finding is not surest)]


def _merge_findings(several: Sequence[Finding], template: str) -> Finding:
    first, *others = several
    count = sum(int(dict(finding.message.args).get("count", "1")) for finding in several)
    places = list(first.related)
    for other in others[:_MOST_SHOWN]:
        places += [Related(other.file, other.span, Message("Same finding here.")), *other.related]
    return replace(
        first,
        message=Message(template, (("count", str(count)),)),
        related=tuple(places[:_MOST_SHOWN]),
    )

"""What the pipeline has found out, joined to the findings that reports are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

from jarvis_ls.core.finding import AGENTS, Conclusion, Finding
from jarvis_ls.jsec.pipeline.records import FIELDS, Analysis


class Verdict(Enum):
    """What is said of a candidate in the end."""

    REPRODUCED = "reproduced"
    """A run has done it."""
    UNPROVEN = "unproven"
    """Analysis and verification agree that it is a flaw; no run has shown it."""
    UNDECIDED = "undecided"
    """Agents disagree, or a reviewer broke the reason why it would be none."""
    FALSE_POSITIVE = "false_positive"
    """No flaw: something was checked that rules it out, or two reviewers could not break the
    reason."""


def join_outcome(findings: Sequence[Finding], analyses: Iterable[Analysis]) -> list[Finding]:
    """Return findings, in their order, with what agents concluded; false positives are hidden."""
    by_gid = {gid: analysis for analysis in analyses for gid in analysis.cluster.gids}
    return [
        _with_outcome(finding, by_gid[finding.gid]) if finding.gid in by_gid else finding
        for finding in findings
    ]


def count_verdicts(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """Return how many candidates have each verdict; those without one are not counted."""
    counts = Counter(finding.verdict for finding in findings if finding.gid)
    return {verdict: counts[verdict.value] for verdict in Verdict}


def _with_outcome(finding: Finding, analysis: Analysis) -> Finding:
    issue = _of_gid(analysis.issues, finding.gid)
    dismissal = _of_gid(analysis.dismissals, finding.gid)
    verdict = _verdict(finding, analysis)
    notes = [_text(dismissal, "reason"), *_texts(dismissal.get("review_notes"))]
    if verdict is not Verdict.UNDECIDED and not dismissal:
        notes = [_text(issue, "verification_notes")]
    concluded = Conclusion(
        **{name: _text(issue, name) for name in FIELDS},
        notes="\n".join(note for note in notes if note),
    )
    hidden = ""
    if verdict is Verdict.FALSE_POSITIVE:
        hidden = f"{AGENTS}: {_text(dismissal, 'reason')}"
    return replace(
        finding,
        verdict=verdict.value,
        conclusion=concluded,
        suppressed=finding.suppressed or hidden,
    )


def _verdict(finding: Finding, analysis: Analysis) -> Verdict:
    if finding.gid in analysis.false_positive_gids:
        return Verdict.FALSE_POSITIVE
    if finding.gid in analysis.undecided_gids:
        return Verdict.UNDECIDED
    shown = finding.proof is not None and finding.proof.verdict == Verdict.REPRODUCED.value
    return Verdict.REPRODUCED if shown else Verdict.UNPROVEN


def _of_gid(entries: Iterable[dict[str, Any]], gid: int) -> dict[str, Any]:
    return next((entry for entry in entries if entry.get("gid") == gid), {})


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def _texts(values: Any) -> list[str]:
    return [v for v in values if isinstance(v, str)] if isinstance(values, list) else []

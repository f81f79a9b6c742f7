"""Numbers that every report begins with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from jarvis_ls.core.finding import AGENTS, SEVERITIES, Finding
from jarvis_ls.jsec.base.categories import CATEGORIES
from jarvis_ls.jsec.scan.result import ScanResult

TOP_FILES = 10


def summary_of(result: ScanResult, findings: Iterable[Finding]) -> dict[str, Any]:
    """Return the `summary` of the JSON report over the findings that are reported."""
    told = list(findings)
    hidden = Counter(_why(finding) for finding in result.findings if finding.suppressed)
    return {
        "total": len(told),
        "by_language": _counts(finding.language for finding in told),
        "by_category": _sort_counts(
            Counter(finding.category for finding in told), tuple(CATEGORIES)
        ),
        "by_severity": {
            name: sum(finding.severity == name for finding in told) for name in SEVERITIES
        },
        "top_risk_files": top_files(told),
        "suppressed": hidden["comment"],
        "baselined": hidden["baseline"],
        "dismissed": hidden[AGENTS],
        "unsure": result.unsure,
        "scanned_root": result.root,
        "scanned_files": len(result.digests),
        "cached_files": result.cached,
        "installed_headers": {"count": result.headers.count, "digest": result.headers.digest},
        "skipped": [{"file": file.path, "reason": file.reason} for file in result.skipped],
        "notes": [{"file": note.path, "note": note.reason} for note in result.notes],
        "warnings": result.warnings,
        "cancelled": result.cancelled,
        "seconds": round(result.seconds, 3),
    }


def top_files(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return the files with the highest sum of scores."""
    ranked = _rank((finding.file, finding.score) for finding in findings)
    return [
        {"file": file, "score": round(score, 2), "findings": count}
        for file, score, count in ranked[:TOP_FILES]
    ]


def categories_by_risk(findings: Iterable[Finding]) -> dict[str, int]:
    """Return the categories with the number of their findings, the highest sum of scores first."""
    ranked = _rank((finding.category, finding.score) for finding in findings)
    return {name: count for name, _, count in ranked}


def _rank(scores: Iterable[tuple[str, float]]) -> list[tuple[str, float, int]]:
    """Return names with the sum of their scores and their number, the highest sum first."""
    sums: dict[str, float] = defaultdict(float)
    numbers: Counter[str] = Counter()
    for name, score in scores:
        sums[name] += score
        numbers[name] += 1
    return [(name, sums[name], numbers[name]) for name in sorted(sums, key=lambda n: (-sums[n], n))]


def _why(finding: Finding) -> str:
    return finding.suppressed.partition(":")[0]


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _sort_counts(counts: Counter[str], order: tuple[str, ...]) -> dict[str, int]:
    known = [name for name in order if counts[name]]
    return {name: counts[name] for name in [*known, *sorted(set(counts) - set(known))]}

"""Numbers that every report begins with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from jarvis_ls.core.finding import SEVERITIES, Finding
from jarvis_ls.jsec.categories import CATEGORIES
from jarvis_ls.jsec.result import ScanResult

TOP_FILES = 10


def summary_of(result: ScanResult, findings: Iterable[Finding]) -> dict[str, Any]:
    """The `summary` of the JSON report over the findings that are told."""
    told = list(findings)
    hidden = Counter(_why(one) for one in result.findings if one.suppressed)
    return {
        "total": len(told),
        "by_language": _counts(one.language for one in told),
        "by_category": _ordered(Counter(one.category for one in told), tuple(CATEGORIES)),
        "by_severity": {name: sum(one.severity == name for one in told) for name in SEVERITIES},
        "top_risk_files": top_files(told),
        "suppressed": hidden["comment"],
        "baselined": hidden["baseline"],
        "scanned_root": result.root,
        "scanned_files": len(result.digests),
        "cached_files": result.cached,
        "skipped": [{"file": one.path, "reason": one.reason} for one in result.skipped],
        "notes": [{"file": one.path, "note": one.reason} for one in result.notes],
        "warnings": result.warnings,
        "cancelled": result.cancelled,
        "seconds": round(result.seconds, 3),
    }


def top_files(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """The files with the highest sum of scores."""
    scores: dict[str, float] = defaultdict(float)
    numbers: Counter[str] = Counter()
    for one in findings:
        scores[one.file] += one.score
        numbers[one.file] += 1
    ranked = sorted(scores, key=lambda file: (-scores[file], file))[:TOP_FILES]
    return [
        {"file": file, "score": round(scores[file], 2), "findings": numbers[file]}
        for file in ranked
    ]


def _why(finding: Finding) -> str:
    return finding.suppressed.partition(":")[0]


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _ordered(counts: Counter[str], order: tuple[str, ...]) -> dict[str, int]:
    known = [name for name in order if counts[name]]
    return {name: counts[name] for name in [*known, *sorted(set(counts) - set(known))]}

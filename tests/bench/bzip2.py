"""The ten places of bzip2 1.0.8 that were confirmed by hand: found, ranked, and not drowned."""

from __future__ import annotations

import sys

from measure import tree
from measure.jsec import scan
from measure.table import Table

CONFIRMED = {
    "bzip2.c": (1126, 1153, 1341, 1734),
    "bzlib.c": (104, 1417, 1418, 1564),
    "bzip2recover.c": (482,),
    "dlltest.c": (138,),
}


def main() -> int:
    """Scan, print the table, return the exit status."""
    with tree.copy_of("bzip2") as root:
        report = scan(root / "bzip2", "--no-cache")
    issues = report.issues
    ranks = {place: _rank(issues, *place) for place in _places()}

    table = Table(f"bzip2 1.0.8, {report.summary['scanned_files']} files")
    for (file, line), rank in ranks.items():
        table.note(f"rank of {file}:{line}", rank)
    found = [rank for rank in ranks.values() if rank]
    table.at_least("confirmed places reported", len(found), len(ranks))
    table.at_most("rank of the last of them", max(found, default=0), 20)
    table.at_most("findings in all", len(issues), 120)
    return table.finish()


def _places() -> list[tuple[str, int]]:
    return [(file, line) for file, lines in CONFIRMED.items() for line in lines]


def _rank(issues: list[dict[str, object]], file: str, line: int) -> int:
    """Position of the place by score, from 1; 0 when it is not reported.

    Findings of the same score stand before it: the rank is the worst that sorting may give.
    """
    scores = [issue["score"] for issue in issues if (issue["file"], issue["line"]) == (file, line)]
    if not scores:
        return 0
    best = max(scores)  # type: ignore[type-var]
    return sum(1 for issue in issues if issue["score"] >= best)  # type: ignore[operator]


if __name__ == "__main__":
    sys.exit(main())

"""What confidence means: the share of true findings in each band, on findings judged by reading.

`judged.jsonl` holds them: package, rule, place, the line as it was, the confidence it was told with
then, the verdict (true, false or unclear) and its reason. Each package is scanned as it is told
today; a judged finding is found again by its rule, file and line of text. JARVIS_BENCH_PACKAGES
("avahi nasm") takes only these.

With --table it scans nothing: it writes what the findings' confidence is lowered to
(`jsec/findings/measured_confidence.py`) from the judged findings.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.jsec.findings import measured_confidence
from measure import measured, tree
from measure.jsec import scan
from measure.table import Table

JUDGED = Path(__file__).with_name("judged.jsonl")
MEASURED = Path(measured_confidence.__file__).with_name("measured.txt")
BANDS = (0.8, 0.6, 0.3, 0.0)
LIMITS = {0.8: 0.85, 0.6: 0.75}
"""Least share of true findings in a band."""

Key = tuple[str, str, str]


def main() -> int:
    """Scan the packages, print the table, return the exit status."""
    if "--table" in sys.argv[1:]:
        MEASURED.write_text(measured.table(JUDGED), "utf-8")
        return 0
    chosen = os.environ.get("JARVIS_BENCH_PACKAGES", "").split()
    judged = [json.loads(line) for line in JUDGED.read_text(encoding="utf-8").splitlines()]
    by_package: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in judged:
        if not chosen or row["package"] in chosen:
            by_package[row["package"]].append(row)
    bands: dict[float, Counter[str]] = defaultdict(Counter)
    gone: Counter[str] = Counter()
    before: dict[float, Counter[str]] = defaultdict(Counter)
    for package, rows in by_package.items():
        told = _told(package)
        for row in rows:
            confidence = _confidence(row, told)
            before[_band(row["told"])][row["verdict"]] += 1
            if confidence is None:
                gone[row["verdict"]] += 1
            else:
                bands[_band(confidence)][row["verdict"]] += 1

    count = sum(len(rows) for rows in by_package.values())
    table = Table(f"{count} judged findings of {len(by_package)} packages, by confidence")
    for band, least in zip(
        BANDS, ("0.80-1.00", "0.60-0.79", "0.30-0.59", "0.00-0.29"), strict=True
    ):
        found = bands[band]
        sample = found["true"] + found["false"]
        share = found["true"] / sample if sample else 0.0
        earlier = before[band]
        table.note(f"{least}: judged", sample)
        table.note("  true when they were judged", _share(earlier))
        if band in LIMITS:
            table.at_least("  true", share, LIMITS[band])
        else:
            table.note("  true", share)
    table.note("told no more: true", gone["true"])
    table.note("told no more: false", gone["false"])
    return table.finish()


def _share(found: Counter[str]) -> float:
    sample = found["true"] + found["false"]
    return found["true"] / sample if sample else 0.0


def _told(package: str) -> dict[Key, list[tuple[int, float]]]:
    """Return line and confidence of what is told of a package today, by rule, file and text."""
    with tree.copy_of(package) as root:
        told: dict[Key, list[tuple[int, float]]] = defaultdict(list)
        for issue in scan(root / package, "--no-cache").issues:
            gathered = issue["description"][:1].isdigit()  # one finding for many places of a file
            key = issue["rule"], issue["file"], "" if gathered else issue["evidence"]
            told[key].append((issue["line"], issue["confidence"]))
    return told


def _confidence(row: dict[str, Any], told: dict[Key, list[tuple[int, float]]]) -> float | None:
    """Return the confidence that a judged finding is told with today; None when it is not."""
    rule, file = row["rule"], row["file"]
    found: Sequence[tuple[int, float]] = told.get((rule, file, row["evidence"]), ())
    found = found or told.get((rule, file, ""), ())
    return min(found, key=lambda place: abs(place[0] - row["line"]))[1] if found else None


def _band(confidence: float) -> float:
    return next(band for band in BANDS if confidence >= band)


if __name__ == "__main__":
    sys.exit(main())

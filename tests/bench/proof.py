"""Evidence by execution on small flawed programs and their repaired twins.

Of the flaws that jsec reports, how many `jsec prove` reproduces; of the repaired twins, in how many
it finds a report of the family anywhere in their functions; and the CPU seconds of a finding. What
was not reproduced and what was confirmed wrongly is listed in `.cache/proof.txt`.
JARVIS_BENCH_FAMILIES ("121 476") takes only these families, JARVIS_BENCH_PER_FAMILY that many flaws
of each, JARVIS_BENCH_SEED other cases.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.files import user_folder
from jarvis_ls.core.finding import Finding, Message, Related, Span
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence, Verdict
from jarvis_ls.jsec.proof.ladder import prove
from jarvis_ls.jsec.proof.rungs.registry import RUNGS
from jarvis_ls.jsec.proof.toolchain import find_toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.runtime.sandbox.ladder import Ladder
from measure.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "accuracy"))

from cases.tree import Row, write_programs  # noqa: E402  (its folder is known only here)
from scoring import scan  # noqa: E402

FAMILIES = (
    "121 122 124 126 127 134 190 191 194 195 197 252 369 401 404 415 416 467 476 590 680 690 761 "
    "762 789"
)
CHOSEN = {int(cwe) for cwe in os.environ.get("JARVIS_BENCH_FAMILIES", FAMILIES).split()}
PER_FAMILY = int(os.environ.get("JARVIS_BENCH_PER_FAMILY", "13"))
SEED = int(os.environ.get("JARVIS_BENCH_SEED", "1"))
SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Proven:
    """What came of one finding."""

    row: Row
    rule: str
    place: str
    evidence: Evidence

    def __str__(self) -> str:
        kind = "flaw" if self.row.flawed else "sound twin"
        return (
            f"{kind} CWE-{self.row.cwe} {self.place} {self.rule} {self.evidence.verdict.value} "
            f"{self.evidence.seconds:.1f}s {self.row.shape} | {self.row.variant}: "
            f"{self.evidence.message}"
        )


def main() -> int:
    """Write the programs, scan them, prove what is found, return the exit status."""
    if not find_toolchain().compiler:
        print("No C compiler with sanitizers is here; nothing was measured.")
        return 1
    with tempfile.TemporaryDirectory(prefix="jarvis-proof-") as name:
        folder = Path(name).resolve()
        rows = write_programs(folder, SEED, PER_FAMILY, CHOSEN)
        issues = scan(folder)
        proven = asyncio.run(_prove_all(folder, rows, issues))
    listed = REPOSITORY / ".cache" / "proof.txt"
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text("\n".join(str(item) for item in proven if not _is_right(item)) + "\n")
    return _table(rows, proven, listed)


def _is_right(item: Proven) -> bool:
    return (item.evidence.verdict is Verdict.REPRODUCED) == item.row.flawed


async def _prove_all(
    folder: Path, rows: list[Row], issues: dict[str, list[dict[str, Any]]]
) -> list[Proven]:
    sandbox = Ladder(user_folder())
    proven = []
    for row in rows:
        findings = list(_findings(row, issues))
        if not findings:
            continue
        with tempfile.TemporaryDirectory(prefix="jarvis-proof-one-") as name:
            root = Path(name).resolve()
            for file in _files_of(folder, row):
                shutil.copy(file, root)
            bench = Workbench(root, sandbox, find_toolchain())
            for finding in findings:
                found = await prove(finding, bench, Budget(SECONDS), RUNGS)
                place = f"{finding.file}:{finding.span.line}"
                proven.append(Proven(row, finding.rule, place, found))
                print(proven[-1], file=sys.stderr)
    return proven


def _files_of(folder: Path, row: Row) -> Iterator[Path]:
    """Yield the files of a program: those whose names differ in one letter, and what all share."""
    first = Path(row.places[0][0])
    stem = first.stem.rstrip("abcdefgh")
    yield from (path for path in folder.iterdir() if path.stem.rstrip("abcdefgh") == stem)
    yield from (folder / name for name in ("s.c", "s.h"))


def _findings(row: Row, issues: dict[str, list[dict[str, Any]]]) -> Iterator[Finding]:
    """Yield the findings of a flaw: of its family, in its function. Of a repaired twin one that
    says that the flaw is somewhere in its functions, whatever jsec says of them."""
    if not row.flawed and row.cwe in (190, 191) and "rand" in row.shape:
        return  # the macro that makes their numbers of several random ones overflows itself
    if not row.flawed:
        for file, first, last in row.places:
            yield _finding(
                {"rule": "any", "cwe": [row.cwe], "file": file, "line": first, "end_line": last}
            )
        return
    for file, first, last in row.places:
        for issue in issues.get(file, ()):
            if first <= issue["line"] <= last and row.cwe in issue["cwe"]:
                yield _finding(issue)


def _finding(issue: dict[str, Any]) -> Finding:
    span = _span(issue)
    trace = tuple(
        Related(Path(step["file"]).name, _span(step), Message(step["message"]))
        for step in issue.get("trace", ())
    )
    return Finding(
        rule=issue["rule"],
        language="c/cpp",
        category="",
        pattern="",
        cwe=tuple(issue["cwe"]),
        file=Path(issue["file"]).name,
        span=span,
        evidence=issue.get("evidence", ""),
        message=Message(""),
        suggestion=Message(""),
        confidence=0.5,
        severity="medium",
        fingerprint=f"{issue['file']}:{issue['line']}:{issue['rule']}",
        trace=trace,
    )


def _span(place: dict[str, Any]) -> Span:
    line, column = place["line"], place.get("column", 1)
    return Span(line, column, place.get("end_line", line), place.get("end_column", column + 1))


def _table(rows: list[Row], proven: list[Proven], listed: Path) -> int:
    by_family: dict[int, list[bool]] = defaultdict(list)
    reported: dict[int, list[bool]] = {}
    for item in proven:
        if item.row.flawed:
            reported.setdefault(id(item.row), []).append(_is_right(item))
    for row in rows:
        if id(row) in reported:
            by_family[row.cwe].append(any(reported[id(row)]))
    for cwe, shown in sorted(by_family.items()):
        print(f"CWE-{cwe:03}  {sum(shown):>3} of {len(shown)} reproduced")
    flaws = [shown for family in by_family.values() for shown in family]
    sound = {id(item.row) for item in proven if not item.row.flawed}
    wrong = {id(item.row) for item in proven if not item.row.flawed and not _is_right(item)}
    seconds = [item.evidence.seconds for item in proven if item.row.flawed]
    print(f"\nWhat was not reproduced and what was confirmed wrongly: {listed}\n")
    limits = Table(
        f"{len(flaws)} reported flaws of {sum(row.flawed for row in rows)}, {len(sound)} repaired "
        f"twins, {len(by_family)} families, seed {SEED}, {find_toolchain().compiler}"
    )
    limits.at_least("share reproduced", sum(flaws) / max(1, len(flaws)), 0.9)
    limits.at_most("repaired twins confirmed as flawed", len(wrong), 0)
    if seconds:
        limits.at_most("CPU of a finding, median", statistics.median(seconds), 2.0, "s")
        limits.at_most("CPU of a finding, most", max(seconds), SECONDS, "s")
    return limits.finish()


if __name__ == "__main__":
    sys.exit(main())

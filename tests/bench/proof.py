"""Evidence by execution on small flawed programs and their repaired twins.

Of the flaws that jsec reports, how many `jsec prove` reproduces; of the repaired twins, in how many
it finds a report of the family anywhere in their functions; and the CPU seconds of a finding, by
CWE. What was not reproduced and what was confirmed wrongly is listed in `.cache/proof.txt`.

A full run takes an hour or more. Programs are taken in an order of chance, flaws first, and what
was measured is kept in `.cache/proof/` as long as the code of proof, harness and cases is the same:
JARVIS_BENCH_SECONDS ends a run after so long, and the next one goes on.
JARVIS_BENCH_FAMILIES ("121 476") takes only these families, JARVIS_BENCH_PER_FAMILY that many flaws
of each, JARVIS_BENCH_SEED other cases, JARVIS_BENCH_ONLY ("flaws" or "twins") one kind,
JARVIS_BENCH_CASES ("0012 0044") only these cases, measured anew. JARVIS_BENCH_RUNGS ("symbolic")
asks these rungs alone, and of flaws also as of twins: as if anywhere in their functions.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.files import user_folder
from jarvis_ls.core.finding import Finding, Message, Related, Span
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Verdict
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
    "121 122 124 126 127 134 190 191 194 195 197 252 369 401 404 415 416 457 476 590 680 690 761 "
    "762 789"
)
CHOSEN = {int(cwe) for cwe in os.environ.get("JARVIS_BENCH_FAMILIES", FAMILIES).split()}
PER_FAMILY = int(os.environ.get("JARVIS_BENCH_PER_FAMILY", "13"))
SEED = int(os.environ.get("JARVIS_BENCH_SEED", "1"))
SLICE = float(os.environ.get("JARVIS_BENCH_SECONDS", "inf"))
ONLY = os.environ.get("JARVIS_BENCH_ONLY", "")
CASES = frozenset(os.environ.get("JARVIS_BENCH_CASES", "").split())
SECONDS = 30.0
NAMED = os.environ.get("JARVIS_BENCH_RUNGS", "").split()
CHOSEN_RUNGS = [rung for rung in RUNGS if not NAMED or rung.name in NAMED]
CACHE = REPOSITORY / ".cache"
MEASURED = ("server/jarvis_ls/jsec/proof", "server/jarvis_ls/harness", "tests/accuracy/cases")
"""Folders whose code decides what is measured here."""

Issues = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Proven:
    """What came of one finding."""

    rule: str
    place: str
    verdict: str
    rung: str
    message: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one program."""

    row: Row
    proven: tuple[Proven, ...]
    """Empty when jsec reports nothing of the flaw."""

    @property
    def is_reproduced(self) -> bool:
        """Return whether a run has shown one of its findings."""
        return any(item.verdict == Verdict.REPRODUCED.value for item in self.proven)

    @property
    def is_refuted(self) -> bool:
        """Return whether it was shown of one of its places that it cannot happen."""
        return any(item.verdict == Verdict.REFUTED.value for item in self.proven)

    def lines(self) -> Iterator[str]:
        """Yield what is told of each finding."""
        row = self.row
        for item in self.proven:
            yield (
                f"{row.case} {'flaw' if row.flawed else 'sound twin'} CWE-{row.cwe} {item.place} "
                f"{item.rule} {item.verdict} ({item.rung}) {item.seconds:.1f}s {row.shape} | "
                f"{row.variant}: {item.message}"
            )


def main() -> int:
    """Write the programs, scan them, prove what is found, return the exit status."""
    if not find_toolchain().compiler:
        print("No C compiler with sanitizers is here; nothing was measured.")
        return 1
    with tempfile.TemporaryDirectory(prefix="jarvis-proof-") as name:
        folder = Path(name).resolve()
        rows = _ordered(folder, write_programs(folder, SEED, PER_FAMILY, CHOSEN))
        store = _Store(
            CACHE / "proof" / f"{SEED}-{PER_FAMILY}{''.join(NAMED)}-{_digest()}.jsonl", rows
        )
        issues = scan(folder) if store.lacks(rows) else {}
        asyncio.run(_prove_all(folder, rows, issues, store))
    measured = [found for row in rows if (found := store.known(row)) is not None]
    listed = CACHE / "proof.txt"
    wrong = [item for item in measured if item.proven and _is_wrong(item)]
    listed.write_text("".join(f"{line}\n" for item in wrong for line in item.lines()))
    return _table(rows, measured, listed)


def _is_wrong(item: Measured) -> bool:
    if item.row.flawed:
        return item.is_refuted or not (item.is_reproduced or NAMED)
    return item.is_reproduced or bool(NAMED and not item.is_refuted)


def _ordered(folder: Path, rows: list[Row]) -> list[Row]:
    """Return programs so that each beginning of the list is a fair sample; flaws come first. Those
    for another system are left out."""
    chosen = [
        row
        for row in rows
        if (not CASES or row.case in CASES)
        and (not ONLY or row.flawed == (ONLY == "flaws"))
        and "<windows.h>" not in (folder / row.places[0][0]).read_text()
        # The macro that makes these numbers of several random ones overflows itself.
        and (row.flawed or row.cwe not in (190, 191) or "rand" not in row.shape)
    ]
    random.Random(SEED).shuffle(chosen)
    return sorted(chosen, key=lambda row: not row.flawed)


def _digest() -> str:
    found = hashlib.sha256(find_toolchain().compiler.encode())
    for folder in MEASURED:
        for path in sorted((REPOSITORY / folder).rglob("*")):
            if path.suffix in (".py", ".c", ".rs", ".cpp", ".h"):
                found.update(path.read_bytes())
    return found.hexdigest()[:12]


class _Store:
    """What was measured before with the same code."""

    def __init__(self, path: Path, rows: Sequence[Row]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._known: dict[str, Measured] = {}
        by_key = {_key(row): row for row in rows}
        for line in path.read_text().splitlines() if path.exists() and not CASES else ():
            record = json.loads(line)
            if row := by_key.get(record["key"]):
                self._known[record["key"]] = Measured(
                    row, tuple(Proven(**item) for item in record["proven"])
                )

    def known(self, row: Row) -> Measured | None:
        """Return what came of a program; None before it was measured."""
        return self._known.get(_key(row))

    def lacks(self, rows: Sequence[Row]) -> bool:
        """Return whether a program was not measured."""
        return any(self.known(row) is None for row in rows)

    def add(self, measured: Measured) -> None:
        """Keep what came of a program."""
        key = _key(measured.row)
        self._known[key] = measured
        record = {"key": key, "proven": [asdict(item) for item in measured.proven]}
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")


def _key(row: Row) -> str:
    return f"{row.case} {row.flawed} {row.places[0]}"


async def _prove_all(folder: Path, rows: list[Row], issues: Issues, store: _Store) -> None:
    sandbox = Ladder(user_folder())
    until = time.monotonic() + SLICE
    for row in rows:
        if time.monotonic() > until:
            return
        if store.known(row) is not None:
            continue
        measured = Measured(row, await _prove(folder, row, issues, sandbox))
        store.add(measured)
        for line in measured.lines():
            print(line, file=sys.stderr)


async def _prove(folder: Path, row: Row, issues: Issues, sandbox: Ladder) -> tuple[Proven, ...]:
    findings = list(_findings(row, issues))
    proven = []
    with tempfile.TemporaryDirectory(prefix="jarvis-proof-one-") as name:
        root = Path(name).resolve()
        for file in _files_of(folder, row):
            shutil.copy(file, root)
        bench = Workbench(root, sandbox, find_toolchain())
        for finding in findings:
            found = await prove(finding, bench, Budget(SECONDS), CHOSEN_RUNGS)
            place = f"{finding.file}:{finding.span.line}"
            verdict, message = found.verdict.value, str(found.message)
            proven.append(Proven(finding.rule, place, verdict, found.rung, message, found.seconds))
    return tuple(proven)


def _files_of(folder: Path, row: Row) -> Iterator[Path]:
    """Yield the files of a program: those whose names differ in one letter, and what all share."""
    first = Path(row.places[0][0])
    stem = first.stem.rstrip("abcdefgh")
    yield from (path for path in folder.iterdir() if path.stem.rstrip("abcdefgh") == stem)
    yield from (folder / name for name in ("s.c", "s.h"))


def _findings(row: Row, issues: Issues) -> Iterator[Finding]:
    """Yield the findings of a flaw: of its family, in its function. Of a repaired twin one that
    says that the flaw is somewhere in its functions, whatever jsec says of them."""
    for file, first, last in row.places:
        if not row.flawed or NAMED:
            yield _finding(
                {"rule": "any", "cwe": [row.cwe], "file": file, "line": first, "end_line": last}
            )
        if not row.flawed:
            continue
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


def _table(rows: list[Row], measured: list[Measured], listed: Path) -> int:
    families: dict[int, list[Measured]] = defaultdict(list)
    for item in measured:
        if item.proven:
            families[item.row.cwe].append(item)
    print(f"{'family':<9}{'flaws':>7}{'done':>6}{'share':>7}{'twins':>7}{'wrong':>7}{'CPU s':>14}")
    for cwe, items in sorted(families.items()):
        flaws, twins = _split(items)
        done = sum(item.is_reproduced for item in flaws)
        wrong = sum(item.is_reproduced for item in twins)
        share = f"{done / len(flaws):.2f}" if flaws else ""
        took = _seconds(flaws) or [0.0]
        spent = f"{statistics.median(took):.1f} … {max(took):.1f}"
        print(f"CWE-{cwe:<5}{len(flaws):>7}{done:>6}{share:>7}{len(twins):>7}{wrong:>7}{spent:>14}")
    flaws, twins = _split([item for items in families.values() for item in items])
    print(f"\nWhat was not reproduced and what was confirmed wrongly: {listed}\n")
    limits = Table(
        f"{len(flaws)} reported flaws of {sum(item.row.flawed for item in measured)}, {len(twins)} "
        f"repaired twins, {len(families)} families, seed {SEED}, {find_toolchain().compiler}"
    )
    if left := len(rows) - len(measured):
        limits.note("programs that the next run goes on with", left)
    if flaws:
        share = sum(item.is_reproduced for item in flaws) / len(flaws)
        if not NAMED:
            limits.at_least("share reproduced", share, 0.9)
        took = _seconds(flaws)
        limits.at_most("CPU of a finding, median", statistics.median(took), 2.0, "s")
        limits.at_most("CPU of a finding, most", max(took), SECONDS, "s")
    wrong = sum(item.is_reproduced for item in twins)
    limits.at_most("repaired twins confirmed as flawed", wrong, 0)
    _add_refutations(limits, flaws, twins)
    return limits.finish()


def _split(items: Sequence[Measured]) -> tuple[list[Measured], list[Measured]]:
    """Return the flaws and the repaired twins among some programs."""
    return (
        [item for item in items if item.row.flawed],
        [item for item in items if not item.row.flawed],
    )


def _seconds(items: Sequence[Measured]) -> list[float]:
    return [found.seconds for item in items for found in item.proven]


def _add_refutations(limits: Table, flaws: list[Measured], twins: list[Measured]) -> None:
    """Add how many places were refuted: of sound twins, and of flaws, each finding of its own."""
    if twins:
        every = sum(item.is_refuted for item in twins) / len(twins)
        limits.at_least(f"share of {len(twins)} twins refuted", every, 0.6)
    for language, end in (("C", ".c"), ("C++", ".cpp")):
        own = [item for item in twins if item.row.places[0][0].endswith(end)]
        if own:
            share = sum(item.is_refuted for item in own) / len(own)
            limits.note(f"share of {len(own)} twins in {language} refuted", share)
    verdicts = [found.verdict for item in flaws for found in item.proven]
    lost = verdicts.count(Verdict.REFUTED.value)
    limits.at_most(f"true places refuted, of {len(verdicts)}", lost, 0)


if __name__ == "__main__":
    sys.exit(main())

"""What jsec says about a tree of cases, against the truth: recall and false-positive rate.

A finding counts only when it lies in the flawed function and names the family among its CWE
numbers. A repaired twin is a false alarm when any of its functions has a finding of the family.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cases.tree import Row, read_truth

Issues = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was said about one row of the truth table."""

    row: Row
    """The row."""
    rules: tuple[str, ...]
    """Rules that named the family here; empty when none did."""

    @property
    def right(self) -> bool:
        """Whether the flaw was found, or the sound twin left alone."""
        return bool(self.rules) == self.row.flawed

    def __str__(self) -> str:
        kind = "missed" if self.row.flawed else "false alarm"
        file, first, last = self.row.places[0]
        said = f" ({', '.join(self.rules)})" if self.rules else ""
        where = f"{file}:{first}-{last}"
        return f"{kind} CWE-{self.row.cwe} {where} {self.row.shape} | {self.row.variant}{said}"


@dataclass(frozen=True, slots=True)
class Rate:
    """How a set of rows came out."""

    flawed: int
    """Flawed functions."""
    found: int
    """Those of them that were found."""
    sound: int
    """Repaired twins."""
    alarms: int
    """Those of them that were reported."""

    @property
    def recall(self) -> float:
        """Share of the flaws that were found; 0 when there are none."""
        return self.found / self.flawed if self.flawed else 0.0

    @property
    def false_positives(self) -> float:
        """Share of the repaired twins that were reported; 0 when there are none."""
        return self.alarms / self.sound if self.sound else 0.0

    @property
    def margin(self) -> float:
        """How far above guessing: 0 is the chance line."""
        return self.recall - self.false_positives


def scan(folder: Path, *options: str) -> Issues:
    """Findings of ``jsec scan`` by file; raises `RuntimeError` when the scan fails."""
    command = [sys.executable, "-m", "jarvis_ls.cli.jsec", "scan", "--quiet", "--no-cache"]
    command += ["--min-confidence", "0"]
    command += ["--format", "json", *options, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"jsec scan ended with {done.returncode}:\n{done.stderr}")
    issues: Issues = defaultdict(list)
    for issue in json.loads(done.stdout)["issues"]:
        issues[Path(issue["file"]).name].append(issue)
    return issues


def scan_with_cppcheck(folder: Path) -> Issues:
    """Return the messages of cppcheck by file, in the form of `scan`."""
    template = "--template={file}|{line}|{cwe}|{id}"
    command = ["cppcheck", "--enable=warning,portability", "--quiet", "-j2", template, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    issues: Issues = defaultdict(list)
    for line in done.stderr.splitlines():
        file, number, cwe, rule = [*line.split("|"), "", "", ""][:4]
        if number.isdigit():
            issue = {"rule": rule, "line": int(number), "cwe": [int(cwe or 0)]}
            issues[Path(file).name].append(issue)
    return issues


def judge(folder: Path, issues: Issues) -> list[Verdict]:
    """A verdict for each row of the folder's truth table."""
    return [Verdict(row, tuple(sorted(_named(row, issues)))) for row in read_truth(folder)]


def rate(verdicts: Iterable[Verdict]) -> Rate:
    """Counts of some verdicts."""
    flawed = found = sound = alarms = 0
    for verdict in verdicts:
        if verdict.row.flawed:
            flawed, found = flawed + 1, found + bool(verdict.rules)
        else:
            sound, alarms = sound + 1, alarms + bool(verdict.rules)
    return Rate(flawed, found, sound, alarms)


def rates(verdicts: Iterable[Verdict], key: Callable[[Row], str]) -> dict[str, Rate]:
    """Counts by a property of the rows, in its order."""
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        groups[key(verdict.row)].append(verdict)
    return {name: rate(groups[name]) for name in sorted(groups)}


def table(title: str, found: dict[str, Rate]) -> str:
    """Rates as lines of text."""
    width = max(len(title), *map(len, found))
    lines = [f"{title:<{width}}  recall   FPR  margin  found/flawed  alarms/sound"]
    for name, one in found.items():
        lines.append(
            f"{name:<{width}}    {one.recall:.2f}  {one.false_positives:.2f}    {one.margin:5.2f}"
            f"  {f'{one.found}/{one.flawed}':>12}  {f'{one.alarms}/{one.sound}':>12}"
        )
    return "\n".join(lines)


def report(verdicts: list[Verdict]) -> str:
    """Tables by family and by variant, and the total."""
    families = rates(verdicts, lambda row: f"CWE-{row.cwe:03}")
    variants = rates(verdicts, lambda row: row.variant)
    whole = {"all": rate(verdicts)}
    return "\n\n".join([table("family", families), table("variant", variants), table("", whole)])


def _named(row: Row, issues: Issues) -> set[str]:
    return {
        issue["rule"]
        for file, first, last in row.places
        for issue in issues.get(file, ())
        if first <= issue["line"] <= last and row.cwe in issue["cwe"]
    }

"""Findings of real C programs, as `jsec prove` decides them.

Asked are all findings with a confidence of 0.6 and more of five programs that have such; and, for
the sake of comparison, the 40 highest scored of four that have none. Decided are those that were
reproduced, refuted, or shown to depend on the caller.
JARVIS_BENCH_PROJECTS ("mtools less") takes only these programs.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from measure import cost, tree
from measure.jsec import scan
from measure.table import Table

WITH_SURE = ("inetutils", "mtools", "nano", "procps", "screen")
OTHERS = ("zlib", "unrtf", "less", "gzip")
CHOSEN = os.environ.get("JARVIS_BENCH_PROJECTS", " ".join((*WITH_SURE, *OTHERS))).split()
SECONDS = 30
SURE = 0.6
MOST = 40
DECISIVE = frozenset({"reproduced", "refuted", "depends_on_caller"})


def main() -> int:
    """Scan, prove, print the table, return the exit status."""
    sure = [proof for name in WITH_SURE if name in CHOSEN for proof in _of_project(name)]
    others = [proof for name in OTHERS if name in CHOSEN for proof in _of_project(name)]
    table = Table(f"Findings of {', '.join(CHOSEN)}")
    table.note("findings of 0.6 and more", len(sure), "")
    table.at_least("share of these that is decided", _share_decided(sure), 0.3)
    table.note("the highest scored of programs without any", len(others), "")
    table.note("share of these that is decided", _share_decided(others), "")
    seconds = [proof["seconds"] for proof in (*sure, *others)]
    table.note("CPU of a finding, median", statistics.median(seconds or [0.0]), "s")
    table.at_most("CPU of a finding, the dearest", max(seconds, default=0.0), 1.05 * SECONDS, "s")
    return table.finish()


def _share_decided(proofs: list[dict[str, Any]]) -> float:
    return sum(proof["verdict"] in DECISIVE for proof in proofs) / max(1, len(proofs))


def _of_project(name: str) -> list[dict[str, Any]]:
    """Return what came of the findings of a program, and print it."""
    with tree.copy_of(name) as root:
        folder = root / name
        issues = scan(folder, "--no-cache").issues
        chosen = _chosen(name, issues)
        findings = _prove(folder, [issue["id"] for issue in chosen]) if chosen else []
    for finding in findings:
        proof = finding["proof"]
        print(
            f"{name}/{finding['file']}:{finding['line']} {finding['rule']} "
            f"{finding['confidence']:.2f} {proof['verdict']} ({proof['rung']}) "
            f"{proof['seconds']:.1f}s: {proof['message']['text']}"
        )
    proofs = [finding["proof"] for finding in findings]
    counts = Counter(proof["verdict"] for proof in proofs)
    sure = sum(issue["confidence"] >= SURE for issue in issues)
    print(f"{name}: {len(issues)} findings, {sure} at {SURE} and more; asked: {dict(counts)}\n")
    return proofs


def _chosen(name: str, issues: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the findings to ask of; those without an id are remarks."""
    named = [issue for issue in issues if issue.get("id")]
    if name in WITH_SURE:
        return [issue for issue in named if issue["confidence"] >= SURE]
    return sorted(named, key=lambda issue: -issue["score"])[:MOST]


def _prove(folder: Path, names: list[str]) -> list[dict[str, Any]]:
    """Return the findings with their evidence."""
    command = [cost.python(), "-m", "jarvis_ls.cli.jsec", "prove", *names, str(folder), "--trust"]
    command += ["--quiet", "--format", "json", "--budget", str(SECONDS), "--min-confidence", "0"]
    with tempfile.TemporaryDirectory(prefix="jarvis-home-") as home:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            env={**os.environ, "JARVIS_HOME": home},
            encoding="utf-8",
        )
    if not done.stdout:
        raise RuntimeError(done.stderr)
    findings: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return findings


if __name__ == "__main__":
    sys.exit(main())

"""The ten places of bzip2 1.0.8 that were confirmed by hand, as `jsec prove` decides them.

Two can be brought about: `BZ2_bzerror(b, NULL)` by a caller, and the lost data of `fwrite` to a
full disk. The bounds of the other eight hold for all inputs, so that nothing may be reproduced
there, nor said to depend on a caller; what is not refuted stays open. The scan need not tell them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import cost, tree
from measure.jsec import scan
from measure.table import Table

SECONDS = 30
EXPECTED = {
    ("bzip2.c", 1126): "refuted",
    ("bzip2.c", 1153): "refuted",
    ("bzip2.c", 1341): "refuted",
    ("bzip2.c", 1734): "refuted",
    ("bzlib.c", 104): "refuted",
    ("bzlib.c", 1417): "refuted",
    ("bzlib.c", 1418): "refuted",
    ("bzlib.c", 1564): "depends_on_caller",
    ("bzip2recover.c", 482): "refuted",
    ("dlltest.c", 138): "reproduced",
}
DECISIVE = frozenset(EXPECTED.values())


def main() -> int:
    """Scan, prove, print the table, return the exit status."""
    with tree.copy_of("bzip2") as root:
        folder = root / "bzip2"
        issues = scan(folder, "--no-cache").issues
        chosen = {
            issue["id"]: (issue["file"], issue["line"])
            for issue in issues
            if (issue["file"], issue["line"]) in EXPECTED
        }
        proofs = _prove(folder, list(chosen)) if chosen else []
    right = wrong = 0
    for finding in proofs:
        place = finding["file"], finding["line"]
        verdict = finding["proof"]["verdict"]
        right += verdict == EXPECTED[place]
        wrong += verdict in DECISIVE and verdict != EXPECTED[place]
        text = finding["proof"]["message"]["text"]
        print(f"{place[0]}:{place[1]}  {verdict} ({finding['proof']['rung']}): {text}")
    told = set(chosen.values())
    silent = sum(place not in told for place, right_ in EXPECTED.items() if right_ == "refuted")
    seconds = [finding["proof"]["seconds"] for finding in proofs]
    table = Table(f"bzip2 1.0.8, {len(proofs)} of {len(EXPECTED)} places reported")
    table.at_most("decided wrongly", wrong, 0)
    table.note("no longer told, and nothing is wrong there", silent, "")
    table.at_least("decided rightly, or no longer told", right + silent, len(EXPECTED))
    table.note("CPU of a finding, median", statistics.median(seconds or [0.0]), "s")
    return table.finish()


def _prove(folder: Path, names: list[str]) -> list[dict[str, Any]]:
    """Return the findings with their evidence."""
    command = [cost.python(), "-m", "jarvis_ls.cli.jsec", "prove", *names, str(folder), "--trust"]
    command += ["--quiet", "--format", "json", "--budget", str(SECONDS)]
    with tempfile.TemporaryDirectory(prefix="jarvis-home-") as home:
        done = subprocess.run(
            command, capture_output=True, check=False, env={**os.environ, "JARVIS_HOME": home}
        )
    findings: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return findings


if __name__ == "__main__":
    sys.exit(main())

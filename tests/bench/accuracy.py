"""Recall and false alarms of jsec on small flawed programs and their repaired twins.

What was missed and what was reported wrongly is listed in the file that JARVIS_BENCH_ACCURACY
names, by default `.cache/accuracy.txt`. JARVIS_BENCH_FAMILIES ("121 476") takes only these
families, JARVIS_BENCH_PER_FAMILY that many flaws of each, JARVIS_BENCH_SEED other cases.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from measure.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "accuracy"))

from cases.tree import write_tree  # noqa: E402  (its folder is known only here)
from scoring import judge, rate, rates, report, scan, scan_with_cppcheck, table  # noqa: E402

PER_FAMILY = int(os.environ.get("JARVIS_BENCH_PER_FAMILY", "32"))
FAMILIES = {int(number) for number in os.environ.get("JARVIS_BENCH_FAMILIES", "").split()}
SEED = int(os.environ.get("JARVIS_BENCH_SEED", "1"))


def main() -> int:
    """Write the cases, scan them, print the tables, return the exit status."""
    with tempfile.TemporaryDirectory(prefix="jarvis-accuracy-") as name:
        folder = Path(name).resolve()
        write_tree(folder, SEED, PER_FAMILY, FAMILIES)
        verdicts = judge(folder, scan(folder))
        peer = judge(folder, scan_with_cppcheck(folder)) if shutil.which("cppcheck") else []
    listed = Path(os.environ.get("JARVIS_BENCH_ACCURACY", REPOSITORY / ".cache" / "accuracy.txt"))
    listed.parent.mkdir(parents=True, exist_ok=True)
    wrong = [str(verdict) for verdict in verdicts if not verdict.right]
    listed.write_text("\n".join([report(verdicts), "", *sorted(wrong)]) + "\n")
    print(report(verdicts))
    if peer:
        print(f"\n{table('the same cases', {'cppcheck': rate(peer)})}")
    print(f"\nWhat was missed and what is a false alarm: {listed}\n")

    whole = rate(verdicts)
    families = rates(verdicts, lambda row: f"CWE-{row.cwe:03}")
    limits = Table(f"{whole.flawed} flawed functions and {whole.sound} repaired twins, seed {SEED}")
    limits.at_least("recall", whole.recall, 0.75)
    limits.at_most("false-positive rate", whole.false_positives, 0.05)
    limits.at_least(
        "least recall minus false-positive rate of a family",
        min(one.margin for one in families.values()),
        0.2,
    )
    return limits.finish()


if __name__ == "__main__":
    sys.exit(main())

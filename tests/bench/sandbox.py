"""What a script costs beside its own time in workspaces of 2,000 and 10,000 files."""

from __future__ import annotations

import asyncio
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from jarvis_ls.runtime.sandbox.base import Script
from jarvis_ls.runtime.sandbox.ladder import Ladder
from measure.table import Table

ROUNDS = 5
MOST_SECONDS = {2_000: 0.3, 10_000: 1.0}


def main() -> int:
    """Run `true` in a workspace of each size, print the table, return the exit status."""
    table = Table("CPU seconds a script costs beside its own")
    with tempfile.TemporaryDirectory(prefix="jarvis-bench-", dir="/var/tmp") as name:
        asyncio.run(_measure(Path(name), table))
    return table.finish()


async def _measure(folder: Path, table: Table) -> None:
    sandbox = await Ladder(folder / "home").best()
    for files, most in MOST_SECONDS.items():
        root = folder / f"work-{files}"
        for number in range(files):
            path = root / f"d{number // 50}" / f"f{number}.c"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"int f{number};\n" * 20)
        script = Script("sh", "true", 60, session="bench")
        taken, used = [], []
        for _ in range(ROUNDS + 2):  # the first copies; the second may compare what was too new
            before, began = _cpu(), time.perf_counter()
            ran = await sandbox.run(script, [root])
            taken.append(time.perf_counter() - began)
            used.append(_cpu() - before)
            assert ran.exit == 0, ran
        where = f"{files:,} files, {ran.isolation}"
        print(f"{where}: first {taken[0]:.2f} s, {used[0]:.2f} CPU s")
        print(f"{where}: then {statistics.median(taken[2:]):.2f} s")
        table.at_most(f"{where}: CPU seconds", statistics.median(used[2:]), most)


def _cpu() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(
        resource.getrusage(kind).ru_utime + resource.getrusage(kind).ru_stime for kind in kinds
    )


if __name__ == "__main__":
    sys.exit(main())

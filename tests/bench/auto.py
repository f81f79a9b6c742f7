"""Auto mode killed at many moments: `python tests/bench/auto.py [POINTS]`.

Each run of `jarvis auto` is ended with SIGKILL after another line of its output and a random
moment, and resumed. No task that had ended may be asked for again, and nothing may be lost.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from tests.bench.measure.table import Table  # noqa: E402
from tests.cli.test_jarvis_command import place  # noqa: E402
from tests.support.auto_killing import Killed, count_lines, kill_and_resume  # noqa: E402

POINTS = 100
SEED = 20


def main(points: int) -> int:
    """Kill and resume, print the table, return 1 when a target is missed."""
    table = Table("Auto mode, killed and resumed")
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(_kill(Path(folder), points))
    killed = [run for run in found if run.was_killed]
    table.at_least("runs killed in their midst and resumed", len(killed), points, "runs")
    table.note("tasks that had ended by then", sum(len(run.finished) for run in killed), "tasks")
    table.note("different lines of output", len({run.lines for run in killed}), "lines")
    return table.finish()


async def _kill(folder: Path, points: int) -> list[Killed]:
    chance = random.Random(SEED)
    found: list[Killed] = []
    async with place(folder) as here:
        lines = await count_lines(here)
        while sum(run.was_killed for run in found) < points:
            found.append(await kill_and_resume(here, 1 + len(found) % (lines - 2), chance))
            print(len(found), found[-1].was_killed, file=sys.stderr)
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else POINTS))

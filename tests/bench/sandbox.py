"""What a script costs beside its own time in workspaces of 2,000 and 10,000 files.

Both on the clock and in CPU seconds, on each rung of this machine: the first script, whose copy is
prepared while the model thinks, the preparation itself, the scripts behind it, and one behind a
change of the user's and one of a script's. Elapsed time counts what else the machine does: it is
of use on a quiet one only. What a container engine takes to start and to remove a container is its
own: its elapsed time is told, and has no limit. Where the disk is an ext4 without a journal, copies
are slow for some minutes after many files were removed.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from jarvis_ls.runtime.sandbox.base import (  # noqa: E402
    NoSandbox,
    Rung,
    Sandbox,
    SandboxSettings,
    Script,
)
from jarvis_ls.runtime.sandbox.ladder import Ladder  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.support.container_engine import container_engine  # noqa: E402

ROUNDS = 5
RUNGS: tuple[Rung, ...] = ("engine", "bwrap", "landlock")
MOST_SECONDS = {2_000: 0.3, 10_000: 1.0}


def main() -> int:
    """Run `true` in a workspace of each size, print the table, return the exit status."""
    table = Table("What a script costs beside its own time, in seconds")
    with (
        container_engine(),
        tempfile.TemporaryDirectory(prefix="jarvis-bench-", dir="/var/tmp") as name,
    ):
        asyncio.run(_measure(Path(name), table))
    return table.finish()


async def _measure(folder: Path, table: Table) -> None:
    for rung in RUNGS:
        try:
            ladder = Ladder(folder / "home", SandboxSettings(rungs=(rung,)))
            await _measure_rung(folder, await ladder.best(), table)
        except NoSandbox as error:
            print(f"{rung}: {error}")


async def _measure_rung(folder: Path, sandbox: Sandbox, table: Table) -> None:
    for files, most in MOST_SECONDS.items():
        root = folder / f"{sandbox.name}-{files}"
        for number in range(files):
            path = root / f"d{number // 50}" / f"f{number}.c"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"int f{number};\n" * 20)
        where = f"{files:,} files, {sandbox.name}"
        prepared = await _prepare(sandbox, root)
        table.note(f"{where}: preparation, elapsed", prepared[0])
        table.note(f"{where}: preparation, CPU", prepared[1])
        first = await _cost(sandbox, root)  # it compares what was too new
        _elapsed(table, sandbox, f"{where}: first, elapsed", first[0], most)
        table.at_most(f"{where}: first, CPU", first[1], most)
        costs = [await _cost(sandbox, root) for _ in range(ROUNDS)]
        (root / "d0/f0.c").write_text("int changed;\n")
        costs += [await _cost(sandbox, root, "echo >d0/f1.c"), await _cost(sandbox, root)]
        elapsed, used = zip(*costs, strict=True)
        _elapsed(table, sandbox, f"{where}: then, elapsed", statistics.median(elapsed), most)
        table.at_most(f"{where}: then, CPU", statistics.median(used), most)
        table.at_most(f"{where}: most CPU", max(used), most)


def _elapsed(table: Table, sandbox: Sandbox, what: str, seconds: float, most: float) -> None:
    if sandbox.name == "engine":
        table.note(what, seconds)
    else:
        table.at_most(what, seconds, most)


async def _prepare(sandbox: Sandbox, root: Path) -> tuple[float, float]:
    """Prepare the first script of a session; return the elapsed and CPU seconds."""
    before, began = _cpu(), time.perf_counter()
    await sandbox.prepare([root], "bench")
    return time.perf_counter() - began, _cpu() - before


async def _cost(sandbox: Sandbox, root: Path, text: str = "true") -> tuple[float, float]:
    """Run a script; return its elapsed and CPU seconds."""
    before, began = _cpu(), time.perf_counter()
    ran = await sandbox.run(Script("sh", text, 60, session="bench"), [root])
    assert ran.exit == 0, ran
    return time.perf_counter() - began, _cpu() - before


def _cpu() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(
        resource.getrusage(kind).ru_utime + resource.getrusage(kind).ru_stime for kind in kinds
    )


if __name__ == "__main__":
    sys.exit(main())

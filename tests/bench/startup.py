"""What a start costs: `python tests/bench/startup.py`.

From the start of the process to the answer of `initialize` and to the first diagnostic, and the
memory of the idle server with its analysis process.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import psutil

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from tests.bench.editor import published  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.lsp.wire import OURS, Wire  # noqa: E402

RUNS = 7
TEXT = "#include <stdlib.h>\nvoid f(char *p) { free(p); free(p); }\n"


def main() -> int:
    """Measure, print the table, return 1 when a target is missed."""
    initialized, shown, memory = [], [], []
    for _ in range(RUNS):
        started = time.perf_counter()
        server = Wire(OURS)
        try:
            server.initialize()
            initialized.append(time.perf_counter() - started)
            server.open("file:///bench/a.c", TEXT)
            assert published(server, "file:///bench/a.c", 1) == 1
            shown.append(time.perf_counter() - started)
            time.sleep(1)
            memory.append(used(server))
        finally:
            server.process.kill()
            server.process.wait()
    table = Table("What a start costs")
    table.at_most("`initialize` answered, median", statistics.median(initialized), 0.6, "s")
    table.at_most("first diagnostic, median", statistics.median(shown), 1.0, "s")
    table.at_most("idle server with its analysis process", max(memory), 90, "MB")
    return table.finish()


def used(server: Wire) -> float:
    """Memory of the server and its processes in MB; what they share counts once."""
    process = psutil.Process(server.process.pid)
    family = [process, *process.children(recursive=True)]
    return sum(one.memory_full_info().pss for one in family) / 1e6


if __name__ == "__main__":
    sys.exit(main())

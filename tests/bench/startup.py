"""From starting the language server to its first answer and first diagnostic; memory when idle."""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

from measure import tree
from measure.language_client import LanguageClient
from measure.table import Table

RUNS = 7
IDLE_SECONDS = 2.0


def main() -> int:
    """Measure, print the table, return the exit status."""
    with tree.copy_of("bzip2") as root:
        runs = [_run(root) for _ in range(RUNS)]
    initialized, diagnosed, memory = (
        statistics.median(values) for values in zip(*runs, strict=True)
    )
    table = Table(f"language server, median of {RUNS} starts")
    table.at_most("start to the answer of initialize", initialized, 0.6, "s")
    table.at_most("start to the first diagnostic", diagnosed, 1.0, "s")
    table.at_most("memory when idle, with its workers", memory, 90, "MB")
    return table.finish()


def _run(root: Path) -> tuple[float, float, float]:
    file = root / "bzip2" / "bzip2recover.c"
    client = LanguageClient()
    client.initialize(root, workspaceScan=False, debounce=0)
    initialized = time.perf_counter() - client.began
    client.open(file.as_uri(), file.read_text(encoding="utf-8"))
    diagnosed = client.diagnostics(file.as_uri(), 0) - client.began
    time.sleep(IDLE_SECONDS)
    memory = client.memory()
    client.close()
    return initialized, diagnosed, memory


if __name__ == "__main__":
    sys.exit(main())

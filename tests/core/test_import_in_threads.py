"""Libraries that are imported on first use may be so in two threads at the same time."""

from __future__ import annotations

import subprocess
import sys

_THREADS = """
import sys, threading
from jarvis_ls.core.globs import Globs

sys.setswitchinterval(1e-6)
begin = threading.Barrier(6)
read = []

def first(patterns):
    begin.wait()
    read.append(Globs(patterns, lenient=True).match_below("b.c"))

threads = [threading.Thread(target=first, args=[["*.c"] * (n % 2)]) for n in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(read))
"""


def test_patterns_of_files_are_read_for_the_first_time_by_several_threads() -> None:
    for _ in range(6):
        run = subprocess.run(
            [sys.executable, "-c", _THREADS], capture_output=True, text=True, check=False
        )
        assert (run.stdout, run.returncode) == ("6\n", 0), run.stderr

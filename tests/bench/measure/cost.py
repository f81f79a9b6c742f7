"""What running a program costs: processor seconds, seconds on the clock, memory at its highest."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_LOOK_EVERY = 0.02


@dataclass(frozen=True)
class Cost:
    """One run of a program with all processes below it."""

    cpu: float
    """Processor seconds, user and system."""
    seconds: float
    """Seconds on the clock."""
    memory: float
    """Megabytes of all its processes together, at the highest; what they share counts once."""
    finished: bool
    """False when it was ended at its limit of processor seconds."""
    output: bytes
    """What it wrote on standard output."""


def run(
    command: Sequence[str | Path],
    cpu_limit: float = 0,
    cwd: Path | None = None,
    package: Path | None = None,
) -> Cost:
    """Run a program to its end, or until it used `cpu_limit` processor seconds (0: no limit).

    What it imports of ours lies in `package` when one is given, otherwise where the sources are.
    Raises `RuntimeError` with what it wrote on standard error when it ends with another status
    than 0.
    """
    before = os.times()
    began = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**environment(), **({"PYTHONPATH": str(package)} if package else {})},
    )
    watch = _Watch(process.pid, cpu_limit)
    output, errors = process.communicate()
    seconds = time.perf_counter() - began
    watch.stop()
    after = os.times()
    if process.returncode != 0 and not watch.limit_reached:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}:\n{errors.decode()}")
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return Cost(cpu, seconds, watch.memory / 1e6, not watch.limit_reached, output)


@functools.cache
def environment() -> dict[str, str]:
    """The environment, with a folder for byte code: an installed program has its own, and is not
    compiled anew with each start. The first run of a program fills it."""
    folder = tempfile.mkdtemp(prefix="jarvis-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def python() -> str:
    """The interpreter that runs the benchmarks: the environment's."""
    return sys.executable


class _Watch(threading.Thread):
    """Looks at a process and those below it until it is told to stop."""

    def __init__(self, pid: int, cpu_limit: float) -> None:
        super().__init__(daemon=True)
        self.memory = 0
        self.limit_reached = False
        self._process = psutil.Process(pid)
        self._cpu_limit = cpu_limit
        self._done = threading.Event()
        self.start()

    def stop(self) -> None:
        self._done.set()
        self.join()

    def run(self) -> None:
        while not self._done.wait(_LOOK_EVERY):
            try:
                family = [self._process, *self._process.children(recursive=True)]
            except psutil.NoSuchProcess:
                return
            self.memory = max(self.memory, sum(_memory(member) for member in family))
            if self._cpu_limit and sum(_cpu(member) for member in family) > self._cpu_limit:
                self.limit_reached = True
                for member in family:
                    _end(member)


def _memory(process: psutil.Process) -> int:
    """Bytes; a page that n processes share counts one n-th for each."""
    try:
        return int(process.memory_full_info().pss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0
    return float(times.user + times.system)


def _end(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return

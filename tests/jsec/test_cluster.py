"""`jsec scan --scheduler`: the findings of one machine, on the workers of a Dask scheduler."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.patience import HANGS

pytestmark = pytest.mark.watches()

HEADER = "#include <stdlib.h>\nvoid release(char *p);\nextern int limit;\n"
FILES = {
    "util.h": HEADER,
    "util.c": '#include "util.h"\nint limit = 4;\nvoid release(char *p) { free(p); }\n',
    "bad.c": '#include "util.h"\nvoid twice(char *p) { release(p); free(p); }\n',
    "nul.c": "int a;\0\n",
    "locale.c": b"/* \xff */ int b;\n",
    "one.rs": "pub fn f(v: &[u8]) -> u8 { unsafe { *v.get_unchecked(9) } }\n",
    **{
        f"many/{n}.c": f"#include <string.h>\nvoid f{n}(char *s) {{ char a[{n}]; strcpy(a, s); }}\n"
        for n in range(4, 24)
    },
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


class Dask:
    """A scheduler and workers, as their documentation starts them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        words = ("--host", "127.0.0.1", "--port", "0", "--dashboard-address", ":0")
        self._start("scheduler", *words, "--scheduler-file", str(file))
        deadline = time.monotonic() + HANGS
        while not file.exists() or not file.read_text().strip():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        self.address = json.loads(file.read_text())["address"]

    def worker(self, **environment: str) -> subprocess.Popen[bytes]:
        """Start one with one thread; what it keeps is below the folder."""
        words = ("--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder))
        return self._start("worker", self.address, "--no-nanny", *words, **environment)

    def _start(self, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words],
                stdout=log,
                stderr=log,
                env={**os.environ, "TMPDIR": str(self.folder), **environment},
            )
        self.processes.append(process)
        return process

    def leftovers(self) -> list[str]:
        """What scans have left on the machines: folders and analysis processes."""
        children = [c for p in self.processes if p.poll() is None for c in _children(p.pid)]
        return [*map(str, self.folder.glob("jsec-host-*")), *children]

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


def _children(pid: int) -> list[str]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return [" ".join(c.cmdline()) for c in psutil.Process(pid).children(recursive=True)]
    return []


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    started = Dask(tmp_path / "dask")
    try:
        yield started
    finally:
        started.close()


def command(root: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "jarvis_ls.cli.jsec", "scan", str(root), "--format", "json"),
        *("--min-confidence", "0", "--quiet", *more),
    ]


def environment(root: Path) -> dict[str, str]:
    return {**os.environ, "JARVIS_HOME": str(root.parent / "home")}


def scan(root: Path, *more: str, status: int = 0) -> dict[str, Any]:
    done = subprocess.run(
        command(root, *more),
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
        env=environment(root),
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return without_times(json.loads(done.stdout)) if status == 0 else {"error": done.stderr}


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    return json.loads(re.sub(r'"(seconds|cached)": [\d.]+', r'"\1": 0', json.dumps(report)))


def test_workers_find_what_one_machine_finds_in_its_order(project: Path, dask: Dask) -> None:
    here = scan(project, "--no-cache")
    assert {finding["rule"] for finding in here["issues"]} >= {"double-free"}
    dask.worker()
    dask.worker()
    there = scan(project, "--no-cache", "--scheduler", dask.address)
    assert there == here
    assert dask.leftovers() == []
    cached = scan(project, "--scheduler", dask.address)
    assert cached["issues"] == here["issues"]
    assert scan(project, "--scheduler", dask.address)["issues"] == here["issues"]
    assert scan(project)["issues"] == here["issues"]


def test_files_that_a_worker_does_not_have_are_sent(
    project: Path, dask: Dask, tmp_path: Path
) -> None:
    """The worker sees another folder under the name of the project."""
    here = scan(project, "--no-cache")
    empty = tmp_path / "empty"
    empty.mkdir()
    bind = ("--ro-bind", "/", "/", "--dev", "/dev", "--bind", str(dask.folder), str(dask.folder))
    words = ("bwrap", *bind, "--bind", str(empty), str(project), sys.executable, "-m", "dask")
    more = ("--nthreads", "1", "--no-dashboard", "--local-directory", str(dask.folder))
    with (dask.folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [*words, "worker", dask.address, "--no-nanny", *more],
            stdout=log,
            stderr=log,
            env={**os.environ, "TMPDIR": str(dask.folder)},
        )
    dask.processes.append(process)
    assert scan(project, "--no-cache", "--scheduler", dask.address) == here


async def test_a_worker_that_is_killed_costs_nothing(project: Path, dask: Dask) -> None:
    here = scan(project, "--no-cache")
    for _ in range(3):
        dask.worker()
    process = await asyncio.create_subprocess_exec(
        *command(project, "--no-cache", "--scheduler", dask.address),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(project),
    )
    busy = dask.processes[1:]
    deadline = time.monotonic() + HANGS
    while not any(_children(worker.pid) for worker in busy):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
    for worker in busy[:2]:
        worker.send_signal(signal.SIGKILL)
        await asyncio.sleep(0.5)
    out, err = await asyncio.wait_for(process.communicate(), HANGS)
    assert process.returncode == 0, err.decode()
    assert without_times(json.loads(out)) == here


async def test_ctrl_c_and_a_killed_scan_leave_the_workers_clean(project: Path, dask: Dask) -> None:
    worker = dask.worker()
    for end in (signal.SIGINT, signal.SIGKILL):
        process = await asyncio.create_subprocess_exec(
            *command(project, "--no-cache", "--scheduler", dask.address),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment(project),
        )
        deadline = time.monotonic() + HANGS
        while not _children(worker.pid):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        process.send_signal(end)
        await asyncio.wait_for(process.communicate(), HANGS)
        while dask.leftovers():
            assert time.monotonic() < deadline + HANGS, dask.leftovers()
            await asyncio.sleep(0.1)


def test_what_keeps_a_cluster_from_scanning_is_one_line(project: Path, dask: Dask) -> None:
    gone = scan(project, "--scheduler", "tcp://127.0.0.1:1", status=2)["error"]
    assert "The scheduler at tcp://127.0.0.1:1 cannot be reached" in gone
    assert "local:N" in scan(project, "--scheduler", "local:0", status=2)["error"]
    other = dask.folder / "other" / "jarvis_ls"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    dask.worker(PYTHONPATH=str(other.parent))
    told = scan(project, "--scheduler", dask.address, status=2)["error"]
    assert f"No worker of the scheduler at {dask.address} answers" in told


def test_workers_of_this_machine(project: Path) -> None:
    assert scan(project, "--no-cache", "--scheduler", "local:2") == scan(project, "--no-cache")

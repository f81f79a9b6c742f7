"""Processes of a scan that somebody ends: the files in hand are done again, and nothing is lost."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from folders import FLAWED

from jarvis_ls.core.errors import WorkerGone
from jarvis_ls.core.process import Worker
from jarvis_ls.jsec.findings.failure_notes import FAILED
from jarvis_ls.jsec.scan import worker_pool
from jarvis_ls.jsec.scan.flow_scan import follow
from jarvis_ls.jsec.scan.result import FileReport, ScanResult
from jarvis_ls.jsec.scan.scanner import Effort, Progress, scan
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.scan.worker_pool import Pool
from jarvis_ls.jsec.settings.settings import Settings
from tests.support.patience import HANGS

pytestmark = pytest.mark.watches()

FILES = 5
TWICE = "void twice(char *p) {\n    free(p);\n    free(p);\n}\n"


class Killer:
    """Ends the process of a scan each time another file is finished, at most once a file."""

    def __init__(self) -> None:
        self.killed = 0

    def __call__(self, _progress: Progress) -> None:
        for process in psutil.Process().children():
            # One that has ended since it was listed needs no killing.
            with suppress(ProcessLookupError, psutil.NoSuchProcess):
                leads_session = os.getsid(process.pid) == process.pid  # as a worker process does
                if process.status() != psutil.STATUS_ZOMBIE and leads_session:
                    process.kill()
                    self.killed += 1


def scanned(root: Path, killer: Killer | None, *, flow: bool) -> ScanResult:
    settings = Settings(flow=flow)
    effort = Effort(1, HANGS)
    return asyncio.run(scan(list_sources(root, settings), settings, effort=effort, progress=killer))


@pytest.mark.parametrize("flow", [False, True])
def test_a_scan_whose_processes_are_killed_tells_the_same(tmp_path: Path, flow: bool) -> None:
    for number in range(FILES):
        (tmp_path / f"f{number}.c").write_text(FLAWED.replace("copy", f"copy{number}"))
    killer = Killer()
    result, whole = scanned(tmp_path, killer, flow=flow), scanned(tmp_path, None, flow=flow)
    assert killer.killed >= FILES - 2  # one may be between two processes
    assert not result.skipped and not result.notes
    assert result.findings and result.findings == whole.findings


def test_functions_that_are_only_many_are_not_followed_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by itself read what was known of all others: a file of 1 MB took ten minutes."""
    many = "".join(f"int f{i}(int n) {{ return f{i // 2}(n + {i}); }}\n" for i in range(1, 1500))
    (tmp_path / "a.c").write_text(f"#include <stdlib.h>\n{many}{TWICE}")
    call, asked = Worker.call, []

    async def counted(
        worker: Worker, method: str, *arguments: Any, timeout: float | None = None
    ) -> Any:
        asked.append(method)
        if method == "follow" and len(arguments) == 1:  # all together take too long
            raise WorkerGone("the analysis took too long", timed_out=True)
        return await call(worker, method, *arguments, timeout=timeout)

    monkeypatch.setattr(Worker, "call", counted)
    result = scanned(tmp_path, None, flow=True)
    assert asked.count("follow") < 10
    assert [finding.rule for finding in result.findings] == ["double-free"]
    assert not result.notes and not result.skipped


class _EndsWhenAllIsFollowed(Worker):
    """A process that follows parts of a file, and ends whenever it follows all of it."""

    async def start(self) -> None:
        self.starts += 1

    async def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        if method == "functions":
            return ["f"]
        if method == "settle":
            report, _, _, notes = arguments
            return replace(report, notes=notes)
        if method == "follow" and not (len(arguments) == 2 and arguments[1]):
            raise WorkerGone("the analysis process ended")
        return None


def test_a_file_whose_faults_are_lost_with_the_process_is_told_and_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def told() -> list[FileReport]:
        pool = Pool(1, 10)
        reports = {"a.c": FileReport("a.c")}
        return [report async for report in follow(pool, {"a.c": "unit"}, reports)]

    monkeypatch.setattr(worker_pool, "Worker", _EndsWhenAllIsFollowed)
    (report,) = asyncio.run(told())
    assert report.notes == (FAILED,)
    assert report.is_cut, "the cache would keep it"

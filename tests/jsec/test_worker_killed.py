"""Processes of a scan that somebody ends: the files in hand are done again, and nothing is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil
import pytest
from folders import FLAWED

from jarvis_ls.jsec.scan.result import ScanResult
from jarvis_ls.jsec.scan.scanner import Effort, Progress, scan
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.settings.settings import Settings
from tests.support.patience import HANGS

FILES = 5
WORKER = "jarvis_ls.jsec.worker"


class Killer:
    """Ends the process of a scan each time another file is finished, at most once a file."""

    def __init__(self) -> None:
        self.killed = 0

    def __call__(self, _progress: Progress) -> None:
        for process in psutil.Process().children():
            if process.status() != psutil.STATUS_ZOMBIE and WORKER in process.cmdline():
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

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from folders import Scan

from jarvis_ls.jsec.scan.cache import Cache
from jarvis_ls.jsec.scan.result import ScanResult
from jarvis_ls.jsec.scan.scanner import SECONDS_PER_FILE, Effort, scan
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.settings.settings import load_settings


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder of its own for every test."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("JARVIS_HOME", str(home))
    return home


@pytest.fixture
def scan_folder() -> Scan:
    """Scan a folder the way the command does."""

    def run(root: Path, *, cached: bool = False, **options: Any) -> ScanResult:
        settings = load_settings(root)
        listing = list_sources(root, settings)
        cache = Cache(root, settings.patterns, settings.functions) if cached else None
        effort = Effort(options.pop("jobs", 1), options.pop("seconds", SECONDS_PER_FILE))
        return asyncio.run(scan(listing, settings, effort=effort, cache=cache, **options))

    return run

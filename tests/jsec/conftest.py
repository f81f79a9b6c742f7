from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from folders import Scan

from jarvis_ls.jsec.cache import Cache
from jarvis_ls.jsec.result import ScanResult
from jarvis_ls.jsec.scan import scan
from jarvis_ls.jsec.settings import load_settings
from jarvis_ls.jsec.walk import list_sources


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
        options.setdefault("jobs", 1)
        return asyncio.run(scan(listing, settings, cache=cache, **options))

    return run

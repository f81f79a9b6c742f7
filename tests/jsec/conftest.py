from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.jsec.cache import Cache
from jarvis_ls.jsec.result import ScanResult
from jarvis_ls.jsec.scan import scan
from jarvis_ls.jsec.settings import load_settings
from jarvis_ls.jsec.walk import list_sources

Scan = Callable[..., ScanResult]

FLAWED = """\
#include <string.h>
void copy(const char *from) {
    char to[4];
    strcpy(to, from);
}
"""


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
        cache = Cache(root, settings.patterns) if cached else None
        options.setdefault("jobs", 1)
        return asyncio.run(scan(listing, settings, cache=cache, **options))

    return run


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """Put files below `root`."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root

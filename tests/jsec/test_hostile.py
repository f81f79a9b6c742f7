"""A hundred hostile folders: each scan ends in time, tells its one sure finding, reads and
writes nothing outside, and every report of it can be written."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest
from hostile import CANARY, IDEAS, workspace

from jarvis_ls.core.errors import ConfigError, JarvisError
from jarvis_ls.jsec import records
from jarvis_ls.jsec.cache import Cache
from jarvis_ls.jsec.report.html import render_html
from jarvis_ls.jsec.report.json import render_json, render_jsonl
from jarvis_ls.jsec.report.markdown import render_markdown
from jarvis_ls.jsec.report.sarif import render_sarif
from jarvis_ls.jsec.report.text import render_text
from jarvis_ls.jsec.result import ScanResult
from jarvis_ls.jsec.scan import scan
from jarvis_ls.jsec.settings import Settings, load_settings
from jarvis_ls.jsec.walk import list_sources
from tests.support.patience import HANGS

RENDERERS = (render_json, render_jsonl, render_sarif, render_markdown, render_html, render_text)
BATCHES = 10


def scanned(root: Path, jobs: int) -> ScanResult:
    try:
        settings = load_settings(root)
    except ConfigError as error:
        assert ".jarvis/jsec.toml" in str(error)
        settings = Settings()
    listing = list_sources(root, settings)
    try:
        cache = Cache(root)
    except JarvisError:
        cache = None
    return asyncio.run(scan(listing, settings, jobs=jobs, cache=cache, seconds=HANGS))


@pytest.mark.parametrize("batch", range(BATCHES))
def test_hostile_folders(tmp_path: Path, batch: int) -> None:
    for seed in range(batch * 100 // BATCHES, (batch + 1) * 100 // BATCHES):
        with workspace(tmp_path, seed) as root:
            outside = sorted((tmp_path / "outside").iterdir())
            result = scanned(root, 1 + seed % 2)
            told = [one for one in result.shown if one.file == "good.c"]
            assert told, f"workspace {seed}"
            for render in RENDERERS:
                report = render(result, result.shown)
                assert CANARY not in report
                assert "root:x:0" not in report
                report.encode()
            json.loads(render_json(result, result.shown))
            try:
                records.write(root, result)
            except JarvisError as error:
                assert ".jarvis" in str(error)
            assert sorted((tmp_path / "outside").iterdir()) == outside
            named = {one.path for one in [*result.skipped, *result.notes]}
            for name in ("pipe.c", "device.c", "large.c", "sparse.h", "escape.c", "binary.c"):
                if os.path.lexists(root / name):
                    assert name in named, f"workspace {seed}: {name} is not named"
        remove(root)


def test_a_function_whose_name_is_torn_off_is_nothing_to_look_for(tmp_path: Path) -> None:
    """An empty name stands everywhere in a file, and that without end."""
    torn = "static pthread_mutex_t lock;\nvo  pub fnvoid) {\n    pthread_mutex_lock(&lock);\n}\n"
    (tmp_path / "torn.cpp").write_text(torn)
    result = scanned(tmp_path, 1)
    assert not result.skipped and not result.notes


def remove(root: Path) -> None:
    if (root / "locked").exists():
        (root / "locked").chmod(0o755)
    shutil.rmtree(root, ignore_errors=True)


def test_every_idea_is_tried() -> None:
    import random

    tried = {idea.__name__ for seed in range(100) for idea in random.Random(seed).sample(IDEAS, 4)}
    assert tried == {idea.__name__ for idea in IDEAS}

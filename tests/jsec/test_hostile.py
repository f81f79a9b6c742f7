"""A hundred hostile folders: each scan ends in time, tells its one sure finding, reads and
writes nothing outside, and every report of it can be written."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from folders import FLAWED

from hostile import CANARY, IDEAS, workspace
from jarvis_ls.core.errors import ConfigError, JarvisError
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.report.html import render_html
from jarvis_ls.jsec.report.json import render_json, render_jsonl
from jarvis_ls.jsec.report.markdown import render_markdown
from jarvis_ls.jsec.report.sarif import render_sarif
from jarvis_ls.jsec.report.text import render_text
from jarvis_ls.jsec.scan import records
from jarvis_ls.jsec.scan.cache import Cache
from jarvis_ls.jsec.scan.result import ScanResult
from jarvis_ls.jsec.scan.scanner import Effort, scan
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.settings.settings import Settings, load_settings
from tests.support.patience import HANGS

RENDERERS = (render_json, render_jsonl, render_sarif, render_markdown, render_html, render_text)
Render = Callable[[ScanResult, Sequence[Finding]], str]


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
    return asyncio.run(scan(listing, settings, effort=Effort(jobs, HANGS), cache=cache))


@pytest.mark.parametrize("seed", range(0, 100, 10))
def test_hostile_folders(tmp_path: Path, seed: int) -> None:
    """Ten folders, with every report of each."""
    check(tmp_path, seed, RENDERERS)


@pytest.mark.watches()
@pytest.mark.parametrize("batch", range(10))
def test_further_hostile_folders(tmp_path: Path, batch: int) -> None:
    """Ninety more, with one report of each."""
    for seed in range(10 * batch + 1, 10 * batch + 10):
        check(tmp_path / str(seed), seed, (render_json,))


def check(tmp_path: Path, seed: int, renderers: tuple[Render, ...]) -> None:
    """Scan one hostile folder and render its reports."""
    tmp_path.mkdir(exist_ok=True)
    with workspace(tmp_path, seed) as root:
        outside = sorted((tmp_path / "outside").iterdir())
        result = scanned(root, 1 + seed % 2)
        told = [finding for finding in result.shown if finding.file == "good.c"]
        assert told, f"workspace {seed}"
        for render in renderers:
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
        named = {place.path for place in [*result.skipped, *result.notes]}
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


NUL_NOTE = "the file has NUL characters"


@pytest.mark.parametrize(
    "text",
    [
        "\0" + FLAWED,
        FLAWED.replace(" ", "\0", 1),
        FLAWED.replace("\n", "\0\n"),
        "/* \0 */\n" + FLAWED,
        "/* 注释：这里什么都没有 \0 */\n" * 40 + FLAWED,
    ],
)
def test_a_nul_does_not_hide_a_source(tmp_path: Path, text: str) -> None:
    """Compilers take such a file, so it is scanned, and the report says so."""
    (tmp_path / "good.c").write_text(FLAWED)
    (tmp_path / "nul.c").write_text(text)
    result = scanned(tmp_path, 1)
    assert not result.skipped
    assert [(place.path, NUL_NOTE in place.reason) for place in result.notes] == [("nul.c", True)]
    good, strange = ([f for f in result.shown if f.file == name] for name in ("good.c", "nul.c"))
    assert [(f.rule, f.confidence) for f in strange] == [(f.rule, f.confidence) for f in good]


def test_data_is_no_source(tmp_path: Path) -> None:
    program = Path(shutil.which("true") or "/bin/true").read_bytes()
    (tmp_path / "program.c").write_bytes(program)
    (tmp_path / "cut.c").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 30)
    (tmp_path / "wide.c").write_bytes(FLAWED.encode("utf-16-le"))
    (tmp_path / "marked.c").write_bytes(FLAWED.encode("utf-16"))
    result = scanned(tmp_path, 1)
    assert {(f.path, f.reason) for f in result.skipped} == {
        (name, "binary") for name in ("program.c", "cut.c", "wide.c")
    }
    assert {f.file for f in result.shown} == {"marked.c"}

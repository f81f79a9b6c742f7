"""Repair of failing tests in an editor: patches come back, and nothing of the user's is written."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import running
from tests.lsp.test_repair import SETTINGS
from tests.support.model_server import ModelServer
from tests.support.repair_bench import MENDED, PYTHON
from tests.support.repositories import git, make_repository, write

pytestmark = [
    pytest.mark.watches(),
    pytest.mark.skipif(shutil.which("python3") is None, reason="needs python3"),
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("JARVIS_HOME", str(tmp_path / "home"))
    return make_repository(tmp_path / "work", PYTHON)


@pytest.fixture
async def model(project: Path) -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        (project.parent / "home" / "config.toml").write_text(SETTINGS.format(url=server.url))
        yield server


async def test_a_patch_that_passes_comes_back_and_nothing_is_written(
    project: Path, model: ModelServer
) -> None:
    path, search, replace = MENDED
    plan = {"diagnosis": "It skips one.", "cause": path, "files": []}
    edit = {"file": path, "search": search, "replace": replace}
    patch = {"id": "fix-1", "description": "Counts\nall.", "edits": [edit]}
    model.say(json.dumps(plan))
    model.say(json.dumps({"status": "patched", "candidates": [patch]}))
    async with running(project) as editor:
        told = await editor.request("jarvis/testRepair", {"hint": "Keep the signature."})
        assert told.status == "candidates"
        assert told.summary == "Patches with which all tests pass: 1."
        (candidate,) = told.candidates
        assert (candidate.id, candidate.description) == ("fix-1", "Counts all.")
        (file,) = candidate.files
        assert file.uri == (project / path).as_uri()
        assert file.text == PYTHON[path].replace(search, replace)
        assert "+    for price in prices:" in candidate.diff
        assert git(project, "status", "--porcelain") == ""
        assert "Keep the signature." in str(model.requests[-1].body["messages"])
        write(project, {path: file.text})
        answer = await editor.command("jarvis.testRepair")
        assert answer["status"] == "passed" and answer["patches"] == {}
        assert answer["summary"] == "No test fails; tests that ran: 3."


async def test_it_is_said_when_nothing_can_be_repaired(project: Path, model: ModelServer) -> None:
    write(project, {".tester/config.yaml": "recursive_fix: {allowed_paths: [docs/]}\n"})
    model.say(json.dumps({"diagnosis": "It skips one.", "cause": "src/money.py", "files": []}))
    async with running(project, locale="zh-cn") as editor:
        told = await editor.request("jarvis/testRepair", {})
        assert told.status == "unfixable" and told.candidates == []
        assert told.summary.startswith("未修复")


async def test_without_a_model_or_trust_nothing_is_run(project: Path) -> None:
    write(project, {"tests/test_money.py": "open('canary', 'w')\n"})
    async with running(project) as editor:
        told = await editor.request("jarvis/testRepair", {})
        assert told.status == "no_model" and "needs a model" in told.summary
    async with running(project, options={"trusted": False}) as editor:
        with pytest.raises(JsonRpcException, match="trust the workspace first"):
            await editor.request("jarvis/testRepair", {})
    assert not list(project.parent.rglob("canary"))

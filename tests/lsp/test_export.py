"""Reports that an editor asks for: about everything, or they say what is missing."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest
from lsprotocol import types

from tests.lsp.editor import CLEAN, DOUBLE_FREE, running
from tests.lsp.test_fix_request import ACROSS, written

pytestmark = pytest.mark.watches()

NEVER_ENDING = (
    sys.executable,
    "-X",
    "utf8",
    "-c",
    "import asyncio, sys; from jarvis_ls.lsp.scanning import Scanning; "
    "Scanning.ended = lambda _: asyncio.Event().wait(); "
    "from jarvis_ls.cli.language_server import main; sys.exit(main())",
)
"""A server that never has everything."""

FORMATS = ("json", "jsonl", "sarif", "markdown", "html")


async def test_reports_are_exported_in_every_format(tmp_path):
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        folder.mkdir()
        (folder / "a.c").write_text(DOUBLE_FREE)
    async with running(first, second) as editor:
        await editor.request("jarvis/scanWorkspace", {})
        for form in FORMATS:
            path = first / f"report.{form}"
            result = await editor.request("jarvis/export", {"format": form, "path": str(path)})
            assert (result.path, result.findings, result.partial) == (str(path), 2, "")
            assert "double-free" in path.read_text()
        report = json.loads((first / "report.json").read_text())
        assert [issue["file"] for issue in report["issues"]] == ["one/a.c", "two/a.c"]
        path = first / "again.json"
        answer = await editor.command("jarvis.exportReport", "json", str(path))
        assert path.exists() and answer["findings"] == 2


def export(editor, path, **more):
    params = {"format": path.suffix[1:], "path": str(path), **more}
    return editor.request("jarvis/export", params)


async def test_a_report_waits_for_the_scan_and_for_the_values(tmp_path):
    for number in range(5):
        written(tmp_path, f"{number}.c", ACROSS)
    path = tmp_path / "report.json"
    async with running(tmp_path, options={"trusted": True}) as editor:
        _, result = await asyncio.gather(
            editor.request("jarvis/scanWorkspace", {}), export(editor, path)
        )
        issues = json.loads(path.read_text())["issues"]
        assert sum(one["rule"] == "double-free" for one in issues) == 5
        assert (result.findings, result.partial) == (len(issues), "")


async def test_what_only_open_documents_hold_is_told_as_that(tmp_path):
    uri = written(tmp_path, "a.c", CLEAN)
    written(tmp_path, "b.c", DOUBLE_FREE)
    async with running(tmp_path, options={"trusted": True}) as editor:
        editor.open(uri, ACROSS)
        for form in FORMATS:
            path = tmp_path / f"report.{form}"
            result = await export(editor, path)
            assert "only files open in the editor" in result.partial
            assert "double-free" in path.read_text(), "which is found by following values"
            if form != "jsonl":
                assert result.partial in path.read_text()


async def test_it_is_said_in_the_language_of_the_editor(tmp_path):
    uri = written(tmp_path, "a.c", CLEAN)
    async with running(tmp_path, locale="zh-cn") as editor:
        editor.open(uri, CLEAN)
        result = await export(editor, tmp_path / "report.html")
        assert "只包含编辑器中打开的文件" in result.partial
        assert result.partial in (tmp_path / "report.html").read_text("utf-8")


async def test_a_report_that_is_cancelled_is_not_written(tmp_path):
    path = tmp_path / "report.html"
    async with running(tmp_path, command=NEVER_ENDING) as editor:
        steps = editor.client.progress_reports["mine"] = []
        asked = asyncio.ensure_future(export(editor, path, workDoneToken="mine"))
        await editor.until(lambda: steps)
        editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams("mine"))
        assert (await editor.soon(asked)).cancelled
        assert not path.exists()

"""Repairing a finding in the editor: the gates run real programs, the model is a scripted one."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import Editor, at, running
from tests.lsp.test_prove import FLAWED, LINE, TRUSTED, needs_compiler, opened
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.watches()

COPY = "    strcpy(place, text);\n"
RIGHT = (
    '    if (strlen(text) >= sizeof place) {\n        puts("too long");\n        return;\n    }\n'
)
DONE = json.dumps({"status": "repaired", "cause": "No bound.", "change": "Checks it."})
CANNOT = json.dumps({"status": "cannot", "cause": "Unclear.", "change": "None."})
SETTINGS = """\
[model_providers.scripted]
base = "{url}"
needs_key = false
[model_groups.balanced]
models = ["scripted/scripted"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.c").write_text(FLAWED)
    return folder


@pytest.fixture
async def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ModelServer]:
    """A model that the user has set up."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("JARVIS_HOME", str(home))
    async with ModelServer() as server:
        (home / "config.toml").write_text(SETTINGS.format(url=server.url))
        yield server


def script(model: ModelServer) -> None:
    """Let the model change the copy rightly."""
    diffs = [{"search": COPY, "replace": RIGHT + COPY}]
    model.call("edit_file", {"files": [{"file_path": "a.c", "diffs": diffs}]})
    model.say(DONE)


async def offered(editor: Editor, uri: str) -> set[str]:
    return {action.title for action in await editor.actions(uri, at(LINE, 6))}


@needs_compiler
async def test_a_repair_is_shown_and_written_when_it_is_accepted(
    project: Path, model: ModelServer
) -> None:
    script(model)
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        assert "Fix with Jarvis" in await offered(editor, uri)
        lenses = await editor.soon(
            editor.client.text_document_code_lens_async(
                types.CodeLensParams(types.TextDocumentIdentifier(uri))
            )
        )
        commands = [lens.command for lens in lenses if lens.command is not None]
        (lens,) = [command for command in commands if command.title == "Fix with Jarvis"]
        (argument,) = lens.arguments or ()
        assert argument == {"uri": uri, "fingerprint": name}
        params = {"uri": uri, "finding": name, "workDoneToken": "mine"}
        answer = await editor.request("jarvis/repair", params)
        assert answer.status == "repaired", answer.markdown
        assert "a.c" in answer.summary
        assert "survives random runs" in answer.markdown
        (file,) = answer.files
        assert (file.uri, file.path) == (uri, "a.c")
        assert file.text == FLAWED.replace(COPY, RIGHT + COPY)
        assert (project / "a.c").read_text() == FLAWED
        told = [
            report.message
            for report in editor.client.progress_reports["mine"]
            if isinstance(report, types.WorkDoneProgressReport)
        ]
        assert "the agent works" in told
        assert any("keeps good results" in str(text) for text in told)

        editor.replace_all(uri, FLAWED + "/* typed */\n")
        with pytest.raises(JsonRpcException, match="not saved"):
            await editor.request("jarvis/repairApply", {"name": answer.name})
        assert (project / "a.c").read_text() == FLAWED
        editor.replace_all(uri, FLAWED)
        written = await editor.request("jarvis/repairApply", {"name": answer.name})
        assert written.files == [uri]
        assert (project / "a.c").read_text() == file.text
        with pytest.raises(JsonRpcException, match="no longer there"):
            await editor.request("jarvis/repairApply", {"name": answer.name})


@needs_compiler
async def test_any_editor_gets_the_diff_and_in_chinese_what_was_checked(
    project: Path, model: ModelServer
) -> None:
    script(model)
    async with running(project, locale="zh-cn") as editor:
        uri, name = await opened(editor, project)
        assert "用 Jarvis 修复" in await offered(editor, uri)
        told = await editor.command("jarvis.repair", uri, name)
        assert told["status"] == "repaired"
        assert "通过了所有关卡" in told["summary"]
        assert "经受随机运行" in told["report"]
        assert "+    if (strlen(text) >= sizeof place) {" in told["diff"]
        (project / "a.c").write_text(FLAWED + "/* other */\n")
        with pytest.raises(JsonRpcException):
            await editor.command("jarvis.applyRepair", told["repair"])
        assert (project / "a.c").read_text() == FLAWED + "/* other */\n"


@needs_compiler
async def test_cancel_ends_it_and_without_a_model_it_says_what_to_set(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JARVIS_HOME", str(tmp_path / "empty"))
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        params = {"uri": uri, "finding": name, "workDoneToken": "first"}
        asked = editor.begin("jarvis/repair", params, "repair")
        await editor.until(lambda: len(editor.client.progress_reports.get("first", [])) > 1)
        editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams("first"))
        answer = await editor.soon(asked)
        assert (answer.status, answer.name, answer.files) == ("cancelled", "", [])
        answer = await editor.request("jarvis/repair", {"uri": uri, "finding": name})
        assert answer.status == "no_model"
        assert "model" in answer.summary
        assert (project / "a.c").read_text() == FLAWED


@needs_compiler
async def test_what_the_agent_cannot_repair_is_unfixable(project: Path, model: ModelServer) -> None:
    for _ in range(3):
        model.say(CANNOT)
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        answer = await editor.request("jarvis/repair", {"uri": uri, "finding": name})
        assert (answer.status, answer.name, answer.diff) == ("unfixable", "", "")
        assert "The agent changed nothing." in answer.summary
        assert "Unclear." in answer.markdown


async def test_nothing_is_run_or_written_without_trust(project: Path) -> None:
    async with running(project, options={"trusted": False}) as editor:
        uri, name = await opened(editor, project)
        for ask in (
            editor.request("jarvis/repair", {"uri": uri, "finding": name}),
            editor.request("jarvis/repairApply", {"name": "0"}),
            editor.command("jarvis.repair", uri, name),
            editor.command("jarvis.applyRepair", "0"),
        ):
            with pytest.raises(JsonRpcException, match="trust the workspace first"):
                await ask
        assert "Fix with Jarvis" not in await offered(editor, uri)
    assert sorted(path.name for path in project.iterdir()) == ["a.c"]


async def test_what_is_missing_is_said(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "env"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        with pytest.raises(JsonRpcException, match="install gcc, or clang"):
            await editor.request("jarvis/repair", {"uri": uri, "finding": name})
        with pytest.raises(JsonRpcException, match="no longer exists"):
            await editor.request("jarvis/repair", {"uri": uri, "finding": "f" * 16})
        for arguments in ([], [1, 2], [uri], [uri, name, name]):
            with pytest.raises(JsonRpcException, match="needs a URI"):
                await editor.command("jarvis.repair", *arguments)
        for arguments in ([], [1], ["a", "b"]):
            with pytest.raises(JsonRpcException, match="needs the name"):
                await editor.command("jarvis.applyRepair", *arguments)
        editor.replace_all(uri, FLAWED + "/* not saved */\n")
        with pytest.raises(JsonRpcException, match="Save the file first"):
            await editor.request("jarvis/repair", {"uri": uri, "finding": name})

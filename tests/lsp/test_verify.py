"""Agents verify a finding in the editor: the pipeline is real, the model is a scripted one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import Editor, at, running
from tests.lsp.test_prove import FLAWED, LINE, TRUSTED, hover, opened, project, view
from tests.lsp.test_repair import SETTINGS
from tests.support.security_model import Question, SecurityModel, flaw, no_flaw

pytestmark = pytest.mark.watches()

__all__ = ["project"]

OTHER = "#include <string.h>\nvoid other(const char *s) { char to[4]; strcpy(to, s); }\n"


@pytest.fixture
async def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SecurityModel]:
    """A model that the user has set up."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("JARVIS_HOME", str(home))
    async with SecurityModel() as server:
        (home / "config.toml").write_text(SETTINGS.format(url=server.url))
        yield server


async def verify(editor: Editor, uri: str, name: str):
    return await editor.request("jarvis/verify", {"uri": uri, "finding": name})


async def titles(editor: Editor, uri: str) -> list[str]:
    return [action.title for action in await editor.actions(uri, at(LINE, 6))]


async def lenses(editor: Editor, uri: str) -> list[str]:
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    shown = await editor.soon(editor.client.text_document_code_lens_async(params))
    return [lens.command.title for lens in shown or () if lens.command is not None]


async def test_what_agents_conclude_is_told_and_stays(project: Path, model: SecurityModel) -> None:
    (project / "b.c").write_text(OTHER)
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        offered = await titles(editor, uri)
        assert {"Verify with agents", "Explain with Jarvis"} <= set(offered)
        shown = await lenses(editor, uri)
        assert not {"Verify with agents", "Change with Jarvis"} & set(shown), (
            "no model is known yet"
        )
        params = {"uri": uri, "finding": name, "workDoneToken": "mine"}
        answer = await editor.request("jarvis/verify", params)
        assert answer.status == "verified", answer.summary
        assert answer.summary.startswith("Agents: a flaw")
        assert "## Trigger path" in answer.markdown
        asked = {gid for question in model.asked for gid in question.gids}
        assert len(asked) == 1, "agents were asked of other findings as well"
        told = [
            report.message
            for report in editor.client.progress_reports["mine"]
            if isinstance(report, types.WorkDoneProgressReport)
        ]
        assert {"scanning", "clustering", "analysing"} <= set(told)
        assert "Agents: a flaw" in await hover(editor, uri)
        assert {"Verify with agents", "Change with Jarvis"} <= set(await lenses(editor, uri))
        count = len(model.asked)
        again = await verify(editor, uri, name)
        assert (again.status, again.markdown) == ("verified", answer.markdown)
        assert len(model.asked) == count, "what is known was asked again"
    async with running(project, options=TRUSTED) as editor:
        uri, _ = await opened(editor, project)
        assert "Agents: a flaw" in await hover(editor, uri)
        editor.replace_all(uri, FLAWED.replace("puts(place)", "puts(text)"))
        await editor.request("jarvis/findings", {})
        while "Agents:" in await hover(editor, uri):
            await asyncio.sleep(0.05)  # the limit of a test ends it


async def test_what_is_no_flaw_is_hidden_with_the_reason(
    project: Path, model: SecurityModel
) -> None:
    model.roles["analysis"] = lambda asked: [no_flaw(gid) for gid in asked.gids]
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        answer = await verify(editor, uri, name)
        assert answer.status == "verified"
        assert answer.summary.startswith("Agents: no flaw.")
        (item,) = [item for item in await view(editor) if item.fingerprint == name]
        assert item.suppressed and not item.baselined


async def test_a_repository_brings_no_conclusions_along(
    project: Path, model: SecurityModel
) -> None:
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        await verify(editor, uri, name)
    kept = project / ".jarvis" / "sec" / "analysis.jsonl"
    (record,) = map(json.loads, kept.read_text().splitlines())
    record["false_positive_gids"], record["verified_gids"] = record["verified_gids"], []
    kept.write_text(json.dumps(record) + "\n[]\n{\n")
    async with running(project, options=TRUSTED) as editor:
        uri, _ = await opened(editor, project)
        assert "Agents:" not in await hover(editor, uri)


async def test_nonsense_is_no_conclusion(project: Path, model: SecurityModel) -> None:
    model.roles["analysis"] = lambda _asked: "I would rather not say."
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        answer = await verify(editor, uri, name)
        assert answer.status in ("unfinished", "verified")
        assert "Agents: a flaw" not in answer.summary
        assert "Agents: no flaw" not in answer.summary


async def test_in_chinese_any_editor_is_told(project: Path, model: SecurityModel) -> None:
    async with running(project, locale="zh-cn") as editor:
        uri, name = await opened(editor, project)
        assert "用智能体核实" in await titles(editor, uri)
        told = await editor.command("jarvis.verify", uri, name)
        assert told["status"] == "verified"
        assert told["summary"].startswith("智能体：")
        assert "## 触发路径" in told["report"]


async def test_without_a_model_it_says_what_to_set(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JARVIS_HOME", str(tmp_path / "empty"))
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        answer = await verify(editor, uri, name)
        assert answer.status == "no_model"
        assert "jarvis setup" in answer.summary


async def test_it_needs_trust_and_what_is_saved(project: Path, model: SecurityModel) -> None:
    async with running(project, options={"trusted": False}) as editor:
        uri, name = await opened(editor, project)
        assert "Verify with agents" not in await titles(editor, uri)
        with pytest.raises(JsonRpcException, match="trust the workspace"):
            await verify(editor, uri, name)
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        editor.replace_all(uri, FLAWED + "/* typed */\n")
        with pytest.raises(JsonRpcException, match="Save the file"):
            await verify(editor, uri, name)
    assert model.asked == []


async def test_cancel_ends_it_and_keeps_nothing_wrong(project: Path, model: SecurityModel) -> None:
    waiting: list[Question] = []

    def wait(asked: Question):
        waiting.append(asked)
        answer = model.text("[]")
        answer.silent = 60
        return answer

    model.roles["analysis"] = wait
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        params = {"uri": uri, "finding": name, "workDoneToken": "first"}
        asked = editor.begin("jarvis/verify", params, "verify")
        await editor.until(lambda: bool(waiting))
        editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams("first"))
        answer = await editor.soon(asked)
        assert answer.status == "cancelled"
        model.roles["analysis"] = lambda asked: [flaw(candidate) for candidate in asked.candidates]
        assert (await verify(editor, uri, name)).status == "verified"

"""Evidence by execution in the editor: the real server runs real programs with a real compiler."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from jarvis_ls.jsec.proof.toolchain import find_toolchain
from jarvis_ls.lsp.folders import uri_of
from tests.lsp.editor import Editor, at, running

pytestmark = pytest.mark.watches()

FLAWED = """\
#include <stdio.h>
#include <string.h>

static void copy(const char *text)
{
    char place[16];
    strcpy(place, text);
    puts(place);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        copy(argv[1]);
    return 0;
}
"""
LINE = 6
RULE = "write-past-buffer"
SLOW = """\
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char place[16];
    for (;;)
        if (argc > 4096)
            strcpy(place, argv[1]);
}
"""
TRUSTED = {"trusted": True}

needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or not find_toolchain().compiler,
    reason="no C compiler with sanitizers is here",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.c").write_text(FLAWED)
    return folder


async def opened(editor: Editor, project: Path) -> tuple[str, str]:
    """The file, open, with the fingerprint of its overflow."""
    uri = uri_of(str(project / "a.c"))
    editor.open(uri, (project / "a.c").read_text())
    found = await editor.pushed(uri, lambda told: any(one.code == RULE for one in told))
    (overflow,) = [one for one in found if one.code == RULE]
    return uri, overflow.data["fingerprint"]


def shown(editor: Editor, uri: str) -> dict[str, str]:
    """The messages of the diagnostics that the user sees last, by rule."""
    mine = [one for one in editor.published if one.uri == uri]
    return {str(one.code): one.message for one in mine[-1].diagnostics}


async def hover(editor: Editor, uri: str) -> str:
    params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(LINE, 6))
    answer = await editor.soon(editor.client.text_document_hover_async(params))
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


async def view(editor: Editor) -> list:
    return (await editor.request("jarvis/findings", {})).findings


async def ended_with(editor: Editor, uri: str, text: str, *, has: bool = True) -> None:
    """Wait until a message has, or has not, some words."""
    await editor.pushed(uri, lambda found: any(text in one.message for one in found) == has)


@needs_compiler
async def test_a_finding_is_proven_and_says_so_everywhere(project):
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        answer = await editor.request("jarvis/prove", {"uri": uri, "finding": name})
        assert (answer.examined, answer.cancelled) == (1, False)
        assert [one.verdict for one in answer.proofs] == ["reproduced"]
        assert answer.summary.startswith("Reproduced: ")

        await ended_with(editor, uri, "Evidence: reproduced.")
        told = await hover(editor, uri)
        assert "Reproduced: " in told
        assert "command:jarvisLs.replay?" in told
        (item,) = [one for one in await view(editor) if one.rule == RULE]
        assert item.proof.name == "reproduced"
        assert (item.confidence, item.severity) == (0.99, "high")
        lens = await editor.soon(
            editor.client.text_document_code_lens_async(
                types.CodeLensParams(types.TextDocumentIdentifier(uri))
            )
        )
        assert any("1 reproduced" in one.command.title for one in lens)
        titles = {one.title: one for one in await editor.actions(uri, at(LINE, 6))}
        assert titles["Prove by running (sandbox)"].command.command == "jarvisLs.prove"
        assert {"Open the input", "Replay the run", "Save as regression test"} <= set(titles)
        (argument,) = titles["Open the input"].command.arguments
        assert argument == {"uri": uri, "case": item.proof.case}

        params = {"uri": uri, "case": item.proof.case}
        page = (await editor.request("jarvis/case", params)).markdown
        assert f"jsec replay {item.proof.case}" in page
        assert "a.c:7" in page
        again = await editor.request("jarvis/replay", params)
        assert (again.reproduced, again.cancelled) == (True, False)
        assert "a.c:7" in again.text


@needs_compiler
async def test_evidence_is_void_when_the_function_changes_and_back_when_it_returns(project):
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        await editor.command("jarvis.prove", uri, name)
        await ended_with(editor, uri, "Evidence: reproduced.")
        editor.replace_all(uri, FLAWED.replace("place[16]", "place[17]"))
        await ended_with(editor, uri, "Evidence: ", has=False)
        assert "Reproduced" not in await hover(editor, uri)
        editor.replace_all(uri, "\n/* moved */\n" + FLAWED)
        await ended_with(editor, uri, "Evidence: reproduced.")
    async with running(project, options=TRUSTED) as editor:  # and in the next session
        uri = uri_of(str(project / "a.c"))
        await editor.request("jarvis/scanWorkspace", {})
        assert [one.proof.verdict for one in await view(editor) if one.proof] == ["reproduced"]


@needs_compiler
async def test_a_command_proves_all_findings_of_a_file_in_any_editor(project):
    async with running(project) as editor:
        uri, _ = await opened(editor, project)
        told = await editor.command("jarvis.prove", uri)
        assert "reproduced" in told["verdicts"]
        assert told["examined"] == len(told["verdicts"])
        assert any(told["summary"] in one.message for one in editor.client.messages)
        await ended_with(editor, uri, "Evidence: reproduced.")
        actions = {one.title: one for one in await editor.actions(uri, at(LINE, 6))}
        replay = actions["Replay the run"].command
        assert (await editor.command(replay.command, *replay.arguments))["reproduced"]
        assert "Save as regression test" not in actions  # it needs a preview


@needs_compiler
async def test_a_test_is_shown_before_it_is_written(project):
    (project / "Makefile").write_text("all:\n\tcc a.c\n")
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        answer = await editor.request("jarvis/prove", {"uri": uri, "finding": name})
        case = answer.proofs[0].case
        ask = {"uri": uri, "case": case, "write": False}
        planned = (await editor.request("jarvis/regressionTest", ask)).files
        script = project / "tests" / f"jsec-{case}" / "run.sh"
        assert planned[0].path == f"tests/jsec-{case}/run.sh"
        assert planned[0].uri == uri_of(str(script))
        assert (planned[-1].path, planned[-1].exists) == ("Makefile", True)
        assert not (project / "tests").exists()
        written = (await editor.request("jarvis/regressionTest", {**ask, "write": True})).files
        assert [one.text for one in written] == [one.text for one in planned]
        assert script.read_text() == planned[0].text
        assert os.access(script, os.X_OK)
        assert (project / "Makefile").read_text() == planned[-1].text


@needs_compiler
async def test_progress_is_told_and_cancel_ends_the_run(project):
    (project / "a.c").write_text(SLOW)
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        params = {"uri": uri, "finding": name, "workDoneToken": "mine"}
        asked = editor.begin("jarvis/prove", params, "prove")
        steps = await editor.until(
            lambda: [
                one
                for one in editor.client.progress_reports.get("mine", [])
                if isinstance(one, types.WorkDoneProgressReport)
            ]
        )
        assert steps[0].message.startswith("a.c:")
        began = time.monotonic()
        editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams("mine"))
        answer = await editor.soon(asked)
        assert (answer.examined, answer.cancelled) == (0, True)
        assert time.monotonic() - began < 20
        assert not (project / ".jarvis/sec/evidence.jsonl").exists()


@needs_compiler
async def test_the_editor_is_answered_meanwhile_and_a_request_taken_back_ends(project):
    (project / "a.c").write_text(SLOW)
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        params = {"uri": uri, "finding": name, "workDoneToken": "first"}
        first = editor.begin("jarvis/prove", params, "first")
        await editor.until(lambda: len(editor.client.progress_reports.get("first", [])) > 1)
        waiting = editor.begin("jarvis/prove", {**params, "workDoneToken": "second"}, "second")
        await editor.until(lambda: editor.client.progress_reports.get("second"))
        await view(editor)
        assert not waiting.done()
        editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams("second"))
        assert (await editor.soon(waiting)).cancelled
        editor.client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams("first"))
        with pytest.raises(JsonRpcException):
            await editor.soon(first)
        (project / "a.c").write_text(FLAWED)
        editor.replace_all(uri, FLAWED)
        assert (await editor.request("jarvis/prove", {"uri": uri})).examined >= 1


async def test_nothing_is_run_without_trust(project):
    async with running(project, options={"trusted": False}) as editor:
        uri, name = await opened(editor, project)
        for ask in (
            editor.request("jarvis/prove", {"uri": uri, "finding": name}),
            editor.command("jarvis.prove", uri, name),
            editor.request("jarvis/replay", {"uri": uri, "case": "0" * 12}),
            editor.request("jarvis/regressionTest", {"uri": uri, "case": "0", "write": True}),
        ):
            with pytest.raises(JsonRpcException, match="trust the workspace first"):
                await ask
        assert "Prove by running (sandbox)" not in {
            one.title for one in await editor.actions(uri, at(LINE, 6))
        }
        assert "jarvisLs.prove" not in await hover(editor, uri)
    assert sorted(one.name for one in project.iterdir()) == ["a.c"]


async def test_without_a_compiler_one_line_says_what_to_install(project, tmp_path, monkeypatch):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "env"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        for _ in range(2):
            with pytest.raises(JsonRpcException, match="install gcc, or clang") as refused:
                await editor.request("jarvis/prove", {"uri": uri, "finding": name})
            assert "\n" not in str(refused.value)
        assert not (project / ".jarvis/sec/evidence.jsonl").exists()


async def test_what_cannot_be_proven_is_said(project):
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        editor.replace_all(uri, FLAWED + "\n/* not saved */\n")
        with pytest.raises(JsonRpcException, match="Save the file first"):
            await editor.request("jarvis/prove", {"uri": uri, "finding": name})
        with pytest.raises(JsonRpcException, match="no longer exists"):
            await editor.request("jarvis/prove", {"uri": uri, "finding": "f" * 16})
        with pytest.raises(JsonRpcException, match="no case"):
            await editor.request("jarvis/case", {"uri": uri, "case": "../../etc"})
        for arguments in ([], [1], [uri, {}], [uri, True], [uri, name, name]):
            with pytest.raises(JsonRpcException, match="needs a URI"):
                await editor.command("jarvis.prove", *arguments)
        outside = uri_of("/nowhere/b.c")
        editor.open(outside, FLAWED)
        with pytest.raises(JsonRpcException, match="outside the workspace"):
            await editor.request("jarvis/prove", {"uri": outside})


async def test_evidence_that_a_repository_brings_along_is_not_believed(project):
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        record = {"fingerprint": name, "verdict": "refuted", "signature": "0" * 40}
        (project / ".jarvis/sec").mkdir(parents=True)
        (project / ".jarvis/sec/evidence.jsonl").write_text(json.dumps(record) + "\n[]\n{\n\0\n")
        editor.replace_all(uri, FLAWED + "\n")
        await editor.diagnostics(uri)
        assert not any("Evidence" in text for text in shown(editor, uri).values())


@needs_compiler
async def test_in_chinese(project):
    async with running(project, options=TRUSTED, locale="zh-cn") as editor:
        uri, name = await opened(editor, project)
        answer = await editor.request("jarvis/prove", {"uri": uri, "finding": name})
        assert answer.summary.startswith("已重现")
        await ended_with(editor, uri, "证据：已重现。")
        titles = {one.title for one in await editor.actions(uri, at(LINE, 6))}
        assert {"通过运行证明（沙箱）", "打开输入", "重放运行", "保存为回归测试"} <= titles


@needs_compiler
async def test_a_severity_that_the_user_has_chosen_stays(project):
    (project / ".jarvis").mkdir()
    (project / ".jarvis/jsec.toml").write_text(f'[rules]\n{RULE} = "medium"\n')
    async with running(project, options=TRUSTED) as editor:
        uri, name = await opened(editor, project)
        await editor.request("jarvis/prove", {"uri": uri, "finding": name})
        await ended_with(editor, uri, "Evidence: reproduced.")
        (item,) = [one for one in await view(editor) if one.rule == RULE]
        assert (item.confidence, item.severity) == (0.99, "medium")

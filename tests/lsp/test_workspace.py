"""The whole workspace: scans, progress, cancellation, folders, files that change, settings."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import time

import psutil
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled

from jarvis_ls.lsp.folders import uri_of
from tests.lsp.editor import CLEAN, COMMAND, DOUBLE_FREE, running
from tests.lsp.wire import wire

pytestmark = pytest.mark.watches()

LIVE = {"workspaceScan": True}


def uri(path):
    return uri_of(str(path))


def one(found):
    return len(found) == 1


def none(found):
    return found == []


def children(editor):
    return psutil.Process(editor.client._server.pid).children(recursive=True)


def watched(editor, *changes):
    events = [types.FileEvent(uri(path), kind) for path, kind in changes]
    params = types.DidChangeWatchedFilesParams(events)
    editor.client.workspace_did_change_watched_files(params)


def many_files(folder, count):
    for number in range(count):
        (folder / f"f{number:04}.c").write_text(DOUBLE_FREE * 40 + f"int n{number};\n")


CREATED = types.FileChangeType.Created
CHANGED = types.FileChangeType.Changed
DELETED = types.FileChangeType.Deleted


@pytest.mark.parametrize("client", ["visual-studio-code", "neovim@v0.7"])
async def test_files_that_are_not_open_have_findings(tmp_path, client):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a b#ü%.c").write_text(DOUBLE_FREE)
    (tmp_path / "clean.c").write_text(CLEAN)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "made.c").write_text(DOUBLE_FREE)
    async with running(tmp_path, client=client, options=LIVE) as editor:
        await editor.pushed(uri(tmp_path / "deep/er/a b#ü%.c"), one)
        await editor.until(lambda: editor.statuses and editor.statuses[-1].state == "idle")
        assert {one.uri for one in editor.published} == {uri(tmp_path / "deep/er/a b#ü%.c")}
        await editor.until(lambda: editor.statuses[-1].findings == 1)
        last = editor.statuses[-1]
        assert (last.done, last.total, hasattr(last, "model")) == (2, 2, False)


async def test_a_scan_shows_progress_and_answers_with_numbers(tmp_path):
    many_files(tmp_path, 6)
    (tmp_path / "binary.c").write_bytes(b"\0\1\2")
    async with running(tmp_path) as editor:
        result = await editor.request("jarvis/scanWorkspace", {})
        assert (result.files, result.findings, result.cancelled) == (6, 6 * 40, False)
        (skipped,) = result.skipped
        assert (skipped.uri, skipped.reason) == (uri(tmp_path / "binary.c"), "binary")
        (reports,) = editor.client.progress_reports.values()
        kinds = [type(report).__name__ for report in reports]
        assert kinds[0] == "WorkDoneProgressBegin" and kinds[-1] == "WorkDoneProgressEnd"
        assert reports[0].cancellable and reports[0].title == "Scanning the workspace"
        again = await editor.request("jarvis/scanWorkspace", {"changedOnly": True})
        assert again.files == 0 and again.findings == 6 * 40
        (tmp_path / "f0000.c").write_text(CLEAN)
        third = await editor.request("jarvis/scanWorkspace", {"changedOnly": True})
        assert third.files == 1 and third.findings == 5 * 40


async def test_both_halves_of_a_scan_are_shown_and_never_go_back(tmp_path):
    """The rules look at the files of a folder, then values are followed through them."""
    folders = tmp_path / "first", tmp_path / "second"
    branches = "".join(f"    if (p[{at}]) q += {at}; else free(q);\n" for at in range(30))
    winding = f"void winding(char *p) {{\n    char *q = malloc(*p);\n{branches}}}\n"
    for folder in folders:
        folder.mkdir()
        for number in range(20):  # following takes longer than the time between two states
            (folder / f"f{number:02}.c").write_text(f"#include <stdlib.h>\n{winding}")
    async with running(*folders) as editor:
        await editor.request("jarvis/scanWorkspace", {})
        (reports,) = editor.client.progress_reports.values()
        shares = [one.percentage for one in reports[1:-1]]
        assert shares == sorted(shares) and shares[-1] > 50
        await editor.until(lambda: editor.statuses[-1].state == "idle")
        following = [one for one in editor.statuses if one.state == "following"]
        assert following, [one.state for one in editor.statuses]
        assert all(0 <= one.done <= one.total == 40 for one in following)


async def test_the_clients_own_token_is_used(tmp_path):
    many_files(tmp_path, 2)
    async with running(tmp_path) as editor:
        editor.client.progress_reports["mine"] = []
        await editor.request("jarvis/scanWorkspace", {"workDoneToken": "mine"})
        assert len(editor.client.progress_reports["mine"]) >= 2
        assert list(editor.client.progress_reports) == ["mine"]


@pytest.mark.parametrize("how", ["request", "token", "command"])
async def test_cancelling_ends_the_processes_and_keeps_what_was_found(tmp_path, how):
    many_files(tmp_path, 300)
    async with running(tmp_path, command=COMMAND) as editor:
        before = len(children(editor))
        scan = editor.begin("jarvis/scanWorkspace", {}, "scan")
        await editor.until(lambda: editor.published)
        assert len(children(editor)) > before
        if how == "request":
            editor.client.cancel_request(types.CancelParams("scan"))
            with pytest.raises(Exception, match=r"[Cc]ancel"):
                await scan
        elif how == "token":
            (token,) = editor.client.progress_reports
            params = types.WorkDoneProgressCancelParams(token)
            editor.client.window_work_done_progress_cancel(params)
            assert (await scan).cancelled
        else:
            assert await editor.command("jarvis.cancelScan") is True
            assert (await scan).cancelled
        await editor.until(lambda: len(children(editor)) == before)
        known = await editor.request("jarvis/findings", {})
        assert 0 < len(known.findings) < 300 * 40
        assert await editor.command("jarvis.cancelScan") is False
        await editor.until(lambda: editor.statuses[-1].state == "idle")


async def test_a_cancellation_is_answered_before_what_it_ends_has_ended(tmp_path):
    many_files(tmp_path, 3)
    async with running(tmp_path, command=COMMAND) as editor:
        await editor.until(lambda: children(editor))
        (analysis,) = children(editor)
        analysis.suspend()
        try:
            scan = editor.begin("jarvis/scanWorkspace", {}, "scan")  # is told to it first
            await editor.until(lambda: any(editor.client.progress_reports.values()))
            assert await editor.command("jarvis.cancelScan") is True
            assert (await editor.soon(scan)).cancelled
        finally:
            analysis.resume()
        assert (await editor.request("jarvis/scanWorkspace", {})).files == 3


async def test_a_scan_asked_for_while_another_runs_joins_it(tmp_path):
    many_files(tmp_path, 30)
    async with running(tmp_path, command=COMMAND, options={"workspaceScan": True}) as editor:
        await editor.until(lambda: children(editor))
        (analysis,) = children(editor)
        analysis.suspend()  # the scan at the start goes no further
        try:
            answers = [
                editor.begin("jarvis/scanWorkspace", {}, f"s{number}") for number in range(3)
            ]
            await editor.until(lambda: len(editor.client.progress_reports) == 4)
            editor.client.cancel_request(types.CancelParams("s1"))
            with pytest.raises(JsonRpcRequestCancelled):
                await editor.soon(answers.pop(1))
        finally:
            analysis.resume()
        for result in await editor.soon(asyncio.gather(*answers)):
            assert (result.files, result.cancelled) == (30, False)


async def test_who_waits_for_a_scan_waits_for_the_one_that_replaces_it(tmp_path):
    many_files(tmp_path, 30)
    opened = uri(tmp_path / "open.c")
    async with running(tmp_path, command=COMMAND) as editor:
        editor.open(opened, DOUBLE_FREE)
        await editor.diagnostics(opened)  # all has started: what is suspended for long is ended
        (analysis,) = children(editor)
        analysis.suspend()
        try:
            answer = editor.begin("jarvis/scanWorkspace", {}, "scan")
            await editor.until(lambda: editor.client.progress_reports)
            params = types.DidChangeConfigurationParams({"debounce": 1, "workspaceScan": True})
            editor.client.workspace_did_change_configuration(params)
            await editor.until(lambda: len(editor.client.progress_reports) == 2)
        finally:
            analysis.resume()
        result = await editor.soon(answer)
        assert (result.files, result.cancelled) == (30, False)


async def test_a_storm_of_scans_and_cancellations(tmp_path):
    many_files(tmp_path, 40)
    rng, cancelled = random.Random(7), 0
    async with running(tmp_path, command=COMMAND) as editor:
        editor.open(uri(tmp_path / "open.c"), DOUBLE_FREE)
        for number in range(30):
            answer = editor.begin("jarvis/scanWorkspace", {}, f"s{number}")
            await asyncio.sleep(rng.random() * 0.05)
            editor.client.cancel_request(types.CancelParams(f"s{number}"))
            (outcome,) = await editor.soon(asyncio.gather(answer, return_exceptions=True))
            cancelled += isinstance(outcome, JsonRpcRequestCancelled)
        assert cancelled > 10, "the others were done before"
        version = editor.replace_all(uri(tmp_path / "open.c"), CLEAN)
        assert await editor.diagnostics(uri(tmp_path / "open.c"), version) == []
        result = await editor.request("jarvis/scanWorkspace", {})
        assert result.files == 40
        await editor.until(lambda: len(children(editor)) == 1)


async def test_hover_answers_while_a_scan_runs(tmp_path):
    many_files(tmp_path, 60)
    opened = uri(tmp_path / "open.c")
    async with running(tmp_path) as editor:
        editor.open(opened, DOUBLE_FREE)
        await editor.diagnostics(opened)
        params = types.HoverParams(types.TextDocumentIdentifier(opened), types.Position(4, 6))
        assert await editor.client.text_document_hover_async(params)
        scan = editor.begin("jarvis/scanWorkspace", {}, "scan")
        answered = 0
        while not scan.done():
            assert await editor.soon(editor.client.text_document_hover_async(params))
            answered += 1
        assert (await scan).files == 60
    assert answered >= 10, "the event loop was held up"


async def test_files_created_changed_and_deleted_behind_the_editor(tmp_path):
    file = tmp_path / "a.c"
    async with running(tmp_path, options=LIVE) as editor:
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        await editor.until(lambda: method in [one.method for one in editor.registered])
        globs = [
            watcher["globPattern"]
            for one in editor.registered
            if one.method == method
            for watcher in one.register_options["watchers"]
        ]
        assert any("rs" in glob for glob in globs) and "**/.jarvis/jsec.toml" in globs
        file.write_text(DOUBLE_FREE)
        watched(editor, (file, CREATED))
        await editor.pushed(uri(file), one)
        file.write_text(CLEAN)
        watched(editor, (file, CHANGED))
        await editor.pushed(uri(file), none)
        file.write_text(DOUBLE_FREE)
        watched(editor, (file, CHANGED))
        await editor.pushed(uri(file), one)
        moved = tmp_path / "b.c"
        file.rename(moved)
        watched(editor, (file, DELETED), (moved, CREATED))
        await editor.pushed(uri(file), none)
        await editor.pushed(uri(moved), one)


async def test_a_folder_that_is_moved_is_one_event(tmp_path):
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "a.c").write_text(DOUBLE_FREE)
    async with running(tmp_path, options=LIVE) as editor:
        await editor.pushed(uri(folder / "a.c"), one)
        shutil.move(folder, tmp_path / "new")
        watched(editor, (folder, DELETED), (tmp_path / "new", CREATED))
        await editor.pushed(uri(folder / "a.c"), none)
        await editor.pushed(uri(tmp_path / "new" / "a.c"), one)


async def test_a_header_changed_on_disk_reaches_an_open_document(tmp_path):
    (tmp_path / "own.h").write_text("#define RELEASE keep\n")
    source = uri(tmp_path / "a.c")
    (tmp_path / "a.c").write_text("")
    async with running(tmp_path, options=LIVE) as editor:
        await editor.until(lambda: editor.statuses and editor.statuses[-1].total == 2)
        editor.open(source, '#include "own.h"\nvoid f(char *p) { free(p); RELEASE(p); }\n')
        found = await editor.diagnostics(source)
        assert "double-free" not in [one.code for one in found]
        (tmp_path / "own.h").write_text("#define RELEASE free\n")
        watched(editor, (tmp_path / "own.h", CHANGED))
        await editor.pushed(source, lambda found: "double-free" in [one.code for one in found])


async def test_several_folders_come_and_go(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "a.c").write_text(DOUBLE_FREE)
    async with running(first, options=LIVE) as editor:
        await editor.pushed(uri(first / "a.c"), one)
        added = types.WorkspaceFolder(uri(second), "second")
        removed = types.WorkspaceFolder(uri(first), "first")
        change = types.WorkspaceFoldersChangeEvent([added], [])
        editor.client.workspace_did_change_workspace_folders(
            types.DidChangeWorkspaceFoldersParams(change)
        )
        await editor.pushed(uri(second / "a.c"), one)
        change = types.WorkspaceFoldersChangeEvent([], [removed])
        editor.client.workspace_did_change_workspace_folders(
            types.DidChangeWorkspaceFoldersParams(change)
        )
        await editor.pushed(uri(first / "a.c"), none)
        known = await editor.request("jarvis/findings", {})
        assert {one.uri for one in known.findings} == {uri(second / "a.c")}


async def test_settings_that_change_while_files_are_analysed_hold_for_them(tmp_path):
    """An analysis that began a moment before had asked what is left out before it was told."""
    alone = {
        "debounce": 0,
        "workspaceScan": False,
        "flow": False,
    }  # nothing has them analysed again
    files = [uri(tmp_path / f"a{number}.c") for number in range(150)]
    async with running(tmp_path, options=alone) as editor:
        editor.open(files[0], DOUBLE_FREE)
        await editor.pushed(files[0], one)
        for turn, file in enumerate(files[1:]):
            editor.open(file, DOUBLE_FREE)
            if turn % 10 == 5:
                exclude = ["*.c"] if turn % 20 == 5 else []
                editor.client.workspace_did_change_configuration(
                    types.DidChangeConfigurationParams({"jarvisLs": {**alone, "exclude": exclude}})
                )
            await asyncio.sleep(0.001)
        editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams({"jarvisLs": {**alone, "exclude": ["*.c"]}})
        )
        for file in files:
            await editor.pushed(
                file, lambda found: [one.code for one in found] == ["jsec.incomplete"]
            )


async def test_settings_take_effect_at_once(tmp_path):
    (tmp_path / "closed.c").write_text(DOUBLE_FREE)
    opened, closed = uri(tmp_path / "open.c"), uri(tmp_path / "closed.c")
    async with running(tmp_path, options=LIVE) as editor:
        editor.open(opened, DOUBLE_FREE)
        (before,) = await editor.pushed(opened, one)
        await editor.pushed(closed, one)
        assert before.severity == types.DiagnosticSeverity.Error

        def set_to(**values):
            settings = {"jarvisLs": {"debounce": 0, "workspaceScan": True, **values}}
            editor.client.workspace_did_change_configuration(
                types.DidChangeConfigurationParams(settings)
            )

        set_to(rules={"double-free": "low"})
        for file in (opened, closed):
            await editor.pushed(
                file, lambda found: one(found) and found[0].severity.name == "Information"
            )
        set_to(rules={"double-free": "off"})
        for file in (opened, closed):
            await editor.pushed(file, none)
        set_to(minConfidence=0.1)
        for file in (opened, closed):
            await editor.pushed(file, one)
        set_to(exclude=["closed.c", "open.c"])
        await editor.pushed(closed, none)
        await editor.pushed(
            opened, lambda found: [one.code for one in found] == ["jsec.incomplete"]
        )
        set_to(maxFileSize=10)
        found = await editor.pushed(
            opened, lambda found: one(found) and "larger" in found[0].message
        )
        assert found[0].severity == types.DiagnosticSeverity.Information
        set_to(enable=False)
        await editor.pushed(opened, none)
        set_to(rules=5, debounce="soon", minConfidence=[], nonsense=1)
        for file in (opened, closed):
            await editor.pushed(file, one)
        complaints = [message.message for message in editor.client.log_messages]
        assert any("rules" in text for text in complaints)


async def test_the_workspaces_own_settings_file_and_its_edits(tmp_path):
    file, config = tmp_path / "a.c", tmp_path / ".jarvis" / "jsec.toml"
    file.write_text(DOUBLE_FREE)
    config.parent.mkdir()
    config.write_text('[rules]\ndouble-free = "off"\n')
    async with running(tmp_path, options=LIVE) as editor:
        editor.open(uri(file), DOUBLE_FREE)
        assert await editor.diagnostics(uri(file)) == []
        config.write_text('[rules]\ndouble-free = "low"\n')
        watched(editor, (config, CHANGED))
        await editor.pushed(uri(file), one)
        config.write_text('[rules]\ndouble-free = "off"\n')
        watched(editor, (config, CHANGED))
        await editor.pushed(uri(file), none)
        config.write_text('[rules]\ndouble-free = "low"\nbroken\n[paths]\n')
        watched(editor, (config, CHANGED))
        (told,) = await editor.pushed(uri(config), one)
        assert told.range.start.line == 2
        assert ".jarvis/jsec.toml" in told.message and "Ignored until fixed" in told.message
        assert [shown.message for shown in editor.client.messages] == [told.message]
        assert await editor.diagnostics(uri(file)) == []  # what was understood goes on to hold
        config.write_text('[rules]\ndouble-free = "low"\n')
        watched(editor, (config, CHANGED))
        await editor.pushed(uri(config), none)
        await editor.pushed(uri(file), one)


async def test_a_baseline_that_cannot_be_read_is_told_and_not_written_over(tmp_path):
    """As after a merge with conflicts."""
    file, baseline = tmp_path / "a.c", tmp_path / ".jarvis" / "sec" / "baseline.json"
    file.write_text(DOUBLE_FREE)
    baseline.parent.mkdir(parents=True)
    torn = '{"version": 1,\n<<<<<<< ours\n "files": {}}\n'
    baseline.write_text(torn)
    async with running(tmp_path, options=LIVE) as editor:
        (told,) = await editor.pushed(uri(baseline), one)
        assert told.range.start.line == 1 and "baseline.json" in told.message
        await editor.pushed(uri(file), one)
        found = (await editor.request("jarvis/findings", {})).findings
        command = types.ExecuteCommandParams(
            "jarvis.addToBaseline", [uri(file), found[0].fingerprint]
        )
        with pytest.raises(Exception, match=r"baseline\.json"):
            await editor.client.workspace_execute_command_async(command)
        assert baseline.read_text() == torn


async def test_rules_of_the_users_own(tmp_path):
    file, config = tmp_path / "a.c", tmp_path / ".jarvis" / "jsec.toml"
    file.write_text("void f(void) { legacy_log(1); }\n")
    config.parent.mkdir()
    pattern = "[[pattern]]\nid = 'no-legacy-log'\nregex = 'legacy_log'\nmessage = 'Old.'\n"
    config.write_text(pattern)
    async with running(tmp_path, options=LIVE) as editor:
        found = await editor.pushed(uri(file), one)
        assert found[0].code == "no-legacy-log"
        editor.open(uri(file), file.read_text())
        (found,) = await editor.diagnostics(uri(file))
        assert found.code == "no-legacy-log"
        config.write_text("")
        watched(editor, (config, CHANGED))
        await editor.pushed(uri(file), none)
        config.write_text(pattern.replace("legacy_log", "legacy_\\w+"))
        watched(editor, (config, CHANGED))
        await editor.pushed(uri(file), one)


async def test_what_a_comparison_with_rust_saw_is_shown_at_its_line(tmp_path):
    file, seen = tmp_path / "a.c", tmp_path / ".jarvis" / "c2rust" / "undefined.jsonl"
    file.write_text("int twice(int x)\n{\n    return x + x;\n}\n")
    seen.parent.mkdir(parents=True)
    record = {
        "file": "a.c",
        "line": 3,
        "evidence": "return x + x;",
        "function": "twice",
        "pattern": "signed integer overflow",
        "cwe": [190],
        "confidence": 0.5,
    }
    async with running(tmp_path, options=LIVE) as editor:
        editor.open(uri(file), file.read_text())
        assert await editor.diagnostics(uri(file)) == []
        seen.write_text(json.dumps(record) + "\n")
        watched(editor, (seen, CHANGED))
        (found,) = await editor.pushed(uri(file), one)
        assert found.code == "undefined-behaviour-seen" and found.range.start.line == 2
        seen.unlink()
        watched(editor, (seen, CHANGED))
        await editor.pushed(uri(file), none)


async def test_an_untrusted_workspace_cannot_hide_findings_by_its_settings(tmp_path):
    file, config = tmp_path / "a.c", tmp_path / ".jarvis" / "jsec.toml"
    file.write_text(DOUBLE_FREE)
    config.parent.mkdir()
    config.write_text('exclude = ["*"]\n[rules]\ndouble-free = "off"\n')
    async with running(tmp_path, options={"trusted": False, **LIVE}) as editor:
        await editor.pushed(uri(file), one)


async def test_an_untrusted_workspace_cannot_hide_findings_by_its_baseline(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(DOUBLE_FREE)
    async with running(tmp_path, options={"trusted": True, **LIVE}) as editor:
        await editor.pushed(uri(file), one)
        (known,) = (await editor.request("jarvis/findings", {})).findings
        added = await editor.command("jarvis.addToBaseline", uri(file), known.fingerprint)
        assert added == 1
    kept = (tmp_path / ".jarvis/sec/baseline.json").read_bytes()
    async with running(tmp_path, options={"trusted": False, **LIVE}) as editor:
        await editor.pushed(uri(file), one)
        with pytest.raises(JsonRpcException, match="not trusted"):
            await editor.command("jarvis.addToBaseline", uri(file), known.fingerprint)
    assert (tmp_path / ".jarvis/sec/baseline.json").read_bytes() == kept


async def test_in_an_untrusted_workspace_nothing_is_written(tmp_path):
    (tmp_path / "free.c").write_text("#include <stdlib.h>\nvoid let_go(char *p) { free(p); }\n")
    file = tmp_path / "a.c"
    text = "#include <stdlib.h>\nvoid let_go(char *);\n"
    text += "void f(char *p) {\n  let_go(p);\n  free(p);\n}\n"
    file.write_text(text)
    async with running(tmp_path, options={"trusted": False}) as editor:
        result = await editor.request("jarvis/scanWorkspace", {})
        assert (result.files, result.findings) == (2, 1)
        editor.open(uri(file), text)
        assert [found.code for found in await editor.diagnostics(uri(file))] == ["double-free"]
        version = editor.replace_all(uri(file), "\n" + text)
        await editor.until(
            lambda: any(
                one.version == version and [found.code for found in one.diagnostics]
                for one in editor.published
            )
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.c", "free.c"]


async def test_the_findings_view_is_kept_up_to_date(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(DOUBLE_FREE)
    async with running(tmp_path, options=LIVE) as editor:
        await editor.until(lambda: editor.changes)
        item = editor.changes[0].files[0].findings[0]
        assert (item.rule, item.severity, item.fixable) == ("double-free", "high", True)
        assert (item.uri, item.category, item.cwe) == (uri(file), "memory_mgmt", [415])
        assert item.score == pytest.approx(item.confidence * 3, abs=0.01)
        editor.open(uri(file), "// jsec-ignore-file: double-free tested\n" + DOUBLE_FREE)
        await editor.until(lambda: editor.changes[-1].files[-1].findings[0].suppressed)
        known = await editor.request("jarvis/findings", {})
        assert known.revision > editor.changes[-1].revision
        before, started = len(editor.changes), time.monotonic()
        for number in range(40):
            editor.replace_all(uri(file), "\n" * number + DOUBLE_FREE)
            await asyncio.sleep(0.01)
        await editor.diagnostics(uri(file))
        await asyncio.sleep(0.2)
        seconds = time.monotonic() - started
        assert len(editor.changes) - before <= 10 * seconds + 2, "at most ten a second"
        revisions = [change.revision for change in editor.changes]
        assert revisions == sorted(set(revisions))


def test_many_findings_come(tmp_path):
    for number in range(20):
        (tmp_path / f"f{number}.c").write_text(DOUBLE_FREE * 100)
    with wire() as server:
        server.initialize(tmp_path)
        assert server.request("scan", "jarvis/scanWorkspace", {})["result"]["findings"] == 2_000
        known = server.request("all", "jarvis/findings", {})["result"]
        assert len(known["findings"]) == 2_000


async def test_rust_that_jc2r_generated_is_not_reported_as_the_users(tmp_path):
    crate = tmp_path / "p_rs"
    (crate / "src").mkdir(parents=True)
    (crate / "Cargo.toml").write_text("# Made by jc2r from the C sources.\n")
    (crate / "src" / "a.rs").write_text("")
    file = uri(crate / "src" / "a.rs")
    async with running(tmp_path, options=LIVE) as editor:
        editor.open(file, "pub fn f(p: *mut u8) { unsafe { *p.add(9) = 1 } }\n")
        (told,) = await editor.pushed(file, bool)
        assert told.code == "jsec.incomplete" and "generated by jc2r" in told.message

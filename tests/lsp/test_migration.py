"""Moving C to Rust through the language server: a real client, a real project, real compilers."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from pathlib import Path

import psutil
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from jarvis_ls.jc2r.crate.state import read_state
from jarvis_ls.jc2r.rewrite.journal import FOLDER, Journal, Outcome, Record, write_progress
from jarvis_ls.lsp.folders import uri_of
from jarvis_ls.lsp.protocol import extensions
from tests.lsp.editor import COMMAND, running
from tests.support.starting import quick

pytestmark = pytest.mark.watches()
"""Each test translates a project and builds its crate."""
MAIN = """#include <stdio.h>
#include "sums.h"

static int twice(int x)
{
    return 2 * x;
}

int main(void)
{
    printf("%d\\n", twice(sum(3)) + fence(7));
    return 0;
}
"""
SUMS = """#include "sums.h"

int sum(int n)
{
    return n ? n + sum(n - 1) : 0;
}

int fence(int n)
{
    jmp_buf place;
    return setjmp(place) ? 0 : n;
}
"""
PROJECT = {
    "main.c": MAIN,
    "sums.c": SUMS,
    "sums.h": "#include <setjmp.h>\nint sum(int n);\nint fence(int n);\n",
}
SOURCE = "jarvis-c2rust"
TRUSTED = {"trusted": True}


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "small"
    root.mkdir()
    for name, text in PROJECT.items():
        (root / name).write_text(text)
    return root


def jc2r(*arguments):
    subprocess.run(
        [*quick("jarvis_ls.cli.jc2r"), *map(str, arguments)],
        check=True,
        capture_output=True,
        timeout=120,
    )


def uri(path):
    return uri_of(str(path))


def ask(editor, **params):
    return editor.request("jarvis/migration", params)


def run(editor, scope="project", **params):
    return asyncio.wait_for(
        editor.client.protocol.send_request_async(
            "jarvis/migration/run", {"scope": scope, **params}
        ),
        120,
    )


def rust(editor, path, **params):
    return editor.request("jarvis/migration/rust", {"uri": uri(path), **params})


def states(found):
    return {one.name: one.state for one in found.functions}


def ours(diagnostics):
    return [one for one in diagnostics if one.source == SOURCE]


def watched(editor, *paths):
    events = [types.FileEvent(uri(path), types.FileChangeType.Changed) for path in paths]
    params = types.DidChangeWatchedFilesParams(events)
    editor.client.workspace_did_change_watched_files(params)


async def titles(editor, path):
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri(path)))
    found = await editor.client.text_document_code_lens_async(params)
    return [(one.range.start.line, one.command.title) for one in found or []]


async def test_a_project_is_moved_shown_and_explained(project):
    async with running(project, options=TRUSTED) as editor:
        before = await ask(editor)
        assert before.trusted and not before.running and not before.functions
        assert [one.state for one in before.stages] == ["todo"] * len(before.stages)

        done = await run(editor)
        assert not done.cancelled and (done.functions, done.left) == (4, 1)
        assert done.crate == uri(project.parent / "small_rs")

        after = await ask(editor)
        assert not before.resumable and not after.resumable
        assert after.revision > before.revision and after.crate == done.crate
        assert {one.name: one.state for one in after.stages} == {
            "scan": "done",
            "baseline": "done",
            "build": "done",
            "verify": "todo",
            "lift": "todo",
        }
        names = [one.name for one in after.functions]
        assert set(names) == {"sum", "fence", "twice", "main"} and names[-1] == "main"
        fence = next(one for one in after.functions if one.name == "fence")
        assert fence.state == "c" and "setjmp" in fence.reason and fence.path == "sums.c"
        assert fence.range.start.line == 7
        assert {one.state for one in after.functions if one.name != "fence"} == {"baseline"}

        found = ours(await editor.pushed(uri(project / "sums.c"), ours))
        told = [(one.range.start.line, one.code) for one in found]
        assert told == [(10, "stays-in-c")], "where setjmp is"
        assert found[0].message == f"fence stays in C: {fence.reason}"
        assert found[0].severity == types.DiagnosticSeverity.Information

        again = await run(editor, "resume")
        assert again.again, "nothing has changed"


async def test_rust_and_c_are_compared_and_what_was_found_is_told(project):
    """The reports are in the language of the editor."""
    jc2r("run", "--baseline", project)
    async with running(project, options={**TRUSTED, "locale": "zh-cn"}) as editor:
        done = await run(editor, "verify")
        assert done.differs == 0 and done.functions >= 1
        after = await ask(editor)
        assert {one.state for one in after.stages if one.name != "lift"} == {"done"}
        verdicts = {one.name: one.tests for one in after.functions}
        assert verdicts["twice"] == "equal" and verdicts["fence"] in ("", "not_run")
        twice = next(one for one in after.functions if one.name == "twice")
        assert int(twice.testsNote) > 0, "so many cases"
        assert after.report.endswith("/equivalence.md")

        lifted = await run(editor, "lift")
        assert lifted.functions >= 1 and not lifted.cancelled, "passes were kept"
        counts = {one.name: one.after < one.before for one in lifted.counts}
        assert counts == {"unsafe_functions": True, "unsafe_lines": True, "raw_pointers": True}
        stage = (await ask(editor)).stages[-1]
        assert (stage.name, stage.state) == ("lift", "done")
        reports = {
            path.name: path.read_text() for path in (project / ".jarvis" / "c2rust").glob("*.md")
        }
        assert reports["lift.md"].startswith("# 重构\n")
        assert reports["equivalence.md"].startswith("# C 与 Rust 的等价性\n")
        assert [one.after for one in stage.counts] == [one.after for one in lifted.counts]
        place = await rust(editor, project / "main.c", function="twice")
        assert place.state == "baseline" and place.range.end.line > place.range.start.line


@pytest.mark.parametrize("locale", ["en", "zh-cn"])
async def test_rust_that_behaves_differently_is_told_at_its_c(project, locale):
    """The line of the function, the smallest call that shows it, and what came of it."""
    jc2r("run", "--baseline", project)
    rust = project.parent / "small_rs" / "src" / "sums.rs"
    rust.write_text(rust.read_text().replace(" 0i32", " 1i32"))
    async with running(project, options={**TRUSTED, "locale": locale}) as editor:
        done = await run(editor, "verify")
        assert done.differs == 1
        found = ours(await editor.pushed(uri(project / "sums.c"), ours))
        told = next(one for one in found if one.code == "differs")
        assert (told.range.start.line, told.severity) == (2, types.DiagnosticSeverity.Warning)
        verdict = next(one for one in (await ask(editor)).functions if one.name == "sum")
        assert verdict.tests == "differs" and verdict.testsNote in told.message
        said = {
            "en": "sum(n = 0): the result is 0 in C and 1 in Rust",
            "zh-cn": "sum(n = 0): 返回值 在 C 中是 0，在 Rust 中是 1",
        }
        assert verdict.testsNote == said[locale]
        report = (project / ".jarvis" / "c2rust" / "equivalence.md").read_text()
        head = {"en": "## Differences", "zh-cn": "## 差异"}[locale]
        assert head in report and said[locale].partition(": ")[2] in report


async def test_where_the_rust_of_a_function_is_and_who_calls_whom(project):
    jc2r("run", "--baseline", project)
    async with running(project, options=TRUSTED) as editor:
        place = await rust(editor, project / "sums.c", line=4)
        assert (place.function, place.state) == ("sum", "baseline")
        lines = Path(place.uri.removeprefix("file://")).read_text().splitlines()
        assert "fn sum(" in lines[place.range.start.line]
        assert lines[place.range.end.line - 1] == "}"
        in_c = await rust(editor, project / "sums.c", function="fence")
        assert not hasattr(in_c, "uri") and "setjmp" in in_c.reason
        main = await rust(editor, project / "main.c", function="main")
        assert main.uri.endswith("/src/bin/main.rs")
        with pytest.raises(JsonRpcException, match="no function"):
            await rust(editor, project / "main.c", line=1)
        with pytest.raises(JsonRpcException, match="has not been scanned yet"):
            await rust(editor, project / "main.c", function="other")

        graph = await editor.request("jarvis/migration/graph", {})
        names = {one.id: one.name for one in graph.nodes}
        edges = {(names[one.source], names[one.target]) for one in graph.edges}
        assert edges == {("main", "twice"), ("main", "sum"), ("main", "fence")}
        assert names == {one.id: one.name for one in (await ask(editor)).functions}
        twice = next(number for number, name in names.items() if name == "twice")
        small = await editor.request("jarvis/migration/graph", {"root": twice})
        assert [one.name for one in small.nodes] == ["twice"]


async def test_functions_named_through_a_macro_are_known_by_their_own_name(tmp_path):
    root = tmp_path / "offered"
    root.mkdir()
    text = (
        "#define API(name) name\n\nint API(sum)(int n)\n{\n    return n + 1;\n}\n"
        "\nint API(twice)\n    (int n)\n{\n    return 2 * n;\n}\n"
    )
    (root / "api.c").write_text(text)
    async with running(root, options=TRUSTED) as editor:
        editor.open(uri(root / "api.c"), "\n" + text)  # not saved yet
        done = await run(editor, "function", uri=uri(root / "api.c"), line=9)
        assert (done.functions, done.left) == (2, 1)
        assert states(await ask(editor)) == {"sum": "c", "twice": "baseline"}
        found = await titles(editor, root / "api.c")
        assert (8, "Show Rust (baseline)") in found
        assert (3, "Transpile this function") in found
        shown = await rust(editor, root / "api.c", line=9)
        assert shown.uri.endswith("/src/api.rs")


async def test_piece_by_piece_from_the_lines_above_the_functions(project):
    async with running(project, options=TRUSTED) as editor:
        sums = project / "sums.c"
        editor.open(uri(sums), SUMS)
        assert await titles(editor, sums) == [], "nobody wants to move this project"
        await run(editor, "scan")
        assert await titles(editor, sums) == [
            (0, "Transpile this file"),
            (2, "C"),
            (2, "Transpile this function"),
            (7, "C"),
            (7, "Transpile this function"),
        ]
        done = await run(editor, "function", uri=uri(sums), line=4)
        assert (done.functions, done.left) == (4, 3)
        found = await ask(editor)
        assert found.partial and states(found)["sum"] == "baseline"
        assert (2, "Show Rust (baseline)") in await titles(editor, sums)
        why = [one.reason for one in found.functions if one.name == "twice"]
        assert why == ["not chosen for translation yet"]
        assert not ours(await editor.diagnostics(uri(sums), 1)), "nobody has asked for it"
        await run(editor, "file", uri=uri(project / "main.c"))
        assert states(await ask(editor)) == {
            "sum": "baseline",
            "fence": "c",
            "twice": "baseline",
            "main": "baseline",
        }
        with pytest.raises(JsonRpcException, match="no such C file"):
            await run(editor, "file", uri=uri(project / "sums.h"))
        with pytest.raises(JsonRpcException, match="needs a C file"):
            await run(editor, "file")


def rewritten(root, **counts):
    """Let `sum` be one that a model has rewritten."""
    folder = root / ".jarvis" / "c2rust"
    journal = Journal(folder / FOLDER, read_state(folder).translation)
    journal.add(Record("sums.c", "sum", Outcome.REWRITTEN.value, counts=counts))
    journal.close()
    write_progress(folder, {}, {"sums.c:sum": "0" * 40}, [])


async def bulb(editor, path, line):
    at = types.Position(line, 4)
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(uri(path)),
        types.Range(at, at),
        types.CodeActionContext([], only=[types.CodeActionKind.Refactor]),
    )
    return await editor.client.text_document_code_action_async(params)


async def test_one_function_is_verified_by_the_light_bulb_and_the_line_above_says_so(project):
    jc2r("run", "--baseline", project)
    sums = project / "sums.c"
    async with running(project, options=TRUSTED) as editor:
        editor.open(uri(sums), SUMS)
        await ask(editor)
        assert (2, "Verify this function against C") in await titles(editor, sums)
        assert [action.title for action in await bulb(editor, sums, 9)] == [
            "Transpile this function"
        ]
        assert not await bulb(editor, sums, 0)
        action, other = await bulb(editor, sums, 4)
        assert action.title == "Verify this function against C"
        assert other.title == "Rewrite with a model"
        (options,) = action.command.arguments
        assert (await run(editor, **options)).functions == 1
        tests = {one.name: one.tests for one in (await ask(editor)).functions}
        assert tests == {"sum": "equal", "fence": "", "twice": "", "main": ""}, "only this one"
        (lens,) = [title for line, title in await titles(editor, sums) if "Show Rust" in title]
        assert re.fullmatch(r"Show Rust \(baseline\) · equal to the C on \d+ inputs", lens)
        rewritten(project, unsafe_lines=[5, 0])
        assert states(await ask(editor))["sum"] == "idiomatic"
        (lens,) = [title for line, title in await titles(editor, sums) if "Show Rust" in title]
        assert lens.startswith("Show Rust (idiomatic) · equal to the C on ")
        assert lens.endswith(" inputs · unsafe lines 5 -> 0")
        for damaged in ([5], "many", None, [True, "x"]):
            rewritten(project, unsafe_lines=damaged)
            assert states(await ask(editor))["sum"] == "idiomatic"


async def test_a_note_goes_with_its_function_and_goes_away_when_it_is_settled(project):
    jc2r("run", "--baseline", project)
    sums = project / "sums.c"
    async with running(project, options=TRUSTED) as editor:
        assert ours(await editor.pushed(uri(sums), ours))
        editor.open(uri(sums), SUMS)
        at = types.Position(0, 0)
        change = types.TextDocumentContentChangePartial(types.Range(at, at), "/* one\n two */\n")
        version = editor.change(uri(sums), change)
        found = ours(await editor.diagnostics(uri(sums), version))
        assert [one.range.start.line for one in found] == [12]
        sums.write_text(SUMS.replace("setjmp(place)", "0"))
        await run(editor)
        await editor.pushed(uri(sums), lambda shown: not ours(shown))
        assert set(states(await ask(editor)).values()) == {"baseline"}


async def test_a_run_in_a_terminal_is_noticed(project):
    async with running(project, options=TRUSTED) as editor:
        await editor.until(
            lambda: any("didChangeWatchedFiles" in one.method for one in editor.registered)
        )
        (options,) = [
            one.register_options for one in editor.registered if "WatchedFiles" in one.method
        ]
        assert any(".jarvis/c2rust" in str(one) for one in options["watchers"])
        jc2r("run", "--baseline", project)
        kept = project / ".jarvis" / "c2rust"
        watched(editor, kept / "run_state.json", kept / "progress.json")
        assert ours(await editor.pushed(uri(project / "sums.c"), ours))
        shutil.rmtree(kept)
        watched(editor, kept / "run_state.json")
        await editor.pushed(uri(project / "sums.c"), lambda shown: not ours(shown))
        assert not (await ask(editor)).functions


async def test_stopping_ends_the_compilers_and_resuming_goes_on(project):
    long = "\n".join(f"int f{n}(int x) {{ return x * {n} + 1; }}" for n in range(3000))
    (project / "many.c").write_text(long)
    async with running(project, options=TRUSTED, command=COMMAND) as editor:
        told = []
        editor.client.feature(extensions.migration.MIGRATION_CHANGED)(
            lambda params: told.append(params)
        )
        server = psutil.Process(editor.client._server.pid)
        before = {one.pid for one in server.children(recursive=True)}
        going = asyncio.ensure_future(run(editor))
        await editor.until(lambda: any(one.running and one.stage for one in told))
        with pytest.raises(JsonRpcException, match="already running"):
            await run(editor)
        started = [one for one in server.children(recursive=True) if one.pid not in before]
        assert started
        assert await editor.command("jarvis.stopMigration") is True
        assert (await going).cancelled
        await editor.until(lambda: not any(one.is_running() for one in started))
        stopped = await ask(editor)
        assert not stopped.running and stopped.resumable
        assert await editor.command("jarvis.stopMigration") is False
        (project / "many.c").unlink()
        done = await editor.command("jarvis.migrate", {"scope": "resume"})
        assert not done["cancelled"] and done["functions"] == 4
        assert await editor.command("jarvis.showRust", uri(project / "sums.c"), 4) is True


async def test_the_progress_of_a_run_is_told_and_its_cancel_button_stops_it(project):
    (project / "many.c").write_text("\n".join(f"int f{n};" for n in range(20000)))
    async with running(project, options=TRUSTED) as editor:
        steps = editor.client.progress_reports["mine"] = []
        going = asyncio.ensure_future(run(editor, workDoneToken="mine"))
        await editor.until(
            lambda: any(isinstance(one, types.WorkDoneProgressReport) for one in steps), 60
        )
        params = types.WorkDoneProgressCancelParams("mine")
        editor.client.window_work_done_progress_cancel(params)
        assert (await going).cancelled
        await editor.until(lambda: isinstance(steps[-1], types.WorkDoneProgressEnd))
        assert steps[1].message.startswith("Reading the C files")
        assert steps[0].title == "Migrating C to Rust" and steps[0].cancellable


async def test_nothing_is_read_or_run_without_trust(project):
    jc2r("scan", project)
    async with running(project, options={"trusted": False}) as editor:
        found = await ask(editor)
        assert found.trusted is False and not found.functions
        for asked in (
            run(editor),
            rust(editor, project / "sums.c", line=4),
            editor.request("jarvis/migration/graph", {}),
        ):
            with pytest.raises(JsonRpcException, match=r"build scripts.*trusted workspace"):
                await asked
        assert not (project.parent / "small_rs").exists()


async def test_errors_of_the_build_are_shown_at_the_c_they_come_from(project):
    jc2r("run", "--baseline", project)
    kept, crate = project / ".jarvis" / "c2rust", project.parent / "small_rs"
    module = crate / "src" / "sums.rs"
    line = module.read_text().splitlines().index("}")  # the last line of `sum`
    state = json.loads((kept / "run_state.json").read_text())
    del state["done"]["build"]
    (kept / "run_state.json").write_text(json.dumps(state))
    log = f"error[E0308]: mismatched types\n --> src/sums.rs:{line}:5\n  |\n"
    (kept / "build.log").write_text(log)
    async with running(project, options=TRUSTED) as editor:
        shown = await editor.pushed(
            uri(project / "sums.c"), lambda all: any(one.code == "rust-error" for one in all)
        )
        (error,) = [one for one in shown if one.code == "rust-error"]
        assert error.range.start.line == 2 and error.severity == types.DiagnosticSeverity.Error
        assert error.message.startswith("The Rust version of sum does not build: mismatched types")
        found = await ask(editor)
        assert [one.state for one in found.stages if one.name == "build"] == ["failed"]
        assert found.log == log


async def test_a_crate_that_is_not_ours_is_not_read(project, tmp_path):
    jc2r("run", "--baseline", project)
    kept = project / ".jarvis" / "c2rust"
    other = tmp_path / "other"
    shutil.copytree(tmp_path / "small_rs" / "src", other / "src")
    state = json.loads((kept / "run_state.json").read_text())
    (kept / "run_state.json").write_text(json.dumps({**state, "crate": str(other)}))
    async with running(project, options=TRUSTED) as editor:
        assert not hasattr(await ask(editor), "crate")
        assert not hasattr(await rust(editor, project / "sums.c", function="sum"), "uri")


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[1]", '{"done": 5}', '{"done": {"scan": "x"}}', "\x00\xff", "[" * 100_000],
)
async def test_damaged_files_are_an_empty_migration(project, damage):
    kept = project / ".jarvis" / "c2rust"
    kept.mkdir(parents=True)
    for name in (
        "run_state.json",
        "progress.json",
        "meta.json",
        "translation_order.jsonl",
        "symbols.jsonl",
        "equivalence.jsonl",
        "build.log",
    ):
        (kept / name).write_text(damage)
    async with running(project, options=TRUSTED) as editor:
        found = await ask(editor)
        assert found.functions == [] and not found.running
        assert (await editor.request("jarvis/migration/graph", {})).nodes == []


async def test_the_crate_goes_where_the_setting_says(project, tmp_path):
    options = {**TRUSTED, "crateFolder": "../elsewhere"}
    async with running(project, options=options) as editor:
        done = await run(editor)
        assert done.crate == uri(tmp_path / "elsewhere")
        assert (tmp_path / "elsewhere" / "Cargo.toml").is_file()
        assert not (tmp_path / "small_rs").exists()


async def test_a_project_without_c_and_a_folder_of_somebody_else_are_refused(tmp_path):
    root = tmp_path / "empty"
    root.mkdir()
    async with running(root, options=TRUSTED) as editor:
        with pytest.raises(JsonRpcException, match="C"):
            await run(editor)
        (root / "a.c").write_text("int a(void) { return 1; }\n")
        taken = tmp_path / "empty_rs"
        taken.mkdir()
        (taken / "precious.txt").write_text("mine")
        with pytest.raises(JsonRpcException, match="not created by jc2r"):
            await run(editor)
        assert [one.name for one in taken.iterdir()] == ["precious.txt"]


async def test_in_chinese(project):
    jc2r("run", "--baseline", "--only", "sums.c", project)
    async with running(project, options={**TRUSTED, "locale": "zh-cn"}) as editor:
        sums = project / "sums.c"
        (note,) = ours(await editor.pushed(uri(sums), ours))
        assert note.message.startswith("fence 保留为 C：")
        editor.open(uri(sums), SUMS)
        found = await titles(editor, sums)
        assert (0, "转译此文件") in found and (2, "显示 Rust（基线）") in found
        why = [one.reason for one in (await ask(editor)).functions if one.name == "twice"]
        assert why == ["尚未选择转译"]

"""Processes that die, analyses that never end, and sessions that go on for long."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise

import psutil
import pytest
from lsprotocol import types

from jarvis_ls.core.errors import WorkerGone
from jarvis_ls.core.process import Worker
from jarvis_ls.lsp import analysis_worker
from jarvis_ls.lsp.analysis_worker import AnalysisWorker
from jarvis_ls.lsp.documents import Document
from jarvis_ls.lsp.folders import uri_of
from jarvis_ls.lsp.protocol import extensions
from tests.jsec.two_files import HEADER, LONG, PAST, SINK
from tests.lsp.editor import CLEAN, COMMAND, DOUBLE_FREE, at, running, workers
from tests.lsp.wire import wire
from tests.support.patience import HANGS

EDITS = 8_000  # in each of four stretches, after two more to warm up
BYTES_AN_EDIT = 20
watches_server = pytest.mark.watches()
"""Thousands of edits take long."""


def kill(processes):
    for one in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.send_signal(signal.SIGKILL)


async def test_the_analysis_process_is_killed_again_and_again(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, command=COMMAND) as editor:
        editor.open(uri, DOUBLE_FREE)
        assert len(await editor.diagnostics(uri)) == 1
        for number in range(5):
            kill(workers(editor))
            if number % 2:
                await asyncio.sleep(0.05)
            version = editor.change(uri, types.TextDocumentContentChangePartial(at(0), "\n"))
            (found,) = await editor.diagnostics(uri, version)
            assert found.range.start.line == 5 + number
        assert 1 <= len(workers(editor)) <= 2  # one follows values when nobody types


class _Ending(Worker):
    """A process that ends whatever it is told."""

    async def start(self):
        self.starts += 1

    async def call(self, method, *arguments, timeout=None):
        raise WorkerGone("the analysis process ended")


async def test_a_process_that_does_not_stay_up_stops_no_scan(tmp_path, monkeypatch):
    monkeypatch.setattr(analysis_worker, "Worker", _Ending)
    analysis = AnalysisWorker()
    await analysis.set_files(str(tmp_path), ["a.c"])
    await analysis.set_flow(str(tmp_path), False)
    await analysis.file_changed(str(tmp_path), "a.c", True)
    analysis.open(Document("file:///a.c", "c", 1, DOUBLE_FREE), str(tmp_path), "a.c")
    with pytest.raises(WorkerGone):
        await analysis.analyse("file:///a.c")


async def test_a_killed_process_loses_no_edit_under_way(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, command=COMMAND) as editor:
        editor.open(uri, DOUBLE_FREE)
        await editor.diagnostics(uri)
        for number in range(120):
            version = editor.change(uri, types.TextDocumentContentChangePartial(at(0), "\n"))
            if number % 40 == 20:
                kill(await editor.until(lambda: workers(editor)))
            await asyncio.sleep(0.002)
        (found,) = await editor.diagnostics(uri, version)
        assert found.range.start.line == 4 + 120


async def test_a_new_process_knows_the_other_documents_as_they_are(tmp_path):
    start, sink = (uri_of(str(tmp_path / name)) for name in ("start.c", "sink.c"))
    (tmp_path / "sink.h").write_text(HEADER)
    async with running(tmp_path, command=COMMAND) as editor:
        editor.open(start, LONG)
        editor.open(sink, SINK)
        await editor.pushed(sink, lambda found: PAST in [one.code for one in found])
        for number in (1, 2):
            kill(workers(editor))
            version = editor.change(sink, types.TextDocumentContentChangePartial(at(0), "\n"))
            place = (PAST, 4 + number)
            found = await editor.pushed(
                sink,
                lambda found, place=place: place in [(f.code, f.range.start.line) for f in found],
            )
            assert editor.versions[sink] == version and len(found) == 1


SLOW = """
import sys, jarvis_ls.lsp.analysis_worker as analysis_worker
analysis_worker.ANALYSIS_SECONDS = 1.5
from jarvis_ls.cli.language_server import main
sys.exit(main([]))
"""


async def test_an_analysis_that_takes_too_long_is_ended_and_said(tmp_path):
    uri, other = uri_of(str(tmp_path / "a.c")), uri_of(str(tmp_path / "b.c"))
    command = (sys.executable, "-c", SLOW)
    settings = tmp_path / ".jarvis" / "jsec.toml"  # what is followed later would be ended, too
    settings.parent.mkdir()
    settings.write_text("flow = false\n")
    async with running(tmp_path, command=command) as editor:
        editor.open(other, CLEAN)
        await editor.diagnostics(other)
        (worker,) = await editor.until(lambda: workers(editor))
        worker.suspend()  # as if it were lost in a file
        version = editor.replace_all(other, DOUBLE_FREE)
        (found,) = await editor.diagnostics(other, version)
        assert found.code == "jsec.timeout"
        assert found.severity == types.DiagnosticSeverity.Information
        editor.open(uri, DOUBLE_FREE)
        await editor.pushed(uri, lambda found: [one.code for one in found] == ["double-free"])


COUNTED = """
import sys, jarvis_ls.lsp.analysis_worker as analysis_worker
real = analysis_worker.AnalysisWorker.analyse
async def counted(self, uri):
    with open(sys.argv[1], "a") as file:
        print("analysis", file=file)
    return await real(self, uri)
analysis_worker.AnalysisWorker.analyse = counted
from jarvis_ls.cli.language_server import main
sys.exit(main([]))
"""


async def test_what_is_typed_while_an_analysis_runs_is_analysed_once(tmp_path):
    """Each key asks for the findings anew, as VS Code does; the analysis is held up meanwhile."""
    uri = uri_of(str(tmp_path / "a.c"))
    (tmp_path / ".jarvis").mkdir()
    (tmp_path / ".jarvis" / "jsec.toml").write_text("flow = false\n")
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    seen = tmp_path / "seen"
    command = (sys.executable, "-c", COUNTED, str(seen))
    async with running(tmp_path, pull=True, command=command) as editor:
        editor.open(uri, DOUBLE_FREE)
        ask = editor.client.text_document_diagnostic_async
        await editor.soon(ask(params))
        (worker,) = workers(editor)
        worker.suspend()
        asked = []
        for _ in range(40):
            editor.change(uri, types.TextDocumentContentChangePartial(at(0), "\n"))
            asked.append(asyncio.ensure_future(ask(params)))
            await editor.request(extensions.FINDINGS, {})  # the key has been taken in by now
        worker.resume()
        last = (await editor.soon(asyncio.gather(*asked)))[-1]
        assert [one.range.start.line for one in last.items] == [44]
        assert workers(editor) == [worker]
    assert 2 <= len(seen.read_text().splitlines()) < 10


BROKEN = """
import sys, jarvis_ls.lsp.analysis_worker as analysis_worker
real = analysis_worker.Worker
analysis_worker.Worker = lambda module, **options: real("jarvis_ls.no_such_module", **options)
from jarvis_ls.cli.language_server import main
sys.exit(main([]))
"""


async def test_an_analysis_that_cannot_start_is_said(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, command=(sys.executable, "-c", BROKEN)) as editor:
        editor.open(uri, DOUBLE_FREE)
        assert await editor.diagnostics(uri) == []
        await editor.until(lambda: editor.statuses and editor.statuses[-1].state == "error")
        assert "analysis process" in editor.statuses[-1].message


def test_the_server_ends_with_its_client():
    for farewell in (True, False):
        with wire() as server:
            server.initialize()
            children = psutil.Process(server.process.pid).children()
            assert children
            if farewell:
                server.request("bye", "shutdown")
                server.notify("exit")
            server.process.stdin.close()
            assert server.process.wait(HANGS) == (0 if farewell else 1)
            _gone, alive = psutil.wait_procs(children, HANGS)
            assert alive == []


def test_exit_during_a_scan_leaves_no_process(tmp_path):
    for number in range(100):
        (tmp_path / f"f{number}.c").write_text(DOUBLE_FREE * 60)
    with wire() as server:
        server.initialize(tmp_path, workspaceScan=True)
        family = psutil.Process(server.process.pid)
        deadline = time.monotonic() + HANGS
        while len(family.children()) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        children = family.children()
        assert len(children) >= 2
        server.request("bye", "shutdown")
        server.notify("exit")
        assert server.process.wait(HANGS) == 0
        _gone, alive = psutil.wait_procs(children, HANGS)
        assert alive == []


@watches_server
async def test_memory_stays_flat_over_thousands_of_edits(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, command=COMMAND) as editor:
        editor.open(uri, DOUBLE_FREE)
        server = psutil.Process(editor.client._server.pid)
        (worker,) = workers(editor)

        async def edit(times):
            for number in range(times):
                step = types.TextDocumentContentChangePartial(at(1), "int x; 😀\n")
                back = types.TextDocumentContentChangePartial(
                    types.Range(types.Position(1, 0), types.Position(2, 0)), ""
                )
                version = editor.change(uri, step, back)
                if number % 20 == 19:
                    await editor.diagnostics(uri, version)
                    editor.published.clear()

        def used():
            return server.memory_full_info().uss, worker.memory_full_info().uss

        await edit(2 * EDITS)
        files = server.num_fds()
        # The allocator takes memory in steps now and then; a leak grows in every stretch.
        growth = []
        for _ in range(4):
            before = used()
            await edit(EDITS)
            growth.append([after - start for start, after in zip(before, used(), strict=True)])
        for process in zip(*growth, strict=True):
            assert min(process) / EDITS < BYTES_AN_EDIT, growth
        assert abs(server.num_fds() - files) <= 2
        assert len(workers(editor)) == 1


@watches_server
async def test_documents_that_come_and_go_leave_nothing(tmp_path):
    async with running(tmp_path, command=COMMAND) as editor:
        server = psutil.Process(editor.client._server.pid)
        (worker,) = workers(editor)

        async def visit(first, last):
            for number in range(first, last):
                uri = uri_of(str(tmp_path / f"{number}.c"))
                editor.open(uri, DOUBLE_FREE * 20)
                await editor.diagnostics(uri)
                editor.close(uri)
            editor.published.clear()
            editor.changes.clear()

        used = []
        for first in range(0, 450, 150):
            await visit(first, first + 150)
            used.append(server.memory_full_info().uss + worker.memory_full_info().uss)
        # What leaks does so each time; a document of this kind has 40 kB in the worker.
        grown = min(after - before for before, after in pairwise(used))
        assert grown < 150 * 20_000, used


SWOLLEN = """
import sys, jarvis_ls.lsp.analysis_worker as analysis_worker, jarvis_ls.lsp.server as server
analysis_worker.GROWN = analysis_worker.GROWN_BYTES = 0
server.MANY_CLOSED = 20
from jarvis_ls.cli.language_server import main
sys.exit(main([]))
"""
"""As if any process had grown."""


async def test_a_process_that_has_grown_is_replaced_and_nobody_sees_it(tmp_path):
    start, sink = (uri_of(str(tmp_path / name)) for name in ("start.c", "sink.c"))
    others = [uri_of(str(tmp_path / f"o{number}.c")) for number in range(20)]
    (tmp_path / "sink.h").write_text(HEADER)
    async with running(tmp_path, command=(sys.executable, "-c", SWOLLEN)) as editor:
        editor.open(start, LONG)
        editor.open(sink, SINK)
        before = await editor.pushed(sink, lambda found: PAST in [one.code for one in found])
        for uri in others:
            editor.open(uri, DOUBLE_FREE)
            await editor.diagnostics(uri)
        (worker,) = workers(editor)
        editor.published.clear()
        for uri in others:
            editor.close(uri)
        await editor.until(lambda: worker not in workers(editor) and workers(editor))
        at_it = types.HoverParams(types.TextDocumentIdentifier(sink), before[0].range.start)
        assert await editor.request("textDocument/hover", at_it)
        await asyncio.sleep(2)
        assert [p for p in editor.published if p.uri == sink and p.diagnostics != before] == []
        editor.change(sink, types.TextDocumentContentChangePartial(at(0), "\n"))
        place = (before[0].code, before[0].range.start.line + 1)
        await editor.pushed(
            sink, lambda found: [(one.code, one.range.start.line) for one in found] == [place]
        )


@pytest.mark.parametrize(
    "arguments", [["--nonsense"], ["--tcp"], ["--tcp", "x:y"], ["a", "b", "c"]]
)
def test_wrong_arguments_are_told(arguments):
    result = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=HANGS)
    assert result.returncode == 2 and "usage: jarvis-ls" in result.stderr


def test_help_and_version():
    for argument, text in (("--help", "usage: jarvis-ls"), ("--version", "jarvis-ls ")):
        result = subprocess.run([*COMMAND, argument], capture_output=True, text=True, timeout=HANGS)
        assert result.returncode == 0 and text in result.stdout


async def test_over_tcp(tmp_path):
    command = [*COMMAND, "--tcp", "127.0.0.1:0"]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    try:
        line = (await asyncio.wait_for(process.stderr.readline(), HANGS)).decode()
        host, port = line.split()[-1].rsplit(":", 1)
        reader, writer = await asyncio.open_connection(host, int(port))
        body = (
            b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":'
            b'{"processId":null,"rootUri":null,"capabilities":{}}}'
        )
        writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert b"Content-Length" in await asyncio.wait_for(reader.readline(), HANGS)
        writer.close()
        assert await asyncio.wait_for(process.wait(), HANGS) == 1
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def test_a_module_in_the_current_folder_is_not_run(tmp_path):
    """A workspace may hold a `json.py` or a `jarvis_ls` of its own."""
    canary = tmp_path / "canary"
    for name in ("json.py", "asyncio.py", "tree_sitter.py", "sitecustomize.py"):
        (tmp_path / name).write_text(f"open({str(canary)!r}, 'w')\n")
    executable = os.path.join(os.path.dirname(sys.executable), "jarvis-ls")  # noqa: PTH118, PTH120
    with wire((executable,), cwd=tmp_path) as server:
        server.initialize(tmp_path)
        server.open((tmp_path / "a.c").as_uri(), DOUBLE_FREE)
        params = {"textDocument": {"uri": (tmp_path / "a.c").as_uri()}}
        answer = server.request(1, "textDocument/diagnostic", params)
        assert len(answer["result"]["items"]) == 1
    assert not canary.exists()

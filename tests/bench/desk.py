"""The desk while much goes on: `npm run bench -- desk`.

Hovers and light bulbs on a finding while the workspace is scanned and a model's answer streams
into the panel; a file of 22,000 lines from its opening to its findings, and edits in it. Times are
those of the server: from the last byte sent to the message read.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]  # so that `tests` is found

from tests.bench.measure.table import Table  # noqa: E402
from tests.bench.measure.tree import sources_of  # noqa: E402
from tests.lsp.page import SETTINGS  # noqa: E402
from tests.lsp.wire import OURS, Wire, wire  # noqa: E402
from tests.support.model_server import Answer, ModelServer, chunk, usage  # noqa: E402

SOURCES = ROOT / "tests" / "workspaces" / "inventory" / "src"
TWICE = "#include <stdlib.h>\nvoid f(char *p) { free(p); free(p); }\n"
SCANNED = 400
PIECES = 20_000
LINES = 22_000
EDITS = 60


def main() -> int:
    """Measure, print the table, return 1 when a target is missed."""
    sources = sources_of("libpng1.6")
    table = Table("The desk while much goes on")
    busy(table)
    large(table, sources)
    return table.finish()


def busy(table: Table) -> None:
    """Hovers and code actions in turn, from the start of the scan to its end."""
    with tempfile.TemporaryDirectory() as name, answering(Path(name, "home")), wire(OURS) as server:
        folder = Path(name, "work")
        folder.mkdir()
        sources = [file.read_text() for file in sorted(SOURCES.glob("*.c"))]
        for number in range(SCANNED):
            text = sources[number % len(sources)] + f"int unique_{number};\n"
            (folder / f"file{number}.c").write_text(text)
        server.initialize(folder, trusted=True)
        uri = (folder / "open.c").as_uri()
        server.open(uri, TWICE)
        found = published(server, uri, 1)
        ask = {"ask": {"kind": "send", "session": "", "text": "Count"}}
        assert "result" in server.request("chat", "jarvis/panel/ask", ask)
        assert server.wait_for(lambda message: "entry_grew" in str(message)), "the answer streams"
        server.send(
            {"jsonrpc": "2.0", "id": "scan", "method": "jarvis/scanWorkspace", "params": {}}
        )
        hovers, bulbs, streamed = [], [], 0
        where = found[0]["range"]
        actions = {
            "textDocument": {"uri": uri},
            "range": where,
            "context": {"diagnostics": found, "triggerKind": 1},
        }
        for number in itertools.count():
            began = time.perf_counter()
            assert server.hover(f"h{number}", uri, 1, where["start"]["character"])["result"]
            hovers.append(since(began))
            began = time.perf_counter()
            assert server.request(f"a{number}", "textDocument/codeAction", actions)["result"]
            bulbs.append(since(began))
            streamed += sum(one.get("method") == "jarvis/panel/events" for one in server.seen)
            done = next((one for one in server.seen if one.get("id") == "scan"), None)
            server.seen.clear()
            if done is not None:
                break
            time.sleep(0.005)
        assert done["result"]["files"] == SCANNED
    print(
        f"{len(hovers)} times while {SCANNED} files were scanned in "
        f"{done['result']['milliseconds'] / 1000:.1f} s and {streamed} batches of an answer came"
    )
    for what, times in (("hover", hovers), ("code action", bulbs)):
        table.note(f"{what} while scanning and chatting, median", statistics.median(times), "ms")
        table.at_most(f"{what} while scanning and chatting, p95", p95(times), 20, "ms")


def large(table: Table, sources: Path) -> None:
    """A file of 22,000 lines, without following values and with."""
    texts = [file.read_text("utf-8") for file in sorted((sources / "libpng1.6").glob("*.c"))]
    text = "\n".join("\n".join(texts).split("\n")[:LINES]) + "\n"
    uri = "file:///bench/large.c"
    for flow in (False, True):
        with wire(OURS) as server:
            server.initialize(flow=flow)
            began = time.perf_counter()
            server.open(uri, text)
            count = len(published(server, uri, 1))
            opened = since(began)
            times = edits(server, uri, text)
        what = "with flow" if flow else "without flow"
        print(f"{LINES} lines, {len(text)} bytes, {count} findings at first, {what}")
        table.at_most(f"open of {LINES} lines to its first findings, {what}", opened, 1500, "ms")
        if flow:
            table.note("edit in it, with flow, median", statistics.median(times), "ms")
        else:
            table.at_most("edit in it, without flow, median", statistics.median(times), 250, "ms")
            table.at_most("edit in it, without flow, p95", p95(times), 250, "ms")


def edits(server: Wire, uri: str, text: str) -> list[float]:
    """Return the milliseconds of keystrokes all over the file, each typed and taken back."""
    lines = [number for number, line in enumerate(text.split("\n")) if line.startswith("   ")]
    times = []
    for version in range(2, 2 * EDITS + 2, 2):
        place = {"line": lines[version * 7919 % len(lines)], "character": 4}
        typed = {"range": {"start": place, "end": place}, "text": "x"}
        undo = {"range": {"start": place, "end": {**place, "character": 5}}, "text": ""}
        for number, change in enumerate((typed, undo), version):
            began = time.perf_counter()
            server.change(uri, number, change)
            published(server, uri, number)
            times.append(since(began))
            server.seen.clear()
    return times


@contextmanager
def answering(home: Path) -> Iterator[None]:
    """A model whose answer streams for as long as the block takes, and a user who has set it up."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def begin() -> ModelServer:
        model = await ModelServer().__aenter__()
        pieces = (chunk({"content": f"word {n} "}) for n in range(PIECES))
        model.add(Answer([*pieces, chunk({}, "stop"), usage()], delay=0.005))
        return model

    model = asyncio.run_coroutine_threadsafe(begin(), loop).result()
    home.mkdir()
    (home / "config.toml").write_text(SETTINGS.format(url=model.url))
    os.environ.update(JARVIS_HOME=str(home), SCRIPTED_KEY="sk-test-0123456789")

    async def end() -> None:
        await model.__aexit__(None, None, None)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def published(server: Wire, uri: str, version: int) -> list[dict]:
    """Wait for the diagnostics of a version."""

    def wanted(message: dict) -> bool:
        params = message.get("params") or {}
        is_diagnostics = message.get("method") == "textDocument/publishDiagnostics"
        return is_diagnostics and params["uri"] == uri and params.get("version") == version

    found: list[dict] = server.wait_for(wanted)["params"]["diagnostics"]
    return found


def since(began: float) -> float:
    """Return the milliseconds since then."""
    return (time.perf_counter() - began) * 1000


def p95(times: list[float]) -> float:
    """Return the 95th percentile."""
    return sorted(times)[int(len(times) * 0.95)]


if __name__ == "__main__":
    sys.exit(main())

"""What the editor feels: `python tests/bench/editor.py`.

An edit in a 4,000-line file to its published diagnostics, and hovers while the whole workspace
is scanned. Times are the server's side: from the last byte sent to the message read.
"""

from __future__ import annotations

import itertools
import json
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from tests.bench.measure.table import Table  # noqa: E402
from tests.bench.measure.tree import sources_of  # noqa: E402
from tests.lsp.wire import OURS, Wire, wire  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests" / "workspaces" / "inventory" / "src"
LINES = 4_000
EDITS = 100
SCANNED = 400
NAME = re.compile(r"^([a-z][\w *]*?\b)(\w+)(\([^;]*\)\s*\{?)$", re.MULTILINE)


def main() -> int:
    """Measure, print the table, return 1 when a target is missed."""
    table = Table("What the editor feels")
    what = "edit in a 4,000-line file to diagnostics"
    times = edits(real_file())
    table.at_most(f"{what}, median", statistics.median(times), 25, "ms")
    table.at_most(f"{what}, p95", p95(times), 60, "ms")
    times = edits(real_file(), flow=True)
    table.note("the same while values are followed as well, median", statistics.median(times), "ms")
    table.note("the same while values are followed as well, p95", p95(times), "ms")
    times = edits(dense_file())
    table.note("the same with 60 findings in 1,000 lines, median", statistics.median(times), "ms")
    table.note("the same with 60 findings in 1,000 lines, p95", p95(times), "ms")
    hovers(table)
    return table.finish()


def real_file() -> str:
    """The first 4,000 lines of libpng's largest source."""
    sources = sources_of("libpng1.6")
    text = (sources / "libpng1.6" / "pngrutil.c").read_text(encoding="utf-8")
    return "\n".join(text.split("\n")[:LINES]) + "\n"


def dense_file() -> str:
    """4,000 lines of our flawed example, each copy of its functions with names of its own."""
    parts = [file.read_text() for file in sorted(SOURCES.glob("*.c"))]
    text = ""
    for number in itertools.count():
        for part in parts:
            text += NAME.sub(rf"\g<1>\g<2>_{number}\g<3>", part) if number else part
            if text.count("\n") >= LINES:
                return "\n".join(text.split("\n")[:LINES]) + "\n"
    raise AssertionError("unreachable")


def edits(text: str, *, flow: bool = False) -> list[float]:
    """Milliseconds of keystrokes at places all over the file, each typed and taken back, one after
    the other's diagnostics. Without `flow` they are those of the rules alone; `flow.py` measures
    those that values had their say in."""
    uri = "file:///bench/large.c"
    lines = [number for number, line in enumerate(text.split("\n")) if line.startswith("   ")]
    times = []
    with wire(OURS) as server:
        server.initialize(flow=flow)
        server.open(uri, text)
        published(server, uri, 1)
        for version in range(2, 2 * EDITS + 2, 2):
            place = {"line": lines[version * 7919 % len(lines)], "character": 4}
            typed = {"range": {"start": place, "end": place}, "text": "x"}
            undo = {"range": {"start": place, "end": {**place, "character": 5}}, "text": ""}
            for number, change in enumerate((typed, undo), version):
                started = time.perf_counter()
                server.change(uri, number, change)
                count = published(server, uri, number)
                times.append((time.perf_counter() - started) * 1000)
    print(f"edited: {text.count(chr(10))} lines, {len(text)} bytes, {count} diagnostics")
    return times


def hovers(table: Table) -> None:
    """Hovers on a finding, as fast as they are answered, from the scan's start to its end."""
    with tempfile.TemporaryDirectory() as name, wire(OURS) as server:
        folder = Path(name)
        sources = [file.read_text() for file in sorted(SOURCES.glob("*.c"))]
        for number in range(SCANNED):
            file = folder / f"file{number}.c"
            file.write_text(sources[number % len(sources)] + f"int unique_{number};\n")
        server.initialize(folder)
        uri = (folder / "open.c").as_uri()
        server.open(uri, "#include <stdlib.h>\nvoid f(char *p) { free(p); free(p); }\n")
        published(server, uri, 1)
        assert server.hover("first", uri, 1, 28)["result"]
        server.send(
            {"jsonrpc": "2.0", "id": "scan", "method": "jarvis/scanWorkspace", "params": {}}
        )
        times: list[float] = []
        done = None
        for number in itertools.count():
            started = time.perf_counter()
            assert server.hover(number, uri, 1, 28)["result"]
            times.append((time.perf_counter() - started) * 1000)
            done = next((one for one in server.seen if one.get("id") == "scan"), None)
            server.seen.clear()
            if done is not None:
                break
            time.sleep(0.005)
    assert done is not None and done["result"]["files"] == SCANNED, json.dumps(done)
    seconds = done["result"]["milliseconds"] / 1000
    print(f"hovered: {len(times)} times while {SCANNED} files were scanned in {seconds:.1f} s")
    what = "hover during a scan of the workspace"
    table.note(f"{what}, median", statistics.median(times), "ms")
    table.at_most(f"{what}, p95", p95(times), 20, "ms")


def published(server: Wire, uri: str, version: int) -> int:
    """Wait for the diagnostics of a version; how many there are."""

    def wanted(message: Any) -> bool:
        params = message.get("params") or {}
        return params.get("uri") == uri and params.get("version") == version

    return len(server.wait_for(wanted)["params"]["diagnostics"])


def p95(times: list[float]) -> float:
    """The 95th percentile."""
    return sorted(times)[int(len(times) * 0.95)]


if __name__ == "__main__":
    sys.exit(main())

"""Documents without end: large ones, many of them, and more requests than anybody waits for.

npm run bench -- documents
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import psutil

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from jarvis_ls.lsp.pygls_fixes.framing import FrameDecoder  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.lsp.wire import Wire, wire  # noqa: E402

LINE = '    if (strcmp(name, "value") == 0 && (count[i] > 3)) {\n'
FLAWED = "#include <stdlib.h>\nvoid f%d(char *p) {\n    free(p);\n    free(p);\n}\n"
DOCUMENTS = 10_000
WARMING = 300
"""Documents opened and closed before, so that all is loaded."""
RESTING = 20
"""Seconds in which memory is given back."""
EDITS, STRETCHES = 50_000, 10
REQUESTS, WITHDRAWN = 1_000, 700
PATIENCE = 600.0
HOVERS = 20


def main() -> int:
    """Measure, print the table, return 1 when a target is missed."""
    table = Table("Documents without end")
    table.at_most("message of 32 MB decoded, CPU", decoding(32), 0.5, "s")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with wire(patience=PATIENCE) as server:
            server.initialize(place)
            table.at_most("hover while 20 MB open, worst", hovering(server, place), 100, "ms")
        with wire(patience=PATIENCE) as server:
            server.initialize(place)
            late, worked = withdrawing(server, place)
            table.note("300 answers beside 700 requests taken back, last after", late, "s")
            table.at_most("of these 700, answered all the same", worked, WITHDRAWN / 2)
        with wire(patience=PATIENCE) as server:
            server.initialize(place)
            many(server, place, table)
        with wire(patience=PATIENCE) as server:
            server.initialize(place, flow=False)
            used = editing(server, place)
            table.at_most(f"{EDITS} edits, memory for each", used, 20, "B")
    return table.finish()


def text_of(megabytes: int) -> str:
    """Code of so many megabytes."""
    return LINE * (megabytes * 1_000_000 // len(LINE))


def decoding(megabytes: int) -> float:
    """Processor seconds of a message, in the pieces that a pipe gives."""
    body = json.dumps({"text": text_of(megabytes)}).encode()
    data = b"Content-Length: %d\r\n\r\n" % len(body) + body
    decoder, got = FrameDecoder(), []
    began = time.process_time()
    for at in range(0, len(data), 65536):
        got += decoder.feed(data[at : at + 65536])
    assert len(got) == 1
    return time.process_time() - began


def hovering(server: Wire, place: Path) -> float:
    """Milliseconds of the longest wait for a hover that is asked for behind a large document."""
    small, large = (place / name for name in ("small.c", "large.c"))
    server.open(small.as_uri(), FLAWED % 0)
    diagnostics(server, small)
    server.open(large.as_uri(), text_of(20))
    waits = []
    for number in range(HOVERS):
        began = time.perf_counter()
        assert server.hover(f"h{number}", small.as_uri(), 3, 5)
        waits.append(1000 * (time.perf_counter() - began))
    return max(waits)


def diagnostics(server: Wire, file: Path) -> None:
    """Wait for those of an open document."""
    params = {"textDocument": {"uri": file.as_uri()}}
    assert server.request(f"d {file}", "textDocument/diagnostic", params)["result"]


def withdrawing(server: Wire, place: Path) -> tuple[float, int]:
    """Seconds until the last answer that is wanted, and how many came that are not."""
    file, rng = place / "many.c", random.Random(2026)
    server.open(file.as_uri(), "".join(FLAWED % number for number in range(100)))
    diagnostics(server, file)
    document = {"textDocument": {"uri": file.as_uri()}}
    for number in range(REQUESTS):
        at = {"line": rng.randrange(500), "character": 5}
        method, params = rng.choice(
            [
                ("textDocument/hover", {**document, "position": at}),
                (
                    "textDocument/codeAction",
                    {
                        **document,
                        "range": {"start": at, "end": at},
                        "context": {"diagnostics": []},
                    },
                ),
                ("textDocument/codeLens", document),
                ("textDocument/diagnostic", document),
            ]
        )
        server.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    withdrawn = set(rng.sample(range(REQUESTS), WITHDRAWN))
    began = time.perf_counter()
    for number in withdrawn:
        server.notify("$/cancelRequest", {"id": number})
    for number in set(range(REQUESTS)) - withdrawn:
        assert "result" in server.answer_to(number)
    late = time.perf_counter() - began
    return late, sum("result" in server.answer_to(number) for number in withdrawn)


def many(server: Wire, place: Path, table: Table) -> None:
    """Open and close documents; what they took is given back, and the end does not wait."""
    first = place / "first.c"
    server.open(first.as_uri(), FLAWED % 0)
    opened_and_closed(server, place, WARMING)
    before = resting(server, 0)
    during = opened_and_closed(server, place, DOCUMENTS)
    diagnostics(server, first)  # on a busy machine it takes a while until all is closed
    after = resting(server, 1.2 * before)
    table.note(f"memory with {DOCUMENTS} documents, of before", 100 * during / before, "%")
    table.at_most("memory once they are closed, of before", 100 * after / before, 120, "%")
    began = time.perf_counter()
    server.request("shutdown", "shutdown")
    server.notify("exit")
    server.process.wait(PATIENCE)
    table.at_most("exit", time.perf_counter() - began, 2, "s")


def opened_and_closed(server: Wire, place: Path, count: int) -> int:
    """Bytes while so many documents are open, which are closed afterwards."""
    files = [place / f"a{count}_{number}.c" for number in range(count)]
    for number, file in enumerate(files):
        server.open(file.as_uri(), FLAWED % number)
    for file in files:  # others would be closed before their turn
        diagnostics(server, file)
    server.seen.clear()
    during = memory(server)
    for file in files:
        server.notify("textDocument/didClose", {"textDocument": {"uri": file.as_uri()}})
    return during


def resting(server: Wire, wanted: float) -> int:
    """Bytes once they are as few as wanted, or do not become fewer."""
    found = [memory(server)]
    while len(found) < RESTING and found[-1] > wanted:
        time.sleep(1)
        found.append(memory(server))
    return min(found)


def editing(server: Wire, place: Path) -> float:
    """Bytes that an edit leaves behind in the server: the median of stretches, since memory for
    small objects is taken in steps of a megabyte; as many edits before, until no more is needed."""
    file = place / "edited.c"
    server.open(file.as_uri(), FLAWED % 0)
    samples, version = [], 1
    start = {"line": 0, "character": 0}
    for stretch in range(2 * STRETCHES + 1):
        for number in range(EDITS // STRETCHES):
            version += 1
            end = {"line": 0, "character": number % 2}
            change = {"range": {"start": start, "end": end}, "text": "" if number % 2 else " "}
            server.change(file.as_uri(), version, change)
        server.request(f"rest {stretch}", "jarvis/findings", {})
        server.seen.clear()
        samples.append(psutil.Process(server.process.pid).memory_info().rss)
    grown = [after - before for before, after in pairwise(samples[STRETCHES:])]
    return max(0.0, median(grown) * STRETCHES / EDITS)


def memory(server: Wire) -> int:
    """Bytes of the server and of the processes below it."""
    process = psutil.Process(server.process.pid)
    return sum(one.memory_info().rss for one in (process, *process.children()))


if __name__ == "__main__":
    sys.exit(main())

"""Typing in a file of 4,000 lines, and hovering while the whole workspace is scanned."""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

from measure import tree
from measure.language_client import LanguageClient
from measure.table import Table

LINES = 4000
TYPED = '    strcpy(target, source); /* "quoted" */ if (n > 3) system(command);\n'
ROUNDS = 5
HOVER_EVERY = 0.02


def main() -> int:
    """Measure, print the table, return the exit status."""
    with tree.copy_of(*tree.PROGRAMS) as root:
        file = root / "long.c"
        file.write_text(_long_file(root), encoding="utf-8")
        client = LanguageClient()
        client.initialize(root, workspaceScan=False, debounce=0)
        client.open(file.as_uri(), file.read_text(encoding="utf-8"))
        client.diagnostics(file.as_uri(), 0)
        edits = _type(client, file)
        hovers, seconds = _hover_during_scan(client, file)
        client.close()

    table = Table(f"editor, a file of {LINES} lines, {len(edits)} edits, {len(hovers)} hovers")
    table.at_most("edit to diagnostics, median", statistics.median(edits), 25, "ms")
    table.at_most("edit to diagnostics, p95", _p95(edits), 60, "ms")
    table.note("scan of the workspace meanwhile", seconds, "s")
    table.note("hover during the scan, median", statistics.median(hovers), "ms")
    table.at_most("hover during the scan, p95", _p95(hovers), 20, "ms")
    return table.finish()


def _long_file(root: Path) -> str:
    parts = ("bzip2.c", "bzlib.c", "decompress.c")
    text = "".join((root / "bzip2" / part).read_text(encoding="utf-8") for part in parts)
    lines = text.split("\n")
    if len(lines) < LINES:
        raise RuntimeError(f"only {len(lines)} lines")
    return "\n".join(lines[:LINES])


def _type(client: LanguageClient, file: Path) -> list[float]:
    """Type a line in the middle of a function character by character, and take it back."""
    lines = file.read_text(encoding="utf-8").split("\n")
    row = next(i for i, line in enumerate(lines) if "compressStream" in line) + 12
    version = 0
    spent = []
    for _ in range(ROUNDS):
        for column, character in enumerate(TYPED):
            version += 1
            position = {"line": row, "character": column}
            spent.append(_edit(client, file, version, position, position, character))
        version += 1
        start, end = {"line": row, "character": 0}, {"line": row + 1, "character": 0}
        spent.append(_edit(client, file, version, start, end, ""))
    return spent


def _edit(
    client: LanguageClient,
    file: Path,
    version: int,
    start: dict[str, int],
    end: dict[str, int],
    text: str,
) -> float:
    began = time.perf_counter()
    client.notify(
        "textDocument/didChange",
        {
            "textDocument": {"uri": file.as_uri(), "version": version},
            "contentChanges": [{"range": {"start": start, "end": end}, "text": text}],
        },
    )
    return (client.diagnostics(file.as_uri(), version) - began) * 1000


def _hover_during_scan(client: LanguageClient, file: Path) -> tuple[list[float], float]:
    """Milliseconds of each hover, and the seconds of the scan."""
    began = time.perf_counter()
    scan = client.send("jarvis/scanWorkspace", {"changedOnly": False})
    spent = []
    while not client.is_answered(scan):
        position = {"line": 100 + len(spent) % (LINES - 200), "character": 8}
        sent = time.perf_counter()
        answered = client.request(
            "textDocument/hover", {"textDocument": {"uri": file.as_uri()}, "position": position}
        )
        spent.append((answered - sent) * 1000)
        time.sleep(HOVER_EVERY)
    return spent, client.answer(scan) - began


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    sys.exit(main())

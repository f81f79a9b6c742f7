"""A scan of bzip2, zlib, libpng and sqlite, against parsing alone, flawfinder and cppcheck: the
rules alone (`--no-flow`), and with the analysis of flow."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from measure import cost, tree
from measure.jsec import Scan, scan
from measure.table import Table

PARSE_ONLY = Path(__file__).parent / "measure" / "parse_only.py"
TIMES_CPPCHECK = 10


def main() -> int:
    """Measure, print the table, return the exit status."""
    with tree.copy_of(*tree.PROGRAMS) as root:
        scan(root / tree.PROGRAMS[0], "--no-cache")  # byte code is there, as in an installed jsec
        parsed = json.loads(cost.run([cost.python(), PARSE_ONLY, root]).output)
        files: list[str] = parsed["files"]
        report = scan(root, "--jobs", "1", "--no-cache", "--no-flow")
        flow = scan(root, "--jobs", "1", "--no-cache").cost
        one, scanned = report.cost, report.summary["scanned_files"]
        if scanned != len(files):
            raise RuntimeError(f"{scanned} files scanned, {len(files)} parsed")
        flawfinder = cost.run(["flawfinder", "--quiet", "--dataonly", *files])
        # cppcheck takes hours on the whole: a little more than the limit shows that it is reached.
        cppcheck = cost.run(
            ["cppcheck", "--quiet", "--enable=warning,style", *files],
            cpu_limit=1.2 * TIMES_CPPCHECK * one.cpu,
        )
        first, second = _with_cache(root)

    table = Table(f"jsec scan of {len(files)} files, {', '.join(tree.PROGRAMS)}")
    table.note("jsec --no-flow, one job, no cache", one.cpu, "CPU s")
    table.note("jsec with flow, one job, no cache", flow.cpu, "CPU s")
    table.note("parsing alone", parsed["seconds"], "CPU s")
    table.note("flawfinder", flawfinder.cpu, "CPU s")
    table.note("cppcheck" + ("" if cppcheck.finished else ", ended here"), cppcheck.cpu, "CPU s")
    table.at_most("jsec --no-flow / parsing alone", one.cpu / parsed["seconds"], 4, "x")
    table.at_most("jsec with flow / parsing alone", flow.cpu / parsed["seconds"], 15, "x")
    table.at_most("jsec / flawfinder", one.cpu / flawfinder.cpu, 6, "x")
    table.at_least("cppcheck / jsec", cppcheck.cpu / one.cpu, TIMES_CPPCHECK, "x")
    table.note("first run with cache, all processors", first.cost.seconds, "s")
    table.note("second run, nothing changed", second.cost.seconds, "s")
    table.at_least("files the second run knew", second.summary["cached_files"], len(files))
    table.at_least("first / second run", first.cost.seconds / second.cost.seconds, 10, "x")
    table.at_most("memory of the scan, one job", one.memory, 300, "MB")
    table.at_most("memory of the scan, all processors", first.cost.memory, 300, "MB")
    return table.finish()


def _with_cache(root: Path) -> tuple[Scan, Scan]:
    shutil.rmtree(root / ".jarvis", ignore_errors=True)
    first, second = scan(root), scan(root)
    if _without_number(first) != _without_number(second):
        raise RuntimeError("the second run found something else than the first")
    return first, second


def _without_number(report: Scan) -> list[dict[str, Any]]:
    return [{**issue, "gid": None} for issue in report.issues]


if __name__ == "__main__":
    sys.exit(main())

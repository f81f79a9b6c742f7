"""`jsec explain-finding`: one finding of the last scan, and the path that leads to it."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.cli.scanning import wants_colour
from jarvis_ls.core.errors import SkippedFile, UsageError
from jarvis_ls.core.files import STATE, read_regular
from jarvis_ls.core.finding import Span
from jarvis_ls.core.store import read_records
from jarvis_ls.jsec.report.text import Paint, Sources, painter, printable, wrap_lines
from jarvis_ls.jsec.scan.folder import project_root
from jarvis_ls.jsec.scan.project import digest_of
from jarvis_ls.jsec.scan.records import CANDIDATES, read_messages, read_scanned

_LIMIT = 64_000_000


def run_explain_finding(options: argparse.Namespace) -> ExitStatus:
    """Show a finding; raises `UsageError` when the last scan has none of that name."""
    root = project_root(options.folder)
    paint = painter(wants_colour(options.color))
    width = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
    found = _find(root, options.finding)
    for number, record in enumerate(found):
        print(*([""] if number else []), *_finding_lines(root, record, paint, width), sep="\n")
    return ExitStatus.SUCCESS


def _find(root: Path, name: str) -> list[dict[str, Any]]:
    """Return the findings of that name: two on one line may share an id."""
    if not (root / STATE / "sec" / CANDIDATES).is_file():
        raise UsageError("{root} has not been scanned yet; run `jsec scan` there first", root=root)
    records = [
        read_record
        for read_record in read_records(root / STATE / "sec" / CANDIDATES)
        if _is_finding(read_record)
    ]
    by_name = [
        record
        for record in records
        if name in (record["id"], record["fingerprint"], str(record["gid"]))
    ]
    if not by_name:
        raise UsageError(
            (
                "unknown finding '{name}' (the last scan has {count}); `jsec scan --format "
                "json` lists id, gid and fingerprint"
            ),
            name=name,
            count=len(records),
        )
    return by_name


def _finding_lines(root: Path, record: dict[str, Any], paint: Paint, width: int) -> Iterator[str]:
    sources = Sources(str(root))
    cwe = "".join(f" CWE-{number}" for number in record["cwe"])
    yield paint(f"{printable(record['file'])}:{record['line']}:{record['column']}", "bold")
    known = read_messages(root)

    def say(text: str, **values: object) -> str:
        return reporter()(known.get(text, text), **values)

    sure = f"{say('confidence')} {record['confidence']:.2f}, {say(record['severity'])}"
    yield f"  {record['rule']}{cwe}, {sure}, id {record['id']}"
    yield from wrap_lines(say(record["description"]), width)
    yield from sources.excerpt(_span(record), record["file"], paint, width)
    if record["suggestion"]:
        yield from wrap_lines(f"→ {say(record['suggestion'])}", width)
    yield ""
    steps = [step for step in record["trace"] if _is_place(step)]
    if len(steps) < 2:
        yield say("This finding has no path: only its location is known.")
        steps = []
    for number, step in enumerate(steps, 1):
        yield paint(f"{number:>3}. {printable(step['file'])}:{step['line']}", "bold")
        yield from wrap_lines(say(step["message"]), width)
        yield from sources.excerpt(_span(step), step["file"], paint, width)
    changed = _changed_files(root, {record["file"], *(step["file"] for step in steps)})
    if changed:
        yield ""
        names = ", ".join(printable(file) for file in changed)
        yield say("Changed since the scan; line numbers may be off: {files}", files=names)


def _changed_files(root: Path, files: set[str]) -> list[str]:
    scanned = read_scanned(root)
    changed = []
    for file in sorted(files):
        try:
            now = digest_of(read_regular(root / file, limit=_LIMIT, root=str(root)))
        except SkippedFile:
            now = ""
        if scanned.get(file, now) != now or not now:
            changed.append(file)
    return changed


def _is_finding(value: Any) -> bool:
    """Return whether a record has what is shown of it: the file may have been edited by hand."""
    texts = ("id", "fingerprint", "rule", "file", "description", "suggestion", "severity")
    return (
        isinstance(value, dict)
        and _is_place(value)
        and all(isinstance(value.get(key), str) for key in texts)
        and isinstance(value.get("gid"), int)
        and isinstance(value.get("confidence"), int | float)
        and all(isinstance(value.get(key), list) for key in ("cwe", "trace"))
    )


def _is_place(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("file"), str)
        and isinstance(value.get("message", ""), str)
        and all(isinstance(value.get(key), int) and value[key] > 0 for key in ("line", "column"))
    )


def _span(place: dict[str, Any]) -> Span:
    line, column = place["line"], place["column"]
    end_line, end_column = place.get("end_line"), place.get("end_column")
    if isinstance(end_line, int) and isinstance(end_column, int) and end_line >= line:
        return Span(line, column, end_line, max(end_column, 1))
    return Span(line, column, line, column + 1)

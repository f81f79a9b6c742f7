"""What a scan leaves for the next stages in `.jarvis/sec`, and for the next `--changed` scan.

`candidates.jsonl` is the contract of the seeds: one finding a line, numbered from 1 by `gid`;
what comments or the baseline hide is not in it. `messages.jsonl` has the template and the values of
each text in it, for who says it in another language. `scanned.jsonl` names the bytes of each file
the scan saw.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_ls.core.files import STATE, keep_out_of_git, state_folder
from jarvis_ls.core.finding import Finding, words_of
from jarvis_ls.core.store import read_records, replace_records
from jarvis_ls.core.words import from_json, to_json
from jarvis_ls.jsec.scan.result import ScanResult

CANDIDATES = "candidates.jsonl"
MESSAGES = "messages.jsonl"
SCANNED = "scanned.jsonl"


def number(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with `gid` 1 to N in their order; hidden ones get 0."""
    numbered, gid = [], 0
    for finding in findings:
        gid += not finding.suppressed
        numbered.append(replace(finding, gid=0 if finding.suppressed else gid))
    return numbered


def write(root: Path, result: ScanResult) -> None:
    """Replace the records by those of a scan of the whole folder.

    Raises `JarvisError` when that is not possible; the old records then stay as they were.
    """
    folder = state_folder(root, "sec")
    # the baseline is for everybody
    keep_out_of_git(folder, CANDIDATES, MESSAGES, SCANNED, ".gitignore")
    replace_records(folder / MESSAGES, _messages(result).values())
    replace_records(
        folder / CANDIDATES, [finding.to_json() for finding in result.findings if finding.gid]
    )
    replace_records(folder / SCANNED, sorted(result.digests.items()))


def update(root: Path, result: ScanResult, present: Collection[str]) -> None:
    """Take a scan of some files into the records; other files of `present` keep theirs.

    Raises `JarvisError` as `write` does.
    """
    folder = state_folder(root, "sec")
    seen = {*result.digests, *(file.path for file in result.skipped)}
    kept = [
        read_record
        for read_record in read_records(folder / CANDIDATES)
        if isinstance(read_record, dict)
        and read_record.get("file") in present
        and read_record["file"] not in seen
    ]
    merged = sorted(
        [*kept, *(finding.to_json() for finding in result.findings if finding.gid)], key=_place
    )
    texts = {text for record in kept for text in _texts(record)}
    said = [row for row in read_records(folder / MESSAGES) if _is_said(row, texts)]
    messages = {**{row["text"]: row for row in said}, **_messages(result)}
    replace_records(folder / MESSAGES, messages.values())
    replace_records(
        folder / CANDIDATES, [{**record, "gid": n} for n, record in enumerate(merged, 1)]
    )
    digests = {file: digest for file, digest in read_scanned(root).items() if file in present}
    replace_records(folder / SCANNED, sorted({**digests, **result.digests}.items()))


def read_scanned(root: Path) -> dict[str, str]:
    """Digest of each file at the last scan; empty when there was none."""
    return {
        read_record[0]: read_record[1]
        for read_record in read_records(root / STATE / "sec" / SCANNED)
        if isinstance(read_record, list)
        and len(read_record) == 2
        and all(isinstance(part, str) for part in read_record)
    }


def read_messages(root: Path) -> dict[str, str]:
    """Return the `Words` of each text in the records, by the text; what has none is not in it."""
    rows = read_records(root / STATE / "sec" / MESSAGES)
    return {row["text"]: from_json(row) for row in rows if _is_said(row)}


def _messages(result: ScanResult) -> dict[str, Any]:
    """Return what `to_json` makes of each message in the records, by its text."""
    messages = {
        message
        for finding in result.findings
        if finding.gid
        for message in (
            finding.message,
            finding.suggestion,
            *(step.message for step in finding.steps),
        )
    }
    rows = ({**to_json(words_of(message)), "text": str(message)} for message in messages)
    return {row["text"]: row for row in sorted(rows, key=operator.itemgetter("text"))}


def _texts(record: dict[str, Any]) -> set[str]:
    steps = record.get("trace")
    found = [record.get("description"), record.get("suggestion")]
    found += [
        step.get("message")
        for step in (steps if isinstance(steps, list) else ())
        if isinstance(step, dict)
    ]
    return {text for text in found if isinstance(text, str)}


def _is_said(row: Any, texts: Collection[str] | None = None) -> bool:
    """Return whether a record is a message, of `texts` if they are given."""
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        return False
    return isinstance(from_json(row), str) and (texts is None or row["text"] in texts)


def _place(record: dict[str, Any]) -> tuple[list[str], int, int]:
    line, column = record.get("line"), record.get("column")
    return (
        record["file"].split("/"),
        line if isinstance(line, int) else 0,
        column if isinstance(column, int) else 0,
    )

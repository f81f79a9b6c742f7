"""`symbol_map.jsonl`: which Rust a C function has become, one record each, as the seeds name it."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jarvis_ls.core.store import read_records, replace_records
from jarvis_ls.jc2r.rewrite.journal import Record
from jarvis_ls.jc2r.rewrite.subject import Subject, function_of

SYMBOL_MAP = "symbol_map.jsonl"


def write_symbol_map(
    folder: Path, subjects: Mapping[tuple[str, str], Subject], records: Iterable[Record]
) -> None:
    """Keep what functions have become; a record that says the same as before keeps its time.
    `folder` is `.jarvis/c2rust` of a project. Raises `JarvisError`."""
    known = {
        (line.get("c_file"), line.get("c_name")): line
        for line in read_records(folder / SYMBOL_MAP)
        if isinstance(line, dict)
    }
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    found = []
    for record in records:
        subject = subjects.get((record.file, record.name))
        if subject is None or not (record.is_rewritten or record.is_skipped):
            continue
        told: dict[str, Any] = {
            "c_name": subject.name,
            "c_qname": subject.name,
            "c_file": subject.file,
            "start_line": subject.line,
            "end_line": subject.end_line,
            "module": subject.module.as_posix(),
            "rust_symbol": _rust_symbol(subject, record),
            "skipped": record.is_skipped,
        }
        before = known.get((subject.file, subject.name), {})
        same = {name: value for name, value in before.items() if name != "updated_at"} == told
        found.append({**told, "updated_at": before["updated_at"] if same else now})
    replace_records(folder / SYMBOL_MAP, found)


def _rust_symbol(subject: Subject, record: Record) -> str:
    """Return the safe function where there is one, else the one that C calls."""
    has_inner = record.is_rewritten and function_of(record.after, subject.inner) is not None
    return subject.inner if has_inner else subject.rust_name

"""Takes a function that a model has rewritten back to its baseline."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.crate.config import alone, folder_of
from jarvis_ls.jc2r.crate.git_history import History
from jarvis_ls.jc2r.crate.state import VERIFY, read_state, record_stage
from jarvis_ls.jc2r.lift.compiler import check, errors_of
from jarvis_ls.jc2r.lift.crate_copy import CrateCopy, duplicate_crate
from jarvis_ls.jc2r.lift.sources import find_crate, replace_sources
from jarvis_ls.jc2r.rewrite.journal import (
    FOLDER,
    Journal,
    Outcome,
    Record,
    read_converted,
    write_progress,
)
from jarvis_ls.jc2r.translate.manifest import format_source


def revert_function(root: Path, name: str) -> Record:
    """Put the baseline of a function, `NAME` or `FILE:NAME`, in the place of what a model wrote,
    as one commit; return what is kept of it: no later run rewrites it unless it is to try again.

    Raises `UsageError` when no model has rewritten it, and `JarvisError` when what was written has
    changed since, or the crate does not build without it: other functions may call it.
    """
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    with alone(folder):
        state = read_state(folder)
        crate = find_crate(folder, state)
        journal = Journal(folder / FOLDER, state.translation)
        try:
            record = _find(journal, name)
            text = _without(crate, folder / FOLDER, record)
            if text is not None:
                if VERIFY in state.done:  # what was compared is not what is there now
                    record_stage(folder, state, VERIFY, done=False)
                replace_sources(crate, {Path(record.module): text})
            title = f"Reverted: {record.file}: {record.name}"
            History(crate).commit([record.module], title)
            why = Words("reverted by the user")
            kept = replace(record, outcome=Outcome.KEPT.value, reason=why, after="", counts={})
            journal.add(kept)
            converted = read_converted(folder)
            converted.pop(f"{record.file}:{record.name}", None)
            write_progress(folder, {}, converted, journal.records.values())
            return kept
        finally:
            journal.close()


def _find(journal: Journal, name: str) -> Record:
    for record in journal.records.values():
        if record.is_rewritten and name in (record.name, f"{record.file}:{record.name}"):
            return record
    raise UsageError("{name}: no model has rewritten this function.", name=name)


def _without(crate: Path, work: Path, record: Record) -> bytes | None:
    """Return the module with the baseline of a function, which builds; None when the baseline is
    there already: a run was killed after it had put it there."""
    copy = duplicate_crate(crate, work)
    files = CrateCopy(copy)
    path = copy / record.module
    texts = files.texts()
    if path not in texts:
        raise JarvisError("{path}: no such file.", path=crate / record.module)
    text = texts[path].decode("utf-8", "replace")
    before, after = (format_source(part).strip() for part in (record.before, record.after))
    if text.count(after) != 1:
        if before in text:
            return None
        raise JarvisError("{name} has changed since it was rewritten.", name=record.name)
    files.write(path, text.replace(after, before).encode())
    if errors := errors_of(check(copy)):
        raise JarvisError(
            "{name} cannot be reverted alone, because the crate does not build without it: {why}."
            " Revert the functions that call it first.",
            name=record.name,
            why=errors[0].text,
        )
    return path.read_bytes()

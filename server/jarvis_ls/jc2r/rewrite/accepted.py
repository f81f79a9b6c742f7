"""The functions that were accepted, put into the crate: a commit each, and notes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.crate.git_history import History
from jarvis_ls.jc2r.crate.state import VERIFY, State, record_stage
from jarvis_ls.jc2r.lift.rust import parse_source
from jarvis_ls.jc2r.lift.sources import replace_sources
from jarvis_ls.jc2r.prepare.proposals import Interface
from jarvis_ls.jc2r.rewrite.function_tests import file_of, is_exported, text_of
from jarvis_ls.jc2r.rewrite.journal import Journal, Record, read_converted, write_progress
from jarvis_ls.jc2r.rewrite.subject import Subject, item_text, replace_item
from jarvis_ls.jc2r.rewrite.symbol_map import write_symbol_map
from jarvis_ls.jc2r.translate.manifest import format_source


class AcceptedFunctions:
    """Those of one crate."""

    def __init__(self, folder: Path, crate: Path, state: State, journal: Journal) -> None:
        """`folder` is `.jarvis/c2rust` of the project."""
        self._folder, self._crate, self._state, self._journal = folder, crate, state, journal
        self._history = History(crate)
        self._converted = read_converted(folder)
        self.subjects: dict[tuple[str, str], Subject] = {}

    def finish_killed(self) -> None:
        """Put into the crate what a killed run had accepted and not put there."""
        for record in self._journal.records.values():
            if record.is_rewritten and f"{record.file}:{record.name}" not in self._converted:
                self.apply(record)

    def apply(self, record: Record) -> None:
        """Put an accepted function into the crate, as one commit."""
        path = self._crate / record.module
        if path not in {
            *(self._crate / "src").glob("*.rs"),
            *(self._crate / "src").glob("bin/*.rs"),
        }:
            return  # nothing of ours
        data = path.read_bytes()
        if item_text(parse_source(path, data), record.name) == record.before:
            new = replace_item(data, record.name, record.after)
            assert new is not None  # it is there
            if VERIFY in self._state.done:  # what was compared is not what is there now
                record_stage(self._folder, self._state, VERIFY, done=False)
            text = format_source(new.decode("utf-8", "replace")).encode()
            replace_sources(self._crate, {Path(record.module): text})
        written = [record.module, *self._add_tests(Path(record.module))]
        self._history.commit(written, f"Rewritten: {record.file}: {record.name}")
        self._converted[f"{record.file}:{record.name}"] = self._history.head()
        self.write_map()
        self.note_progress(None)

    def write_map(self) -> None:
        """Keep which Rust the functions have become."""
        if self.subjects:  # else what a killed run left is finished first
            write_symbol_map(self._folder, self.subjects, self._journal.records.values())

    def note_progress(self, subject: Subject | None, planned: Interface | None = None) -> None:
        """Keep which function is worked on, and which are done."""
        current = {} if subject is None else _current(subject, planned)
        write_progress(self._folder, current, self._converted, self._journal.records.values())

    def _add_tests(self, module: Path) -> list[str]:
        """Put the tests of the functions of a module that C can call beside the crate, which keep
        their names and types; return the file, if there is one."""
        tests = {
            record.name: code
            for record in self._journal.records.values()
            if record.is_rewritten
            and Path(record.module) == module
            and is_exported(record.before)
            and (code := self._journal.tests.get((record.file, record.name)))
        }
        if not tests:
            return []
        path = file_of(module)
        (self._crate / path).parent.mkdir(exist_ok=True)
        text = format_source(text_of(self._crate, module, tests))
        replace_file(self._crate / path, text.encode())
        return [path.as_posix()]


def _current(subject: Subject, planned: Interface | None) -> dict[str, Any]:
    return {
        **({"id": planned.id, "rust_signature": planned.rust_signature} if planned else {}),
        "name": subject.name,
        "qname": subject.name,
        "file": subject.file,
        "start_line": subject.line,
        "end_line": subject.end_line,
        "module": subject.module.as_posix(),
    }

"""A program of a few files that are all in memory."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from jarvis_ls.jsec.flow.domain.call_summary import CallSummary
from jarvis_ls.jsec.flow.ir.declarations import FileIR, FunctionIR, GlobalIR, RecordIR
from jarvis_ls.jsec.flow.ir.types import FunctionType
from jarvis_ls.jsec.flow.library.c_functions import STOPS
from jarvis_ls.jsec.flow.program.file_outline import habits_of
from jarvis_ls.jsec.flow.program.member_facts import member_facts, members_of, unbounded


class Files:
    """A lookup over a few files that are all in memory."""

    def __init__(self, files: Iterable[FileIR]) -> None:
        self.files = {file.path: file for file in files}

    @property
    def is_watched(self) -> bool:
        """Return whether it is noted what is asked: there is no one to note it for."""
        return False

    def function(self, name: str, from_file: str) -> FunctionIR | None:
        """See `Lookup`."""
        for file in self._from(from_file):
            found = file.functions.get(name)
            if found is not None and (file.path == from_file or not found.static or found.record):
                return found
        return None

    def overloads(self, name: str, from_file: str) -> list[FunctionIR]:
        """See `Lookup`."""
        first = self.function(name, from_file)
        known = self.files[first.file].functions.values() if first is not None else ()
        found = [function for function in known if function.name == name]
        return found if len(found) > 1 else []

    def overrides(self, record: str, method: str, from_file: str) -> list[FunctionIR]:
        """See `Lookup`."""
        found = []
        names = self._derived_classes(record)
        for file in self._from(from_file):
            for function in file.functions.values():
                if function.record in names and function.name.rpartition("::")[2] == method:
                    found.append(function)
        return found

    def _derived_classes(self, record: str) -> set[str]:
        names = {record}
        for _ in range(8):
            more = {
                r.name
                for f in self.files.values()
                for r in f.records.values()
                if names & set(r.bases)
            } - names
            if not more:
                break
            names |= more
        return names

    def variable(self, name: str, from_file: str) -> GlobalIR | None:
        """See `Lookup`."""
        declared = None
        for file in self._from(from_file):
            found = file.globals.get(name)
            if found is not None and (file.path == from_file or not found.static):
                if not found.extern:
                    return found
                declared = declared or found
        return declared

    def record(self, name: str, from_file: str) -> RecordIR | None:
        """See `Lookup`."""
        for file in self._from(from_file):
            found = file.records.get(name)
            if found is not None:
                return found
        return None

    def is_written(self, name: str, from_file: str) -> bool:
        """See `Lookup`."""
        own = self.files.get(from_file)
        variable = own.globals.get(name) if own is not None else None
        if own is not None and variable is not None and variable.static:
            return name in own.written
        return any(name in file.written for file in self.files.values())

    def decoded_members(self, record: str, from_file: str) -> frozenset[str]:
        """See `Lookup`."""
        known = self.record(record, from_file)
        if known is None:
            return frozenset()
        decoded, bounded = self._member_facts
        return unbounded(known, set(members_of(record, decoded)), set(members_of(record, bounded)))

    @cached_property
    def _member_facts(self) -> tuple[frozenset[str], frozenset[str]]:
        facts = [member_facts(file) for file in self.files.values()]
        empty: frozenset[str] = frozenset()
        return empty.union(*(d for d, _ in facts)), empty.union(*(b for _, b in facts))

    def untested_uses(self, function: FunctionIR) -> frozenset[str] | None:
        """See `Lookup`: it is worked out where it is asked for."""
        return None

    def habit(self, key: str, from_file: str) -> tuple[int, int]:
        """See `Lookup`."""
        return self._habits.get(key, (0, 0))

    @cached_property
    def _habits(self) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for file in self.files.values():
            for function in file.functions.values():
                for key, is_tested in habits_of(function, file.records):
                    tested, untested = found.get(key, (0, 0))
                    found[key] = tested + is_tested, untested + (not is_tested)
        return found

    def summary(self, name: str, from_file: str) -> CallSummary | None:
        """See `Lookup`: here every call is followed."""
        return None

    def comes_back(self, name: str, from_file: str) -> bool:
        """See `Lookup`: here every call is followed."""
        return False

    def ends(self, name: str) -> bool:
        """Return whether a library function of that name does not return."""
        return name in STOPS

    def stops(self, name: str, from_file: str) -> bool:
        """See `Lookup`."""
        return any(name in file.stops for file in self.files.values())

    def prototype(self, name: str, from_file: str) -> FunctionType | None:
        """See `Lookup`."""
        found = (file.prototypes.get(name) for file in self._from(from_file))
        known = next((type_ for type_ in found if type_ is not None), None)
        own = self.files.get(from_file)
        return own.imported.get(name) if known is None and own is not None else known

    def is_cpp(self, file: str) -> bool:
        """See `Lookup`."""
        own = self.files.get(file)
        return own is not None and own.language == "cpp"

    def _from(self, path: str) -> Iterable[FileIR]:
        own = self.files.get(path)
        if own is not None:
            yield own
        for other, file in self.files.items():
            if other != path:
                yield file

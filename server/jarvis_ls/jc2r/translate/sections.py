"""Sections of the linker that several variables share: programs walk them from one to the next.

The linker puts what is in a section one behind the other, as the files are linked and as each
of them has it. Rust promises no order, so such variables stay in C, in the order in which their
file has them, and the objects that hold them are joined before anything else is linked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_BESIDE = "other variables of section {section} are laid out around it in a fixed order"
_UNKNOWN = "other variables of section {section} are laid out around it in an unknown order"
_LAST = "variables of section {section} that must follow it come before it here"


class Sections:
    """Which files put how much into which section. Those with a dot in front are the linker's, and
    have no name in C from which one could walk."""

    def __init__(self) -> None:
        self._found: dict[str, Counter[str]] = {}
        self._places: dict[str, int] = {}
        self._programs: set[str] = set()

    def add(self, file: str, place: int, sections: Iterable[str], *, is_program: bool) -> None:
        """Add the sections of a file's variables; `place` is that of the file in link order, 0 when
        that is not known.
        """
        self._places[file] = place
        if is_program:
            self._programs.add(file)
        for section in sections:
            if section and not section.startswith("."):
                self._found.setdefault(section, Counter())[file] += 1

    def reason(self, section: str, file: str) -> str:
        """Return why a variable of a section is to stay in C; empty when it is alone there."""
        files = self._found.get(section, Counter())
        if files.total() < 2:
            return ""
        others = files.keys() - {file}
        form = _BESIDE
        if others and not all(map(self._places.__getitem__, files)):
            form = _UNKNOWN
        elif file in self._programs and any(
            self._places[other] > self._places[file] for other in others - self._programs
        ):
            form = _LAST
        return form.format(section=section)

    def shared_files(self) -> list[str]:
        """Return the files with sections that several variables share, as they are linked."""
        found = {file for files in self._found.values() if files.total() > 1 for file in files}
        return sorted(found, key=lambda file: (self._places[file], file))

"""Which of several files of a library a program means, when they define the same.

No linker takes two definitions of one name. So a program that needs one file of them is without
the others, and so is one that defines for itself what they define. Of a file that is compiled in
several ways it has that which is compiled as the program is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Part:
    """What the linker sees of a file."""

    file: str
    defined: frozenset[str]
    """What it defines for others, without what gives way or may be there twice."""
    functions: frozenset[str]
    """Those of `defined` that are functions."""
    asked: frozenset[str]
    """What it leaves to others."""
    is_program: bool
    of: str = ""
    """The file that it is compiled from in another way."""
    way: frozenset[str] = frozenset()
    """What it is compiled with that makes a difference."""


def shared_definitions(parts: Sequence[Part]) -> dict[str, list[str]]:
    """Functions that several files of one folder define and that others ask for, with those files
    in their order."""
    found: dict[str, list[str]] = {}
    for part in parts:
        for name in () if part.is_program else part.functions:
            found.setdefault(name, []).append(part.file)
    asked = {name for part in parts for name in part.asked}
    bases = {part.file: part.of or part.file for part in parts}
    elsewhere = {
        name for part in parts if not part.is_program for name in part.defined - part.functions
    }
    return {
        name: files
        for name, files in found.items()
        if len(files) > 1
        and name in asked
        and name not in elsewhere
        and len({PurePosixPath(bases[file]).parent for file in files}) == 1
    }


def linked_files(program: Part, parts: Sequence[Part], names: Collection[str]) -> dict[str, str]:
    """Return which file's functions of those names a program is linked with; the first where that
    is unknown. What the program defines is its own.
    """
    by_name: dict[str, list[Part]] = {}
    for part in _of_its_way(program, parts):
        for name in () if part.is_program else part.defined:
            by_name.setdefault(name, []).append(part)
    linked = _Linked(by_name)
    linked.take(program)
    for name in sorted(names):
        linked.settle(name)
    return {
        name: found
        for name in names
        if (found := linked.has.get(name, program.file)) != program.file
    }


def _of_its_way(program: Part, parts: Sequence[Part]) -> list[Part]:
    """Files in the way of a program, or in their first where there is none such."""
    found: dict[str, Part] = {}
    for part in parts:
        known = found.setdefault(part.of or part.file, part)
        if known.way != program.way == part.way:
            found[part.of or part.file] = part
    return list(found.values())


class _Linked:
    """What one program is linked with, as far as that is known."""

    def __init__(self, by_name: Mapping[str, Sequence[Part]]) -> None:
        self._by_name = by_name
        self.has: dict[str, str] = {}
        """The file that brings each name."""
        self._without: set[str] = set()
        """Files that define what is there already."""
        self._asked: set[str] = set()
        self._open: set[str] = set()
        """What is asked for and could be one of several."""

    def take(self, part: Part) -> None:
        """Link the program with a file, and with what only one other file has for it."""
        waiting = [part]
        while waiting:
            while waiting:
                waiting += self._requirements(waiting.pop())
            alone = {
                name: found
                for name in sorted(self._open)
                if len(found := self._candidates(name)) < 2
            }
            self._open -= alone.keys()
            waiting = [definition for found in alone.values() for definition in found]

    def settle(self, name: str) -> None:
        """Take the first of several files that are left for a name."""
        if name in self._asked and (found := self._candidates(name)):
            self._open.discard(name)
            self.take(found[0])

    def _requirements(self, part: Part) -> list[Part]:
        """Return what a file needs that only one other has."""
        if part.file in self._without:
            return []
        self._without.add(part.file)
        for name in part.defined:
            self.has[name] = part.file
            self._without.update(definition.file for definition in self._by_name.get(name, ()))
        found = []
        for name in sorted(part.asked - self._asked):
            candidates = self._candidates(name)
            found += candidates if len(candidates) == 1 else []
            self._open |= {name} if len(candidates) > 1 else set()
        self._asked |= part.asked
        return found

    def _candidates(self, name: str) -> list[Part]:
        """Files that may bring a name that none has brought yet."""
        if name in self.has:
            return []
        return [
            definition
            for definition in self._by_name.get(name, ())
            if definition.file not in self._without
        ]

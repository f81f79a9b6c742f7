"""In which way a build has compiled what it made, of files that it compiles in several.

A crate has one way of each file in its library, and of each program that it has the way of this
program. An object that was compiled in another way must not give way to the crate, whose functions
have the same names and do something else.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.jc2r.build.archives import members
from jarvis_ls.jc2r.build.compile_commands import SUFFIXES, Unit
from jarvis_ls.jc2r.build.variants import meaning

_NOT_COMPILED = ("-E", "-M", "-MM")
_MEMBERS = 256_000_000
"""Bytes of an archive that is looked into."""

Way = tuple[str, frozenset[str]]
"""A file, relative to the project, and what it is compiled with that changes its meaning."""


@dataclass(slots=True)
class BuiltWays:
    """What is in the files that a build has made."""

    made: dict[Path, set[Way]] = field(default_factory=dict)
    """By object, library and program."""
    _ways: dict[str, set[frozenset[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Mapping[str, Any]], copy: Path) -> BuiltWays:
        """Return what recorded commands of the compilers have made in `copy`."""
        found = cls()
        for entry in entries:
            words, folder = list(entry["arguments"])[1:], Path(entry["directory"])
            if any(word in _NOT_COMPILED for word in words):
                continue
            found._add(words, folder, copy)
        return found

    def _add(self, words: Sequence[str], folder: Path, copy: Path) -> None:
        """Note one command."""
        given = [_below(folder, word) for word in words if not word.startswith("-")]
        sources = [path for path in given if path.suffix.lower() in SUFFIXES]
        target = next(
            (_below(folder, after) for word, after in itertools.pairwise(words) if word == "-o"),
            None,
        )
        if target is None:
            made = [_below(folder, f"{path.stem}.o") for path in sources] if "-c" in words else []
        else:
            made = [target]
        parts: set[Way] = set()
        for source in sources:
            if source.is_relative_to(copy):
                way = (source.relative_to(copy).as_posix(), meaning(words))
                self._ways.setdefault(way[0], set()).add(way[1])
                parts.add(way)
        for path in given:
            if path != target and path.suffix in (".o", ".lo", ".a"):
                parts |= self.parts_of(path)
        for path in made:
            self.made[path] = {way for way in parts if target or Path(way[0]).stem == path.stem}

    def parts_of(self, path: Path) -> set[Way]:
        """Return what is in a file: of an archive, what objects called like its members have."""
        if path in self.made or path.suffix != ".a" or not path.is_file():
            return self.made.get(path, set())
        names = set(members(path.read_bytes()[:_MEMBERS]))
        return {way for made, ways in self.made.items() if made.name in names for way in ways}

    def differing(self, way: Way) -> frozenset[str]:
        """Return what distinguishes a way from the others of its file in this build."""
        every = self._ways.get(way[0], set())
        if len(every) < 2:
            return frozenset()
        return way[1] & (frozenset().union(*every) - frozenset.intersection(*every))

    def is_of(self, way: Way, unit: Unit) -> bool:
        """Return whether a unit of the crate is a file compiled in this way."""
        if (unit.of or unit.path) != way[0]:
            return False
        return self.differing(way) == self.differing((way[0], meaning(unit.arguments)))

    def others(self, path: Path, units: Sequence[Unit]) -> bool:
        """Return whether a file has something in a way that none of these units has, though they
        have its source."""
        for way in self.parts_of(path):
            same = [unit for unit in units if (unit.of or unit.path) == way[0]]
            if same and not any(self.is_of(way, unit) for unit in same):
                return True
        return False


def _below(folder: Path, name: str) -> Path:
    return Path(os.path.normpath(folder / name))

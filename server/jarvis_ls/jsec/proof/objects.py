"""Objects of the files of a project, kept from one finding to the next.

A build that is ended with its budget has compiled some files; the next one goes on behind them, so
that a program of hundred files is built by the budgets of a few findings.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping

from jarvis_ls.jsec.proof.evidence import Build
from jarvis_ls.jsec.proof.workbench import Workbench

KEEP = (
    'keep() { { printf \'kept\\n\'; cat "$1"; } >"$BENCH/$2.part" && '
    'mv "$BENCH/$2.part" "$BENCH/$2" || true; }',
    'take() { tail -c +6 "$BENCH/$1" >"$2"; }',
)
"""Lines of a script: what is kept is kept whole, and behind a word of its own, for the sandbox
tells nobody of files that a compiler has made."""
_END = ".kept"
_MOST_BYTES = 128_000_000


class Objects:
    """The objects of a workbench by name, which says what they were compiled from."""

    def __init__(self) -> None:
        self._held: dict[str, bytes] = {}
        self._bytes = 0

    def find(self, name: str) -> bytes | None:
        """Return an object that was made before."""
        return self._held.get(name)

    def take(self, made: Mapping[str, bytes]) -> int:
        """Keep the objects among what a script has left; returns how many there are."""
        count = 0
        for name, data in made.items():
            if not name.endswith(_END):
                continue
            count += 1
            if self._bytes + len(data) <= _MOST_BYTES:
                self._held[name] = data
                self._bytes += len(data)
        return count


def objects_of(bench: Workbench) -> Objects:
    """Return the objects of a workbench; the same each time."""
    found = bench.results.setdefault("objects", Objects())
    assert isinstance(found, Objects)
    return found


class Compiling:
    """The lines of one script that compile, each unless its object is there."""

    def __init__(self, objects: Objects, build: Build, marked: Mapping[str, str]) -> None:
        """Begin a script; `marked` has texts that say what it makes of files of the copy before,
        by path. That some are rewritten for the build is known."""
        self._objects = objects
        self._changed = [
            *marked.items(),
            *((file, f"{old}\0{new}") for file, old, new in build.rewritten),
        ]
        self._compiled = frozenset(build.sources)
        self.files: dict[str, bytes] = {}
        """Objects that the lines so far need in `$BENCH`."""

    def line(self, command: str, place: str, made: str) -> str:
        """Return a command of the shell that compiles the file at a place to `made`, both words as
        the shell reads them, and fails when it cannot."""
        name = self._name(command, place)
        data = self._objects.find(name)
        if data is not None:
            self.files[name] = data
            return f"take {name} {made}"
        return f"{{ {plain_line(command, place, made)} && keep {made} {name}; }}"

    def _name(self, command: str, place: str) -> str:
        """Return what an object is called that a command makes of a file: what is changed in a file
        that is not compiled itself may be included in any."""
        own = [
            f"{file}\0{text}"
            for file, text in self._changed
            if place_of(file) == place or file not in self._compiled
        ]
        text = "\0".join((command, place, *own))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32] + _END


def place_of(source: str) -> str:
    """Return a file of the copy as a word of the shell, which no compiler takes for an option."""
    return shlex.quote(f"./{source}" if source.startswith("-") else source)


def plain_line(command: str, place: str, made: str) -> str:
    """Return a command of the shell that compiles a file; see `Compiling.line`."""
    return f'{command} -c {place} -o {made} 2>"$W/errors"'

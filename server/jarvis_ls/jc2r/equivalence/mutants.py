"""How strong the tests are: small mistakes are planted in the Rust, and the tests have to see them.

Every mutant is tried with the kept requests of the functions of its file, then with the recorded
and the generated cases of programs. One that nothing sees is compiled by itself: when the machine
code is that of the unmutated crate it is equivalent and does not count.
"""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.harness.mutation_sites import (
    SWITCH,
    Point,
    apply_mutant,
    choose,
    plant_mutants,
    points_of,
)
from jarvis_ls.jc2r.equivalence import shared_libraries
from jarvis_ls.jc2r.equivalence.suite import Suite, link_programs
from jarvis_ls.jc2r.equivalence.verify import Project

_ERROR = re.compile(r"^error[^\n]*\n\s*--> src/(\S+?):(\d+):", re.MULTILINE)
_TRIES = 12
"""Builds that may fail because a mutant does not compile."""


@dataclass
class Mutation:
    """What became of the planted mutants."""

    planted: int = 0
    """Without those that do not compile and those that are equivalent."""
    killed: int = 0
    by_functions: int = 0
    """Of these, by requests of functions; the others by programs."""
    equivalent: int = 0
    """Mutants whose machine code is that of the unmutated crate."""
    not_built: int = 0
    unasked: int = 0
    """Survivors of which no one looked whether they are equivalent, for want of time."""
    survivors: list[Point] = field(default_factory=list)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the record of kind `mutants`."""
        names = ("file", "line", "function", "before", "after")
        survivors = [
            {name: getattr(survivor, name) for name in names} for survivor in self.survivors
        ]
        return {**asdict(self), "survivors": survivors, "seconds": round(self.seconds, 1)}


def plant(
    project: Project,
    folder: Path,
    functions: Sequence[Mapping[str, Any]],
    wanted: int,
    seed: int,
    modules: Sequence[str] = (),
    seconds: float = math.inf,
    names: Container[str] | None = None,
) -> Mutation:
    """Plant `wanted` mutants in the modules (all when empty) and see which are found; `names` are
    the Rust functions they are planted in, None means all.

    `functions` are records of kind `function` with their requests. After `seconds` no more mutants
    are tried, and what nothing has seen by then counts as not found. Raises `JarvisError` when the
    tests do not even pass on the unmutated crate.
    """
    started = time.monotonic()
    found = Mutation()
    place = project.folder / "mutants"
    source = place / "rust" / "src"
    shared_libraries.copy_crate(project.crate, place / "rust", project.symbols)
    files = sorted(modules or set(project.symbols.modules.values()))
    texts = {f"{name}.rs": (source / f"{name}.rs").read_text() for name in files}
    points = [site for file, text in texts.items() for site in points_of(text, file)]
    within = [site for site in points if names is None or site.function in names]
    chosen = _build(project, place, texts, choose(within, wanted, seed), found)
    homes = {f"{module}.rs": file for file, module in project.symbols.modules.items()}
    tried = 0
    survivors = []
    programs = link_programs(project, place)
    with Suite(project, place / "mutants.so", programs, folder, functions) as suite:
        touched = {homes[point.file] for _, point in chosen}
        if why := suite.check(lambda file, _: file in touched):
            raise JarvisError("the unmutated crate does not pass its tests: {why}", why=why)
        for number, point in chosen:
            if time.monotonic() - started > seconds:
                break
            tried += 1
            seen = suite.kills(number, homes[point.file], point.function)
            found.killed += bool(seen)
            found.by_functions += seen == "function"
            if not seen:
                survivors.append(point)
    alone = _Alone(project, place)
    for point in survivors:
        if time.monotonic() - started > seconds:
            found.unasked += 1
            found.survivors.append(point)
        elif alone.is_equivalent(point):
            found.equivalent += 1
        else:
            found.survivors.append(point)
    found.planted = tried - found.equivalent
    found.seconds = time.monotonic() - started
    return found


def _build(
    project: Project,
    place: Path,
    texts: Mapping[str, str],
    points: Sequence[Point],
    found: Mutation,
) -> list[tuple[int, Point]]:
    """Build the shared object with all mutants in the files `texts` of the copy below `place`;
    return those that compile."""
    source = place / "rust" / "src"
    numbered = list(enumerate(points, 1))
    lib = source / "lib.rs"
    replace_file(lib, (lib.read_text() + SWITCH).encode())
    for _ in range(_TRIES):
        for file, text in texts.items():
            mine = [site for site in numbered if site[1].file == file]
            replace_file(source / file, plant_mutants(text, mine).encode())
        try:
            shared_libraries.build_rust(
                place / "rust",
                project.crate,
                project.units.units,
                project.symbols,
                project.units.libraries,
                "mutants.so",
            )
        except JarvisError as error:
            bad = _at(str(error), source)
            if not bad:
                raise
            found.not_built += len(bad)
            numbered = [site for site in numbered if site[0] not in bad]
        else:
            break
    else:
        raise JarvisError("The mutants do not compile together.")
    return numbered


def _at(said: str, source: Path) -> set[int]:
    """Numbers of the mutants on the lines that the compiler objects to."""
    found: set[int] = set()
    for match in _ERROR.finditer(said):
        lines = (source / match[1]).read_text().split("\n")
        near = "\n".join(lines[max(0, int(match[2]) - 3) : int(match[2]) + 2])
        found.update(int(number) for number in re.findall(r"crate::mutant\((\d+)\)", near))
    return found


class _Alone:
    """Compiles single mutants as they are, to see whether their machine code differs at all."""

    def __init__(self, project: Project, place: Path) -> None:
        self._project, self._folder = project, place / "alone"
        self._folder.mkdir(exist_ok=True)
        self._plain = b""

    def is_equivalent(self, point: Point) -> bool:
        """Return whether the machine code with a mutant is the machine code without one."""
        project = self._project
        shared_libraries.copy_crate(project.crate, self._folder / "rust", project.symbols)
        self._plain = self._plain or self._build_mutants()
        path = self._folder / "rust" / "src" / point.file
        replace_file(path, apply_mutant(path.read_text(), point).encode())
        try:
            return self._build_mutants() == self._plain
        except JarvisError:
            return False  # it does not compile by itself, as `planted` it does: not the same code

    def _build_mutants(self) -> bytes:
        project = self._project
        made = shared_libraries.build_rust(
            self._folder / "rust",
            project.crate,
            project.units.units,
            project.symbols,
            project.units.libraries,
        )
        return hashlib.sha256(made.read_bytes()).digest()

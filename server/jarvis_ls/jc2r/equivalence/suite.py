"""What was found equal, as tests that run in seconds: kept requests of functions, and cases.

They say whether another state of the crate (mutated, lifted) still behaves like the C.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_ls.harness.eligibility import Suitability
from jarvis_ls.harness.process import Executor
from jarvis_ls.harness.program_cases import FILE, program_of, read_cases, run_case
from jarvis_ls.jc2r.equivalence import shared_libraries
from jarvis_ls.jc2r.equivalence.programs import read_generated
from jarvis_ls.jc2r.equivalence.verify import Project

SECONDS = 2.0
"""A run of a program may take this much, and twenty times what it took before."""
SWITCH = "jc2r_mutant"
"""The variable that switches a mutant on."""


class Suite:
    """The tests of one project, on one shared object and the programs beside it."""

    def __init__(
        self,
        project: Project,
        library: Path,
        programs: Mapping[str, Path],
        folder: Path,
        functions: Sequence[Mapping[str, Any]],
    ) -> None:
        """`functions` are records of kind `function`; `folder` is `.jarvis/c2rust`.

        Raises `JarvisError` when the shared object cannot be loaded.
        """
        self._programs = programs
        self._known = project.found
        self._called: dict[tuple[str, str], set[tuple[str, str]]] = {}
        """All that a function may call."""
        self._executor = Executor(library, {**project.data, SWITCH: 4}, project.names)
        self._requests: list[tuple[str, str, dict[str, Any]]] = []
        for function in functions:
            for request in function.get("requests", ()):
                if request["symbol"] in self._executor.functions:
                    self._requests.append((function["file"], function["function"], request))
        cases = [*read_cases(folder / FILE), *read_generated(folder)]
        self._cases = [(0.0, case) for case in cases if program_of(case, programs) is not None]

    @property
    def size(self) -> tuple[int, int]:
        """Return the number of requests and cases."""
        return len(self._requests), len(self._cases)

    def check(self, only: Callable[[str, str], bool] = lambda *_: True) -> str:
        """Return what differs first, in words; empty when nothing does.

        Learns how long cases take, and what those are to say that no one recorded.
        """
        for file, name, request in self._requests:
            if only(file, name) and self._says(request, 0) != request["expected"]:
                return f"{file}: {name} gives a different result"
        timed = []
        for _, case in self._cases:
            program = program_of(case, self._programs)
            assert program is not None
            started = time.monotonic()
            ended = run_case(case, program)
            seconds = time.monotonic() - started
            timed.append((seconds, replace(case, expected=case.expected or ended)))
            if case.expected is not None and (why := case.expected.difference(ended)):
                return f"{case.name}: {why}"
        self._cases = sorted(timed, key=lambda request: request[0])
        return ""

    def kills(self, number: int, file: str, function: str) -> str:
        """Return what sees the mutant `number` in a function: `function`, `program`, or nothing."""
        near = sorted(
            (
                request
                for request in self._requests
                if request[0] == file or self._reaches(request[0], request[1], file, function)
            ),
            key=lambda request: (request[1] != function, request[0] != file),
        )
        for _, _, request in near:
            if self._says(request, number) != request["expected"]:
                return "function"
        for seconds, case in self._cases:
            program = program_of(case, self._programs)
            assert program is not None and case.expected is not None
            ended = run_case(
                case,
                program,
                seconds=SECONDS + 20 * seconds,
                environment={"JC2R_MUTANT": str(number)},
            )
            if case.expected.difference(ended):
                return "program"
        return ""

    def _reaches(self, file: str, name: str, wanted_file: str, wanted: str) -> bool:
        """Return whether one function may call another, by way of others too."""
        key = file, name
        if key not in self._called:
            caller = next((f for f in self._known.functions if (f.file, f.name) == key), None)
            calls = Suitability(self._known, frozenset(), "")
            closure = [] if caller is None else calls.closure(caller)
            self._called[key] = {(found.file, found.name) for found, _ in closure}
        return (wanted_file, wanted) in self._called[key]

    def _says(self, request: dict[str, Any], number: int) -> dict[str, Any]:
        asked = {name: value for name, value in request.items() if name != "expected"}
        if number:
            poke = [SWITCH, 0, number.to_bytes(4, "little").hex()]
            asked["pokes"] = [*asked["pokes"], poke]
        return self._executor.call(asked)

    def close(self) -> None:
        """End what runs."""
        self._executor.close()

    def __enter__(self) -> Suite:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def link_programs(project: Project, place: Path) -> dict[str, Path]:
    """Return the Rust programs of the copy below `place`, by stem of the C file with the `main`."""
    return dict(_linked_programs(project, place))


def _linked_programs(project: Project, place: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(project.symbols.programs):
        if file in project.symbols.modules:
            yield Path(file).stem, shared_libraries.link_rust_program(project, place, file)

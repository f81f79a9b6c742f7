"""`jc2r verify`: whether the crate behaves like the C, function by function and case by case.

What was found is kept as it comes (`record.py`), so that a run that was ended continues where it
was. Nothing is written outside of `.jarvis/c2rust`.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
import time
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hypothesis.configuration import set_hypothesis_home_dir

from jarvis_ls import harness
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.store import replace_records
from jarvis_ls.core.words import Words
from jarvis_ls.harness.call_case import code_of
from jarvis_ls.harness.eligibility import Suitability
from jarvis_ls.harness.inputs import Inputs
from jarvis_ls.harness.process import Executor, sanitizer_library
from jarvis_ls.harness.shared_object import CONSTANT, PLAIN, SANITIZED, data_sizes
from jarvis_ls.harness.signature import Function, Kind, Signatures, read_signatures
from jarvis_ls.jc2r.build.compile_commands import Units
from jarvis_ls.jc2r.equivalence import shared_libraries
from jarvis_ls.jc2r.equivalence.findings import UNDEFINED, findings_of
from jarvis_ls.jc2r.equivalence.functions import LATE, Budget, Compared, compare
from jarvis_ls.jc2r.equivalence.own_constants import without_own_constants
from jarvis_ls.jc2r.equivalence.result_record import Results

CASES = 40
"""Cases of one function, by default."""
SECONDS = 300.0
"""How long all functions together may take, by default."""
GENEROUS = 3
"""How much more than its part of the time a function may take."""
LEAST = 2.0
"""Seconds that every function has."""
KEPT = 24
"""Requests of one function that mutants are tried with."""

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How much is to be tried."""

    cases: int = CASES
    seconds: float = SECONDS
    seed: int = 0
    only: tuple[str, ...] = ()
    """Names of functions, or paths of C files; all when empty."""
    jobs: int = 2


@dataclass
class Verified:
    """What a run of comparisons found."""

    functions: list[dict[str, Any]] = field(default_factory=list)
    """Records of kind `function`, in order of file and line."""
    notes: list[str] = field(default_factory=list)
    undefined: list[dict[str, Any]] = field(default_factory=list)
    """Places of the C that did something undefined, as `undefined.jsonl` holds them."""

    def count(self, state: str) -> int:
        """Functions in a state."""
        return sum(function["state"] == state for function in self.functions)


class Project:
    """The C and the crate of a project, ready to be called."""

    def __init__(self, root: Path, crate: Path, folder: Path, units: Units) -> None:
        """`folder` is `.jarvis/c2rust`. Raises `JarvisError` when something does not build."""
        self.root, self.crate, self.units = root, crate, units
        self.folder = folder / "equivalence"
        self.folder.mkdir(exist_ok=True)
        self.found: Signatures = read_signatures(root, units.units)
        self.symbols = shared_libraries.symbols_of(crate, self.found)
        self.found.functions = [f for f in self.found.functions if f.file in self.symbols.modules]
        self.found.variables = [v for v in self.found.variables if v.file in self.symbols.modules]
        self.variables = {
            self.symbols.of(variable.file, variable.name, variable.static): variable
            for variable in self.found.variables
        }
        self.notes: list[str] = []

    def build(self) -> None:
        """Build the shared objects where something changed. Raises `JarvisError`."""
        made = digest_of(self.root, self.crate, self.units)
        stamp = self.folder / "made"
        if stamp.is_file() and stamp.read_text() == made:
            self.prepare()
            return
        self._build_c()
        shared_libraries.copy_crate(self.crate, self.folder / "rust", self.symbols)
        shared_libraries.build_rust(
            self.folder / "rust", self.crate, self.units.units, self.symbols, self.units.libraries
        )
        stamp.write_text(made)
        self.prepare()

    def _build_c(self) -> None:
        """Build the C where it, or what it is called in shared objects, has changed."""
        names = repr(sorted(zip(self.found.definitions, self._names_of_definitions(), strict=True)))
        made = f"{digest_of(self.root, None, self.units)} {_digest_text(names)}"
        stamp = self.folder / "made_c"
        if (self.folder / "c.so").is_file() and stamp.is_file() and stamp.read_text() == made:
            return
        arguments = (
            self.root,
            self.units.units,
            self.found,
            self.symbols,
            self.folder,
            self.units.libraries,
        )
        shared_libraries.build_c(*arguments, PLAIN, "c.so")
        try:
            shared_libraries.build_c(*arguments, SANITIZED, "sanitized.so")
        except JarvisError as error:
            self.notes.append(Words("the C cannot be built with sanitizers: {error}", error=error))
            (self.folder / "sanitized.so").unlink(missing_ok=True)
            shared_libraries.build_c(*arguments, shared_libraries.OTHERWISE, "otherwise.so")
        stamp.write_text(made)

    def _names_of_definitions(self) -> list[str]:
        return [
            self.symbols.of(file, name, static) for file, name, static in self.found.definitions
        ]

    def prepare(self) -> None:
        """Learn from the C that was built what there is to compare. Raises `JarvisError`."""
        sizes, rust = (data_sizes(self.folder / name) for name in ("c.so", "rust.so"))
        fixed = data_sizes(
            self.folder / "rust.so", CONSTANT
        ).keys()  # nothing in the crate writes it
        self.data = {
            name: size
            for name, size in sizes.items()
            # a table of texts is of another size than one of pointers
            if name in self.variables and name not in fixed and rust.get(name, size) == size
        }
        self.names = [self.symbols.of(f.file, f.name, f.static) for f in self.found.functions]

    def executor(self, library: str) -> Executor:
        """Return a process with one of the shared objects. Raises `JarvisError`."""
        sanitizer = sanitizer_library("gcc") if library == "sanitized.so" else ""
        return Executor(self.folder / library, self.data, self.names, sanitizer)

    def executors(self) -> tuple[Executor, Executor, Executor]:
        """Return the C, the C built otherwise, and the Rust."""
        other = "sanitized.so" if (self.folder / "sanitized.so").exists() else "otherwise.so"
        return self.executor("c.so"), self.executor(other), self.executor("rust.so")


def verify_functions(
    project: Project,
    in_rust: set[tuple[str, str]],
    results: Results,
    settings: Settings,
    progress: Progress = lambda *_: None,
) -> Verified:
    """Compare every function that can be called; `in_rust` are those of the crate that are Rust.

    Raises `JarvisError` when the shared objects cannot be run at all.
    """
    suitability = Suitability(project.found, in_rust, "it stays in C")
    known = {(record["file"], record["function"]): record for record in results.known("function")}
    records: dict[tuple[str, str], dict[str, Any]] = {}
    waiting: list[Function] = []
    wanted = [
        function for function in project.found.functions if _is_wanted(function, settings.only)
    ]
    for candidate in wanted:
        if (candidate.file, candidate.name) in known:
            records[candidate.file, candidate.name] = known[candidate.file, candidate.name]
            continue
        if why := suitability.why_not(candidate):
            record = _record(Compared(candidate, "not_run", reason=why), project.root)
            results.add("function", record)
            records[candidate.file, candidate.name] = record
        else:
            waiting.append(candidate)
    if waiting:
        for done in _all(project, suitability, waiting, settings, progress):
            record = _record(done, project.root)
            if (
                done.reason != LATE or done.state == "differs"
            ):  # else the next run continues with it
                results.add("function", record)
            records[done.function.file, done.function.name] = record
    ordered = [
        records[function.file, function.name]
        for function in wanted
        if (function.file, function.name) in records
    ]
    verified = Verified(ordered, list(project.notes), findings_of(project.root, ordered))
    replace_records(project.folder.parent / UNDEFINED, verified.undefined)
    return verified


def _all(
    project: Project,
    suitability: Suitability,
    waiting: Sequence[Function],
    settings: Settings,
    progress: Progress,
) -> Iterator[Compared]:
    """Every function as it is done, in order."""
    set_hypothesis_home_dir(project.folder / "hypothesis")  # else it writes where we are
    deadline = time.monotonic() + settings.seconds
    stopped = threading.Event()
    begun = itertools.count()
    local = threading.local()
    opened: list[tuple[Executor, Executor, Executor]] = []

    def late() -> bool:
        return stopped.is_set() or time.monotonic() >= deadline

    def share() -> float:
        """Seconds for the next function: more than its part, since most need less."""
        left = max(1, len(waiting) - next(begun))
        return max(LEAST, GENEROUS * settings.jobs * (deadline - time.monotonic()) / left)

    def compare_function(function: Function) -> Compared:
        if late():
            return Compared(function, "no_input", reason=LATE)
        if not hasattr(local, "executors"):
            local.executors = project.executors()
            opened.append(local.executors)
        symbol = project.symbols.of(function.file, function.name, function.static)
        offered = frozenset.intersection(*(each.functions for each in local.executors))
        if symbol not in offered:
            return Compared(function, "not_run", reason="it is not callable on both sides")
        inputs = inputs_of(project, suitability, function, offered)
        return compare(
            function,
            symbol,
            code_of(function.result, project.found.records),
            inputs,
            local.executors,
            Budget(settings.cases, settings.seed, late, share(), KEPT),
        )

    with without_own_constants(), ThreadPoolExecutor(settings.jobs) as pool:
        futures: list[Future[Compared]] = [
            pool.submit(compare_function, function) for function in waiting
        ]
        try:
            for number, future in enumerate(futures, 1):
                done = future.result()
                yield done
                progress(number, len(waiting), done.function.name)
        finally:
            stopped.set()
            for future in futures:
                future.cancel()
            pool.shutdown()
            for executors in opened:
                for executor in executors:
                    executor.close()


def inputs_of(
    project: Project, suitability: Suitability, function: Function, offered: Container[str]
) -> Inputs:
    """Return what draws cases for a function; `offered` are the symbols that both sides have."""
    used: dict[str, Kind] = {}
    for reached, _ in suitability.closure(function):
        for name in reached.variables:
            for symbol in (project.symbols.of(reached.file, name, True), name):
                if symbol in project.data:
                    used[symbol] = project.variables[symbol].kind
    symbols = project.symbols

    def callbacks(type_: str) -> list[str]:
        found = (symbols.of(f.file, f.name, f.static) for f in suitability.callbacks(type_))
        return [symbol for symbol in found if symbol in offered]

    def symbol_of(function: Function) -> str:
        symbol = symbols.of(function.file, function.name, function.static)
        return symbol if symbol in offered else ""

    variables = sorted(used.items(), key=lambda item: item[0])
    return Inputs(
        function,
        project.found.records,
        callbacks,
        variables,
        suitability.handles,
        symbol_of,
        suitability.writers(function.file),
    )


def digest_of(root: Path, crate: Path | None, units: Units) -> str:
    """Of the sources, how they are compiled, the crate if any, this package and the harness."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr([(unit.path, unit.arguments) for unit in units.units]).encode())
    of_crate = ((crate / "src", (".rs",)), (crate / "c", (".c", ".h"))) if crate else ()
    for folder, suffixes in (
        (root, (".c", ".h", ".inc")),
        *of_crate,
        (Path(__file__).parent, (".py", ".c")),
        (Path(harness.__file__).parent, (".py", ".c")),
    ):
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).parts  # the crate may be a copy below `.jarvis`
            if path.suffix in suffixes and ".jarvis" not in inside and path.is_file():
                digest.update(str(path).encode("utf-8", "surrogateescape") + path.read_bytes())
    return digest.hexdigest()


def _digest_text(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _is_wanted(function: Function, only: Sequence[str]) -> bool:
    return not only or function.name in only or function.file in only


def _record(done: Compared, root: Path) -> dict[str, Any]:
    function = done.function
    record: dict[str, Any] = {
        "file": function.file,
        "function": function.name,
        "line": function.line,
        "state": done.state,
        "cases": done.cases,
        "excluded": dict(done.excluded),
        "reason": done.reason,
        "seconds": round(done.seconds, 3),
    }
    if done.example is not None:
        record["example"] = done.example
        record["parameters"] = [parameter.name for parameter in function.parameters]
    seen = [
        {**asdict(fault), "request": request}
        for fault, request in done.undefined.items()
        if fault.file.startswith(str(root))
    ]
    if seen:
        record["undefined"] = seen
    if done.requests:
        record["requests"] = done.requests
    return record

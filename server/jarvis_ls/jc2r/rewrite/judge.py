"""Judges rewrites of functions by execution against the C, in a copy of the crate.

The gates come cheapest first. A rewrite that passes them becomes what the next one is judged in.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.words import Words
from jarvis_ls.harness import program_cases as recorded
from jarvis_ls.harness.eligibility import Suitability
from jarvis_ls.harness.shared_object import run_tool
from jarvis_ls.jc2r.build.compile_commands import Units
from jarvis_ls.jc2r.crate.cargo import program, run_cargo
from jarvis_ls.jc2r.crate.vendor import read_dependencies
from jarvis_ls.jc2r.equivalence.counterexample import difference_of
from jarvis_ls.jc2r.equivalence.mutants import plant
from jarvis_ls.jc2r.equivalence.programs import build_programs, replay
from jarvis_ls.jc2r.equivalence.result_record import Results
from jarvis_ls.jc2r.equivalence.verify import Project, Settings, digest_of, verify_functions
from jarvis_ls.jc2r.lift.compiler import Message, check
from jarvis_ls.jc2r.lift.rust import parse_source, read_sources
from jarvis_ls.jc2r.lift.unsafe_count import Counts, count
from jarvis_ls.jc2r.rewrite.code_rules import find_broken
from jarvis_ls.jc2r.rewrite.compose import Composed
from jarvis_ls.jc2r.rewrite.error_classes import describe
from jarvis_ls.jc2r.rewrite.function_tests import without
from jarvis_ls.jc2r.rewrite.second_reader import Worth
from jarvis_ls.jc2r.rewrite.subject import Subject, replace_item
from jarvis_ls.jc2r.rewrite.test_runs import TestRuns
from jarvis_ls.jc2r.rewrite.uses import shorten
from jarvis_ls.jc2r.rewrite.verdict import Failure, Gate, Judgement
from jarvis_ls.jc2r.translate.crate import build
from jarvis_ls.jc2r.translate.manifest import format_source

MUTANTS = 12
"""Mutants that are planted in one function."""
MUTANT_SECONDS = 60.0
FEW = 3
"""Mutants of a function that tests call which may all stay unnoticed: they may change nothing."""
TEST_SECONDS = 600
_FRESH, _ADVERSARY = 1, 2
"""What is added to the seed, so that inputs are others."""
_SHOWN = 8
"""Messages of one gate that the model is told."""
_TOLD = 4000
"""Characters of them."""


class GateFailed(Exception):
    """A rewrite does not pass a gate."""

    def __init__(self, gate: Gate, details: str) -> None:
        super().__init__(details)
        self.failure = Failure(gate, details[:_TOLD])


@dataclass(frozen=True, slots=True)
class _Before:
    """What is known of the crate before a rewrite."""

    exports: frozenset[str]
    warnings: Mapping[Path, Sequence[Message]]
    """Of clippy, or of rustc where that is not installed, by file."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the last rewrite that passed took the place of."""

    path: Path
    text: bytes
    before: _Before


class Judge:
    """Judges rewrites of the functions of one crate."""

    def __init__(
        self,
        root: Path,
        copy: Path,
        work: Path,
        units: Units,
        in_rust: set[tuple[str, str]],
        settings: Settings,
    ) -> None:
        """`copy` is a copy of the crate that nobody else writes. Raises `JarvisError` when
        something does not build or the crate cannot be compared."""
        self._root, self._copy, self._work, self._units = root, copy, work, units
        self._in_rust, self._settings = in_rust, settings
        self._cases = recorded.read_cases(work.parent / recorded.FILE)
        self._project = Project(root, copy, work, units)
        self._project.build()
        self._suitability = Suitability(self._project.found, in_rust, "")
        verified = self._compare(work, settings)
        self._known = {(record["file"], record["function"]): record for record in verified}
        """Records of the baseline, with requests."""
        self._before = self._look_before()
        self._modules = frozenset(source.path.stem for source in read_sources(copy))
        self._crates = frozenset(read_dependencies(copy))
        self.tests = TestRuns(copy)
        """Those of single functions."""
        self._last: _Kept | None = None

    @property
    def project(self) -> Project:
        """Return the project that is compared."""
        return self._project

    def why_not(self, subject: Subject) -> str:
        """Return why no rewrite of a function could be judged; empty when one can."""
        state = self._known.get(subject.key, {}).get("state", "")
        if state in ("differs", "unstable"):
            return Words("the baseline behaves differently from the C: see `jc2r verify`")
        if not self._witnesses(subject) and not self._cases:
            return Words("no test calls it: record runs of a program with `jc2r record`")
        return ""

    def judge(
        self,
        subject: Subject,
        composed: Composed,
        tell: Callable[[Gate], None],
        libraries: Set[str] = frozenset(),
    ) -> Judgement:
        """Return what becomes of a rewrite; when it passes, the copy keeps it. `libraries` are the
        crates that it may name. Raises `JarvisError` when the copy cannot be written."""
        path = self._copy / subject.module
        before = path.read_bytes()
        text = replace_item(before, subject.name, composed.text)
        if text is None:
            return Judgement(Failure(Gate.BUILDS, f"{subject.name} is not in the crate any more"))
        try:
            tell(Gate.RULES)
            self._rules(subject, composed, libraries)
            replace_file(path, format_source(text.decode("utf-8", "replace")).encode())
            kept = _Kept(path, before, self._before)
            passed = self._run_gates(subject, composed, tell)
            self._last = kept
            return passed
        except GateFailed as failed:
            replace_file(path, before)
            return Judgement(failed.failure)
        except BaseException:
            replace_file(path, before)
            raise

    def take_back(self) -> None:
        """Put back what the last rewrite that passed took the place of. Raises `JarvisError`."""
        if self._last is not None:
            replace_file(self._last.path, self._last.text)
            self._before, self._last = self._last.before, None

    def try_tests(self, subject: Subject, code: str) -> tuple[str, str]:
        """Return those of a model's tests that the crate as it is passes, and what was wrong with
        the others."""
        try:
            self._check_rules(code, "", frozenset(), is_test=True)
        except GateFailed as failed:
            return "", failed.failure.details
        results, said = self.tests.run(subject, code)
        failing = {name for name, passed in results.items() if not passed}
        return (without(code, failing) if results else ""), (said if failing or not results else "")

    def examine(self, subject: Subject, test: str) -> tuple[Worth, str]:
        """Return what the test of an objection to the last rewrite that passed is worth, and what
        it said of the rewrite."""
        kept = self._last
        if not test.strip() or kept is None:
            return Worth.UNTESTED, ""
        try:
            self._check_rules(test, "", frozenset(), is_test=True)
        except GateFailed:
            return Worth.UNTESTED, ""
        now, said = self.tests.run(subject, test)
        after = kept.path.read_bytes()
        try:
            replace_file(kept.path, kept.text)
            before, _ = self.tests.run(subject, test)
        finally:
            replace_file(kept.path, after)
        if not before:
            return Worth.UNTESTED, ""  # it does not even compile
        # what crashes or does not end has passed no test
        differs = any(passed and not now.get(name, False) for name, passed in before.items())
        return (Worth.PROVEN, said) if differs else (Worth.REFUTED, "")

    def counts(self, subject: Subject, composed: Composed) -> dict[str, Any]:
        """Return how much is unsafe in the baseline, in what a model wrote for it, and in the
        entry for C that was generated."""
        before, after, whole = map(
            _count_unsafe, (subject.rust, composed.written, format_source(composed.text))
        )
        return {
            "unsafe_lines": [before.unsafe_lines, after.unsafe_lines],
            "raw_pointers": [before.raw_pointers, after.raw_pointers],
            "entry_lines": whole.unsafe_lines - after.unsafe_lines,
        }

    def _run_gates(
        self, subject: Subject, composed: Composed, tell: Callable[[Gate], None]
    ) -> Judgement:
        tell(Gate.BUILDS)
        self._builds()
        tell(Gate.TESTS)
        self._tests()
        tell(Gate.RECORDED)
        cases = self._check_recorded(subject)
        tell(Gate.FRESH)
        cases += self._fresh(subject, self._settings, _FRESH)
        tell(Gate.PROGRAMS)
        self._replay()
        tell(Gate.ADVERSARY)
        harder = replace(self._settings, cases=2 * self._settings.cases)
        cases += self._fresh(subject, harder, _ADVERSARY)
        planted, killed = self._mutants(subject, composed)
        tell(Gate.UNSAFE)
        self._unsafe(subject, composed)
        tell(Gate.EXPORTS)
        self._exports()
        tell(Gate.CLIPPY)
        self._clippy(subject)
        self._before = self._look_before()
        return Judgement(None, cases, planted, killed)

    def _rules(self, subject: Subject, composed: Composed, libraries: Set[str]) -> None:
        self._check_rules(composed.written, subject.rust, libraries)

    def _check_rules(
        self, code: str, before: str, libraries: Set[str], *, is_test: bool = False
    ) -> None:
        """Raise `GateFailed` when code breaks a rule that what was there before does not break."""
        foreign = {name.replace("-", "_") for name in self._crates - set(libraries)}
        found = list(find_broken(code, before, self._modules, foreign, is_test=is_test))
        if found:
            told = (f"line {v.line}: {v.rule.value}: {v.message}" for v in found[:_SHOWN])
            raise GateFailed(Gate.RULES, "\n".join(told))

    def _builds(self) -> None:
        errors = [message for message in check(self._copy) if message.level == "error"]
        if errors:
            told = "\n".join(map(self._told, errors[:_SHOWN]))
            raise GateFailed(Gate.BUILDS, f"{told}\n{describe(errors)}")
        try:
            self._project.build()
        except JarvisError as error:
            raise GateFailed(Gate.BUILDS, str(error)) from None

    def _tests(self) -> None:
        if not (self._copy / "tests").is_dir() and not _has_tests(self._copy):
            return
        try:
            done = run_cargo(self._copy, "test", "--release", seconds=TEST_SECONDS)
        except subprocess.TimeoutExpired:
            raise GateFailed(Gate.TESTS, "The tests of the crate did not end.") from None
        if done.returncode != 0:
            said = (done.stdout + done.stderr).decode("utf-8", "replace")
            raise GateFailed(Gate.TESTS, said[-_TOLD:])

    def _check_recorded(self, subject: Subject) -> int:
        """Give the requests that the baseline was compared with to the new Rust; return their
        number."""
        executor = self._project.executor("rust.so")
        tried = 0
        try:
            for record in self._witnesses(subject):
                for request in record["requests"]:
                    said = executor.call(
                        {name: value for name, value in request.items() if name != "expected"}
                    )
                    if said != request["expected"]:
                        example = {"request": request, "c": request["expected"], "rust": said}
                        raise GateFailed(Gate.RECORDED, _difference({**record, "example": example}))
                    tried += 1
        finally:
            executor.close()
        return tried

    def _fresh(self, subject: Subject, settings: Settings, number: int) -> int:
        """Compare on inputs that were not tried yet; return their number."""
        gate = Gate.FRESH if number == _FRESH else Gate.ADVERSARY
        reached = {record["function"] for record in self._witnesses(subject)}
        if not reached:
            return 0
        chosen = replace(settings, seed=settings.seed + number, only=tuple(sorted(reached)))
        tried = 0
        for record in self._compare(self._work / f"fresh{number}", chosen):
            old = self._known.get((record["file"], record["function"]), {}).get("state")
            if record["state"] in ("differs", "unstable") and old not in ("differs", "unstable"):
                raise GateFailed(gate, _difference(record))
            tried += record["cases"]
        return tried

    def _replay(self) -> None:
        if not self._cases:
            return
        built = build(self._copy)
        if built.returncode != 0:
            raise GateFailed(Gate.PROGRAMS, built.stderr)
        programs = build_programs(self._project, self._work / "equivalence", careful=False)
        results = self._results(self._work / "replayed")
        try:
            for case in replay(self._cases, programs, results):
                if case["state"] == "differs":
                    raise GateFailed(Gate.PROGRAMS, f"case {case['name']}: {case['difference']}")
        finally:
            results.close()

    def _mutants(self, subject: Subject, composed: Composed) -> tuple[int, int]:
        """Plant mutants in the new functions; return how many there are and how many a test saw."""
        module = subject.module.stem
        try:
            found = plant(
                self._project,
                self._work.parent,
                self._witnesses(subject),
                MUTANTS,
                self._settings.seed,
                (module,),
                MUTANT_SECONDS,
                frozenset(composed.names),
            )
        except JarvisError as error:
            raise GateFailed(Gate.ADVERSARY, str(error)) from None
        is_called = any((r["file"], r["function"]) == subject.key for r in self._witnesses(subject))
        if not found.killed and found.planted >= (FEW if is_called else 1):
            raise GateFailed(
                Gate.ADVERSARY,
                f"No test noticed any of {found.planted} mistakes that were planted in it: keep"
                " closer to the C, so that the tests reach the code.",
            )
        return found.planted, found.killed

    def _unsafe(self, subject: Subject, composed: Composed) -> None:
        before, after = _count_unsafe(subject.rust), _count_unsafe(composed.written)
        for name in ("unsafe_lines", "unsafe_functions", "raw_pointers"):
            old, new = getattr(before, name), getattr(after, name)
            if new > old:
                told = name.replace("_", " ")
                raise GateFailed(Gate.UNSAFE, f"{new} {told} where the baseline has {old}")

    def _exports(self) -> None:
        now = self._list_exports()
        if lost := sorted(self._before.exports - now):
            raise GateFailed(Gate.EXPORTS, f"no longer offered to C: {', '.join(lost[:_SHOWN])}")
        if more := sorted(now - self._before.exports):
            raise GateFailed(Gate.EXPORTS, f"newly offered to C: {', '.join(more[:_SHOWN])}")

    def _clippy(self, subject: Subject) -> None:
        path = self._copy / subject.module
        old, new = self._before.warnings.get(path, ()), self._warnings().get(path, ())
        if len(new) > len(old):
            known = {message.text for message in old}
            told = [message for message in new if message.text not in known] or list(new)
            raise GateFailed(Gate.CLIPPY, "\n".join(map(self._told, told[:_SHOWN])))

    def _look_before(self) -> _Before:
        return _Before(self._list_exports(), self._warnings())

    def _list_exports(self) -> frozenset[str]:
        """Return the symbols that the built library offers. Raises `JarvisError`."""
        built = build(self._copy)
        if built.returncode != 0:
            raise GateFailed(Gate.EXPORTS, built.stderr)
        names: set[str] = set()
        for library in sorted((self._copy / "target" / "release").glob("lib*.so")):
            told = run_tool(["nm", "-D", "--defined-only", "--format=posix", str(library)])
            names |= {line.split(" ", 1)[0] for line in told.splitlines() if line}
        return frozenset(names)

    def _warnings(self) -> dict[Path, list[Message]]:
        """Return what clippy warns of, by file; what rustc does where it is not installed."""
        command = "check" if program("cargo-clippy") is None else "clippy"
        found: dict[Path, list[Message]] = {}
        for message in check(self._copy, command=command):
            found.setdefault(message.path, []).append(message)
        return found

    def _witnesses(self, subject: Subject) -> list[dict[str, Any]]:
        """Return the records of functions that reach a function and were equal at first."""
        found = []
        for function in self._project.found.functions:
            record = self._known.get((function.file, function.name))
            if record is None or record["state"] != "equal" or not record.get("requests"):
                continue
            reached = self._suitability.closure(function)
            if any((called.file, called.name) == subject.key for called, _ in reached):
                found.append(record)
        return found

    def _compare(self, folder: Path, settings: Settings) -> list[dict[str, Any]]:
        results = self._results(folder)
        try:
            verify_functions(self._project, self._in_rust, results, settings)
            return results.known("function")
        finally:
            results.close()

    def _results(self, folder: Path) -> Results:
        folder.mkdir(exist_ok=True)
        return Results(folder, digest_of(self._root, self._copy, self._units))

    def _told(self, message: Message) -> str:
        data = message.path.read_bytes()
        line = data[: message.start].count(b"\n") + 1
        code = shorten(data[message.start : message.end])
        place = message.path.relative_to(self._copy)
        return f"{place}:{line}: {message.code} {message.text}: `{code}`"


def _count_unsafe(text: str) -> Counts:
    return count([parse_source(Path(), text.encode())])


def _difference(record: Mapping[str, Any]) -> str:
    told = difference_of(record)
    return str(told) if told else f"{record['function']} gives another result than the C"


def _has_tests(crate: Path) -> bool:
    return any(b"#[test]" in source.data for source in read_sources(crate))

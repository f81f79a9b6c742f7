"""Inputs and outputs that a request gives: the function or program at the entry point is run.

A function of Python is called; anything else is run as a program, with the inputs as its arguments,
and its output compared without blanks around it.
"""

from __future__ import annotations

import base64
import json
import posixpath
import secrets
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.sandbox.base import Ran
from jarvis_ls.tester.bench import SuiteRun, TestBench, locate
from jarvis_ls.tester.protocol import GivenCase
from jarvis_ls.tester.results import Outcome, Place, TestResult, cut_why, read_places
from jarvis_ls.tester.suites import Runtime, Suite

NAME = "case"
_PROGRAMS = {".js": "node", ".mjs": "node", ".sh": "sh", ".bash": "bash"}
_DRIVER = """\
import importlib, json, os, sys, traceback
path, function, mark, cases = json.load(open(sys.argv[1]))
folder, name = os.path.split(os.path.abspath(path))
parts = [os.path.splitext(name)[0]]
while os.path.isfile(os.path.join(folder, "__init__.py")):
    folder, last = os.path.split(folder)
    parts.insert(0, last)
sys.path[:0] = [folder, os.getcwd()]
called = importlib.import_module(".".join(parts))
for part in function.split("."):
    called = getattr(called, part)
for number, given in enumerate(cases, 1):
    try:
        record = {"value": called(*given)}
    except Exception:
        record = {"error": traceback.format_exc()[-1500:]}
    try:
        text = json.dumps(record)
    except (TypeError, ValueError):
        text = json.dumps({"error": "it returned " + repr(record.get("value"))[:500]})
    print(f"\\n{mark} {number} {text}", flush=True)
"""


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """What is run."""

    path: str
    """From the root."""
    function: str = ""
    """Its name, with its class where it is a static method; empty for a program."""


class CaseSuite:
    """The cases of one request."""

    def __init__(self, entry: EntryPoint, cases: Sequence[GivenCase], runtime: Runtime) -> None:
        self.entry = entry
        self.cases = tuple(cases)
        self._runtime = runtime
        self._suite = Suite(NAME, runtime.language, "", "")

    async def run(self, bench: TestBench, seconds: float, sources: Collection[str]) -> SuiteRun:
        """Return what came of each case. Raises `JarvisError` when nothing can run."""
        mark = secrets.token_hex(8)
        if self.entry.path.endswith(".py") and self.entry.function:
            ran = await bench.execute(self._call(mark), seconds)
        else:
            ran = await bench.execute(self._programs(mark), seconds)
        values = _read_values(ran, mark)
        tests = [self._judge(number, values) for number in range(1, len(self.cases) + 1)]
        if not values and (ran.exit or ran.ended):
            why = cut_why(f"{ran.ended}\n{ran.output}".strip())
            tests = [TestResult(test.name, test.outcome, why) for test in tests]
        told = "\n".join([ran.output, *(test.why for test in tests)])
        places = [Place(self.entry.path, 1), *read_places(told)]
        here = locate(places, str(bench.folder), sources)
        return SuiteRun(self._suite, tuple(tests), here, isolation=ran.isolation)

    def _judge(self, number: int, values: dict[int, dict[str, Any]]) -> TestResult:
        case, name = self.cases[number - 1], f"{NAME} {number}"
        found = values.get(number, {"error": "it gave no result"})
        if "error" in found:
            return TestResult(name, Outcome.FAILED, f"{_shown(case)}: {found['error']}")
        value = found["value"]
        same = value == case.output
        if not self.entry.function:
            same = same or str(value).strip() == str(case.output).strip()
        if same:
            return TestResult(name, Outcome.PASSED)
        why = f"{_shown(case)}: got {json.dumps(value)[:500]}"
        return TestResult(name, Outcome.FAILED, why)

    def _call(self, mark: str) -> str:
        given = json.dumps(
            [self.entry.path, self.entry.function, mark, [case.input for case in self.cases]]
        )
        driver, given = (base64.b64encode(text.encode()).decode() for text in (_DRIVER, given))
        return (
            f"driver=$(printf %s {driver} | base64 -d)\n"
            f'given=$(mktemp) && printf %s {given} | base64 -d >"$given" || exit 125\n'
            f'{self._runtime.python} -c "$driver" "$given" 2>&1 </dev/null'
        )

    def _programs(self, mark: str) -> str:
        path = self.entry.path
        ending = posixpath.splitext(path)[1]
        if ending == ".py":
            command, before = f"{self._runtime.python} {shlex.quote(f'./{path}')}", ""
        elif ending in _PROGRAMS:
            command, before = f"{_PROGRAMS[ending]} {shlex.quote(f'./{path}')}", ""
        elif ending == ".c":
            command, before = '"$place/program"', _compile("cc", path)
        elif ending in (".cc", ".cpp", ".cxx"):
            command, before = '"$place/program"', _compile("c++", path)
        else:
            command, before = shlex.quote(f"./{path}"), ""
        lines = [before]
        for number, case in enumerate(self.cases, 1):
            arguments = " ".join(shlex.quote(_argument(value)) for value in case.input)
            lines.append(
                f"out=$({command} {arguments} </dev/null | base64 -w0)\n"
                f'printf \'\\n{mark} {number} {{"packed": "%s"}}\\n\' "$out"'
            )
        return "\n".join(lines)


def read_entry(text: str | None, definitions: Sequence[str]) -> EntryPoint:
    """Return the entry point of a request, else of what is known of its task.

    Raises `UsageError` when neither names one inside of the project.
    """
    for named in (text or "", *definitions):
        path, _, function = named.strip().partition("::")
        path = posixpath.normpath(path) if path else ""
        if (
            path
            and not path.startswith(("/", "../"))
            and path not in (".", "..")
            and "\0" not in path
        ):
            return EntryPoint(path, function.replace("::", "."))
    raise UsageError("test_cases need an entry_point in the project, such as src/math.py::divide")


def _compile(compiler: str, path: str) -> str:
    source = shlex.quote(f"./{path}")
    return f'place=$(mktemp -d)\n{compiler} -o "$place/program" {source} -lm || exit 1'


def _argument(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _shown(case: GivenCase) -> str:
    return f"input {json.dumps(case.input)[:300]}, expected {json.dumps(case.output)[:300]}"


def _read_values(ran: Ran, mark: str) -> dict[int, dict[str, Any]]:
    """Return what each case gave, by its number: a `value`, or the `error`."""
    found: dict[int, dict[str, Any]] = {}
    for line in ran.output.splitlines():
        begin, number, text = [*line.split(" ", 2), "", ""][:3]
        if begin != mark or not number.isdecimal():
            continue
        try:
            record = json.loads(text)
            if isinstance(record, dict) and "packed" in record:
                packed = base64.b64decode(str(record["packed"]))
                record = {"value": packed.decode("utf-8", "replace")}
        except (ValueError, RecursionError):  # the run was ended while it was printed
            continue
        if isinstance(record, dict) and record.keys() & {"value", "error"}:
            found[int(number[:9])] = record
    return found

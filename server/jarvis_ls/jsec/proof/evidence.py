"""What running the code has shown of a finding, as records.

`Evidence` is kept in `.jarvis/sec/evidence.jsonl` and shown wherever the finding is. Its `Case`
holds everything that a replay needs: what is compiled, what the program is given, and the settings
of the interposers.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from enum import Enum
from typing import Any

from jarvis_ls.core.words import Words, from_json, to_json


class Verdict(Enum):
    """What was shown."""

    REPRODUCED = "reproduced"
    """A run did it: there is a case."""
    CALLER = "depends_on_caller"
    """A run did it, but with arguments that callers may never pass."""
    REFUTED = "refuted"
    """It cannot happen; `Strength` says how that is known."""
    SURVIVED = "survived"
    """Runs that came to the place did not do it."""
    UNPROVEN = "unproven"
    """Neither; the message says why."""


class Strength(Enum):
    """How a refutation is known, the strongest first."""

    PROVEN = "proven"
    """By a sound analysis of the code."""
    UNSAT = "unsat"
    """The conditions of the path contradict each other."""
    SURVIVED = "survived"
    """An assertion of it held in all runs."""


ANY_CALL = "*"
"""Name of whichever library function may fail."""
NO_CALL = 1_000_000
"""Number of a call that no run reaches: nothing is made to fail, but calls that fail by themselves
are reported."""
SET_USER = (1000, 0)
"""Users of a set-user-ID program of root that somebody else starts."""
ROOT = (0, 0)
"""Users of a program that root starts."""
DECISIVE = frozenset({Verdict.REPRODUCED, Verdict.CALLER, Verdict.REFUTED})
"""What ends the ladder."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the interposers do (see `interposers.c`); the defaults leave everything as it is."""

    fail_allocation: int = 0
    """Number of the allocation that fails, from 1; 0 for none, -1 for all."""
    fail_call: str = ""
    """Name of the library function that fails, such as `fopen`; `ANY_CALL`; empty for none."""
    fail_number: int = 1
    """Which call of it, from 1; -1 for all."""
    short_reads: bool = False
    """Whether `read`, `fread` and `recv` give at most one byte."""
    random: tuple[int, ...] = ()
    """What `rand` and `random` return one after the other, the last again and again; empty for the
    real ones with a fixed seed."""
    time: int = 1_700_000_000
    """Seconds that `time` tells."""
    full: bool = False
    """Whether standard output is `/dev/full`."""
    signals: int = 0
    """Each signal that has a handler arrives once: at once (1), or with that many calls of the
    library behind that; 0 for none."""
    users: tuple[int, ...] = ()
    """The user, and group, who starts the program, and the one whose rights it has, which it may
    change; empty for those of the sandbox."""

    def environment(self) -> dict[str, str]:
        """Return the variables that tell the interposers."""
        told = {"JSEC_TIME": str(self.time)}
        if self.fail_allocation:
            told["JSEC_FAIL_ALLOC"] = str(self.fail_allocation)
        if self.fail_call:
            told["JSEC_FAIL_CALL"] = self.fail_call
            told["JSEC_FAIL_NUMBER"] = str(self.fail_number)
        if self.short_reads:
            told["JSEC_SHORT_READS"] = "1"
        if self.random:
            told["JSEC_RANDOM"] = ",".join(map(str, self.random))
        if self.signals:
            told["JSEC_SIGNALS"] = str(self.signals)
        if self.users:
            told["JSEC_USERS"] = ",".join(map(str, self.users))
        return told


@dataclass(frozen=True, slots=True)
class Build:
    """What is compiled into one program, and how."""

    compiler: str
    """What compiles C, such as `clang-14`."""
    linker: str
    """What links, such as `gcc`: see `Toolchain`."""
    flags: tuple[str, ...]
    """Options of the project; folders of the workspace relative to it."""
    sources: tuple[str, ...]
    """Files of the workspace, relative to it."""
    harness: str = ""
    """Text of a C file that is compiled with them and has the `main`; empty for whole programs."""
    libraries: tuple[str, ...] = ()
    """Options for the linker, behind everything else."""
    system: str = ""
    """`make`, `configure` or `cmake` when the project builds itself; the program is then the one
    that the first of `sources` is in."""
    rewritten: tuple[tuple[str, str, str], ...] = ()
    """A file, a line of it and what the line is while it is compiled: without a cast that is
    written, for what a cast cuts off is not reported."""
    spare: tuple[str, ...] = ()
    """Files of C that offer what `sources` may lack: as a library, when these do not link."""
    checker: str = ""
    """`memcheck` when it is compiled without sanitizers and run by Valgrind."""
    signals: bool = False
    """Whether interposers stand in for what installs handlers of signals, and for what these must
    not call."""
    configured: bool = False
    """Whether the project is configured first: headers are made by that."""


@dataclass(frozen=True, slots=True)
class Case:
    """One run that can be repeated."""

    build: Build
    """The program."""
    arguments: tuple[str, ...] = ()
    """Its arguments without its own name; bytes that are no UTF-8 are surrogates."""
    stdin: bytes = b""
    """What it reads."""
    files: tuple[tuple[str, bytes], ...] = ()
    """Files in the folder it is started in, by relative name."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables it gets."""
    settings: Settings = Settings()
    """What the interposers do."""
    seconds: float = 2.0
    """CPU seconds it may take."""

    @property
    def id(self) -> str:
        """Twelve hex digits that name the case by all that is in it."""
        text = json.dumps(case_to_json(self), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Report:
    """What a sanitizer, or a check of ours, said of a run."""

    kind: str
    """Such as `heap-buffer-overflow`, `signed-integer-overflow`, `leak`, `ignored-failure`."""
    file: str
    """File of the first frame in the project, relative to it; empty when there is none."""
    line: int
    """1-based line of that frame; 0 when there is none."""
    function: str
    """Function of that frame; may be empty."""
    text: str
    """The sanitizer's line."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one rung has shown of one finding."""

    verdict: Verdict
    rung: str
    """Name of the rung."""
    message: str
    """What was shown, for people: `Words`."""
    gid: int = 0
    """Number of the finding in the scan it was proven in."""
    fingerprint: str = ""
    """Name of the finding that survives moved lines."""
    strength: Strength | None = None
    """How a refutation is known."""
    assumptions: tuple[str, ...] = ()
    """What it holds under, for people: `Words`."""
    case: Case | None = None
    """The run that shows it."""
    report: Report | None = None
    """What that run said."""
    functions: tuple[tuple[str, str], ...] = ()
    """Hash by `file:function` of all that it speaks of; of a whole file by `file:`."""
    runs: int = 0
    """How many runs came to the place without doing it."""
    seconds: float = 0.0
    """CPU seconds it took."""

    @property
    def is_decisive(self) -> bool:
        """Return whether no other rung need be asked."""
        return self.verdict in DECISIVE

    def to_json(self) -> dict[str, Any]:
        """Return the record as it is kept."""
        return {
            "gid": self.gid,
            "fingerprint": self.fingerprint,
            "verdict": self.verdict.value,
            "strength": self.strength.value if self.strength else "",
            "rung": self.rung,
            "message": to_json(self.message),
            "assumptions": to_json(self.assumptions),
            "case": case_to_json(self.case) if self.case else None,
            "case_id": self.case.id if self.case else "",
            "report": _fields(self.report) if self.report else None,
            "functions": dict(self.functions),
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
        }


def evidence_of(record: Any) -> Evidence | None:
    """Return the evidence of a record; None when it is damaged or of another version."""
    try:
        strength = record["strength"]
        return Evidence(
            verdict=Verdict(record["verdict"]),
            rung=str(record["rung"]),
            message=_text(from_json(record["message"])),
            gid=int(record["gid"]),
            fingerprint=str(record["fingerprint"]),
            strength=Strength(strength) if strength else None,
            assumptions=tuple(_text(from_json(part)) for part in record["assumptions"]),
            case=case_of(record["case"]) if record["case"] else None,
            report=_report_of(record["report"]) if record["report"] else None,
            functions=tuple((str(k), str(v)) for k, v in record["functions"].items()),
            runs=int(record["runs"]),
            seconds=float(record["seconds"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def case_to_json(case: Case) -> dict[str, Any]:
    """Return a case as plain data; bytes are base64."""
    build = {**_fields(case.build), "flags": list(case.build.flags)}
    settings = _fields(case.settings)
    for record, name in (
        (build, "spare"),
        (build, "signals"),
        (build, "configured"),
        (settings, "signals"),
        (settings, "users"),
    ):
        if not record[name]:  # cases keep the names that they had before there were any
            del record[name]
    return {
        "build": build,
        "arguments": list(case.arguments),
        "stdin": _encode(case.stdin),
        "files": [[name, _encode(data)] for name, data in case.files],
        "environment": [list(pair) for pair in case.environment],
        "settings": settings,
        "seconds": case.seconds,
    }


def case_of(record: Any) -> Case:
    """Return the case of a record. Raises `KeyError`, `TypeError` or `ValueError`."""
    build = record["build"]
    return Case(
        build=Build(
            str(build["compiler"]),
            str(build["linker"]),
            _texts(build["flags"]),
            _texts(build["sources"]),
            str(build["harness"]),
            _texts(build["libraries"]),
            str(build.get("system", "")),
            tuple((file, line, new) for file, line, new in map(_texts, build.get("rewritten", []))),
            _texts(build.get("spare", [])),
            str(build.get("checker", "")),
            bool(build.get("signals", False)),
            bool(build.get("configured", False)),
        ),
        arguments=_texts(record["arguments"]),
        stdin=_decode(record["stdin"]),
        files=tuple((str(name), _decode(data)) for name, data in record["files"]),
        environment=tuple((str(name), str(value)) for name, value in record["environment"]),
        settings=_settings_of(record["settings"]),
        seconds=float(record["seconds"]),
    )


def _settings_of(record: Any) -> Settings:
    return Settings(
        fail_allocation=int(record["fail_allocation"]),
        fail_call=str(record["fail_call"]),
        fail_number=int(record["fail_number"]),
        short_reads=bool(record["short_reads"]),
        random=tuple(int(number) for number in record["random"]),
        time=int(record["time"]),
        full=bool(record["full"]),
        signals=int(record.get("signals", 0)),
        users=tuple(int(number) for number in record.get("users", ())),
    )


def _report_of(record: Any) -> Report:
    return Report(
        str(record["kind"]),
        str(record["file"]),
        int(record["line"]),
        str(record["function"]),
        str(record["text"]),
    )


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError("a list of texts is expected")
    return tuple(values)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else Words(str(value))


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _decode(text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None

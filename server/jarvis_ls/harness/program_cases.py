"""Recorded cases of whole programs: what goes in and what comes out.

`cases.jsonl` below `.jarvis/c2rust` holds one JSON object a line; contents of files and streams are
base64:

    {"name": …, "program": stem of the C file with the `main`, "as": what the program is called
     (`argv[0]`), "arguments": […], "stdin": …, "files": {path: [contents, mode]},
     "expected": {"status": exit status or minus the signal, "stdout": …, "stderr": …,
                  "files": {path: [contents, mode]}}}

`expected` may be missing: then it is what the C says. Every run has a folder of its own, a fixed
environment, and the same `argv[0]`.
"""

from __future__ import annotations

import base64
import binascii
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from jarvis_ls.core.errors import JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.store import Appender, line_of, read_records

FILE = "cases.jsonl"
SECONDS = 60.0
"""How long one run may take."""
MOST_BYTES = 64_000_000
"""Of one file or stream of a case."""

Files = Mapping[str, tuple[bytes, int]]
"""Contents and mode by path below the folder of a run."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended and what it left."""

    status: int
    """Exit status, or minus the number of a signal."""
    stdout: bytes
    stderr: bytes
    files: Files
    timed_out: bool = False

    def difference(self, other: Ended) -> str:
        """Return what is not the same, in words; empty when nothing is."""
        if self.timed_out or other.timed_out:
            return "" if self.timed_out and other.timed_out else "one does not end"
        if self.status != other.status:
            return f"exit status {self.status} and {other.status}"
        for name in ("stdout", "stderr"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                return f"{name} differs at byte {_first(mine, theirs)}"
        for path in sorted({*self.files, *other.files}):
            mine, theirs = self.files.get(path), other.files.get(path)
            if mine is None or theirs is None:
                return f"only one leaves the file {path}"
            if mine[0] != theirs[0]:
                return f"the file {path} differs at byte {_first(mine[0], theirs[0])}"
            if mine[1] != theirs[1]:
                return f"the file {path} has mode {mine[1]:o} and {theirs[1]:o}"
        return ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One case."""

    name: str
    program: str
    arguments: tuple[str, ...] = ()
    stdin: bytes = b""
    files: Files = field(default_factory=dict)
    called: str = ""
    """`argv[0]`; the program's name when empty."""
    expected: Ended | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the record in `cases.jsonl`."""
        record: dict[str, Any] = {
            "name": self.name,
            "program": self.program,
            "as": self.called or self.program,
            "arguments": list(self.arguments),
            "stdin": _text(self.stdin),
            "files": _plain(self.files),
        }
        if self.expected is not None:
            ended = self.expected
            streams = {"stdout": _text(ended.stdout), "stderr": _text(ended.stderr)}
            record["expected"] = {"status": ended.status, **streams, "files": _plain(ended.files)}
        return record


def case_of(record: Any) -> Recorded:
    """Return the case of a record. Raises `ValueError` saying what is wrong with it."""
    try:
        wanted = record.get("expected")
        expected = None
        if wanted is not None:
            expected = Ended(
                int(wanted["status"]),
                _bytes(wanted["stdout"]),
                _bytes(wanted["stderr"]),
                _files(wanted["files"]),
            )
        return Recorded(
            str(record["name"]),
            str(record["program"]),
            tuple(str(argument) for argument in record.get("arguments", ())),
            _bytes(record.get("stdin", "")),
            _files(record.get("files", {})),
            str(record.get("as", "")),
            expected,
        )
    except (KeyError, TypeError, AttributeError, binascii.Error) as error:
        raise ValueError(f"not a case: {error}") from None


def read_cases(path: Path) -> list[Recorded]:
    """Return the cases of a file, none when it is not there. Raises `UsageError` naming a bad
    record.
    """
    found = []
    for number, record in enumerate(read_records(path), 1):
        try:
            found.append(case_of(record))
        except ValueError as error:
            raise UsageError(
                "{path}: record {number} is {error}", path=path, number=number, error=error
            ) from None
    return found


def add_case(path: Path, case: Recorded) -> None:
    """Add a case to a file. Raises `JarvisError`."""
    with Appender(path) as file:
        file.append(line_of(case.to_json()))


def record(
    program: Path,
    arguments: Sequence[str],
    *,
    stdin: bytes,
    files: Sequence[Path],
    name: str,
    stem: str,
    called: str = "",
) -> Recorded:
    """Return a case from a run of `program` with copies of `files`, which keep their relative
    paths.

    `stem` names the C file with the `main`. Raises `UsageError` when a file cannot be read,
    `JarvisError` when the program does not end.
    """
    given: dict[str, tuple[bytes, int]] = {}
    for path in files:
        if path.is_absolute() or ".." in path.parts:
            raise UsageError(
                "{path}: files of a case are named relative to this folder.", path=path
            )
        try:
            data = read_regular(path, limit=MOST_BYTES)
        except SkippedFile as error:
            raise UsageError(f"{path}: {error.reason}") from None
        given[path.as_posix()] = (data, path.stat().st_mode & 0o777)
    case = Recorded(name, stem, tuple(arguments), stdin, given, called or program.name)
    ended = run_case(case, program)
    if ended.timed_out:
        raise JarvisError(
            "{program} did not exit within {seconds} s; nothing was recorded.",
            program=program,
            seconds=f"{SECONDS:.0f}",
        )
    return replace(case, expected=ended)


def run_case(
    case: Recorded,
    program: Path,
    *,
    seconds: float = SECONDS,
    environment: Mapping[str, str] | None = None,
    preload: str = "",
) -> Ended:
    """Run `program` as the case says. Raises `JarvisError` when it cannot be started."""
    with tempfile.TemporaryDirectory(prefix="harness-case-") as name:
        folder = Path(name)
        for path, (data, mode) in case.files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            place.chmod(mode)
        words = {
            "PATH": os.defpath,
            "LC_ALL": "C",
            "TZ": "UTC",
            "HOME": "/nonexistent",
            **(environment or {}),
        }
        if preload:
            words["LD_PRELOAD"] = preload
        try:
            process = subprocess.Popen(
                [case.called or case.program, *case.arguments],
                executable=program,
                cwd=folder,
                env=words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise JarvisError(
                "{command} cannot be run: {why}", command=program, why=error.strerror
            ) from None
        timed_out = False
        try:
            out, err = process.communicate(case.stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            timed_out = True
        left = dict(_left(folder))
    return Ended(process.returncode, out[:MOST_BYTES], err[:MOST_BYTES], left, timed_out)


def program_of(case: Recorded, programs: Mapping[str, Path]) -> Path | None:
    """Return the executable of a case among `programs` by stem; the only one there is, if so."""
    if case.program in programs:
        return programs[case.program]
    return next(iter(programs.values())) if len(programs) == 1 else None


def _left(folder: Path) -> Iterator[tuple[str, tuple[bytes, int]]]:
    for path in sorted(folder.rglob("*")):
        try:
            data = read_regular(path, limit=MOST_BYTES)
        except SkippedFile as error:
            if path.is_dir() and not path.is_symlink():
                continue
            data = f"({error.reason})".encode()
        yield path.relative_to(folder).as_posix(), (data, path.lstat().st_mode & 0o777)


def _first(mine: bytes, theirs: bytes) -> int:
    pairs = enumerate(zip(mine, theirs, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(mine), len(theirs)))


def _files(value: Any) -> Files:
    found = {}
    for path, (data, mode) in value.items():
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts:
            raise ValueError(f"not a case: the file {path!r} is outside its folder")
        found[str(pure)] = (_bytes(data), int(mode))
    return found


def _plain(files: Files) -> dict[str, list[Any]]:
    return {path: [_text(data), mode] for path, (data, mode) in files.items()}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)

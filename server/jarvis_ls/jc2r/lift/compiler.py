"""What rustc says of a crate, as records."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.jc2r.crate.cargo import run_cargo
from jarvis_ls.jc2r.lift.rust import Source

SECONDS = 900
UNSAFE = "E0133"
"""Something unsafe outside of `unsafe`."""
PROVEN_BY_BUILD = frozenset(
    {
        "clippy::unnecessary_cast",
        "clippy::manual_c_str_literals",
        "clippy::empty_line_after_doc_comments",
    }
)
"""Lints whose suggestion means the same when it builds, though clippy does not promise that."""
_LESS_SURE = ("MaybeIncorrect", "HasPlaceholders")
UNSAFE_INSIDE = "unsafe_op_in_unsafe_fn"
"""The lint for the same in an unsafe function; its warnings have the code `UNSAFE`."""


@dataclass(frozen=True, slots=True)
class Change:
    """What rustc suggests, and is sure of."""

    start: int
    """Byte in the file."""
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Message:
    """One error or warning."""

    path: Path
    code: str
    level: str
    text: str
    start: int
    """First byte of the place in the file."""
    end: int
    changes: tuple[Change, ...] = ()


def check(crate: Path, *lints: str, command: str = "check") -> list[Message]:
    """Return what rustc says of library and programs; `lints` are warned of whatever the source
    allows. With the command `clippy` it is what clippy says.

    Raises `JarvisError` when cargo cannot be run or says nothing useful.
    """
    flags = " ".join(f"--force-warn {lint}" for lint in lints)
    if command == "clippy":
        flags += " --cap-lints warn"  # one that it denies would keep it from looking at the rest
    try:
        done = run_cargo(
            crate,
            command,
            "--keep-going",
            "--message-format=json",
            seconds=SECONDS,
            flags=flags,
        )
    except subprocess.TimeoutExpired:
        raise JarvisError(
            "cargo check took more than {seconds} seconds in {crate}.", seconds=SECONDS, crate=crate
        ) from None
    found: dict[tuple[Any, ...], Message] = {}
    for line in done.stdout.splitlines():
        record = json.loads(line)
        if record.get("reason") == "compiler-message":
            span = _message(crate, record["message"])
            if span is not None:  # a module is seen once for the library and once for its tests
                found[span.path, span.start, span.end, span.code, span.text] = span
    messages = list(found.values())
    if done.returncode != 0 and not any(message.level == "error" for message in messages):
        raise JarvisError(
            "cargo check failed in {crate}:\n{said}",
            crate=crate,
            said=done.stderr.decode(errors="replace"),
        )
    return messages


def errors_of(messages: list[Message]) -> list[Message]:
    """Return the messages that are errors."""
    return [message for message in messages if message.level == "error"]


def functions_with(messages: list[Message], sources: list[Source]) -> set[tuple[Path, int]]:
    """Return the functions that messages are about, by file and number in it."""
    return {
        (source.path, number)
        for source in sources
        for number, function in enumerate(source.functions)
        if any(
            message.path == source.path and function.start_byte <= message.start < function.end_byte
            for message in messages
        )
    }


def _message(crate: Path, said: dict[str, Any]) -> Message | None:
    span = next((span for span in said["spans"] if span["is_primary"]), None)
    if span is None or said["level"] not in ("error", "warning"):
        return None
    code = (said.get("code") or {}).get("code", "")
    sure = {"MachineApplicable", *(_LESS_SURE if code in PROVEN_BY_BUILD else ())}
    changes = [
        Change(span["byte_start"], span["byte_end"], span["suggested_replacement"])
        for child in said["children"]
        for span in child["spans"]
        if span["suggestion_applicability"] in sure
    ]
    return Message(
        crate / span["file_name"],
        code,
        said["level"],
        said["message"],
        span["byte_start"],
        span["byte_end"],
        tuple(changes),
    )


def with_changes(data: bytes, warnings: Sequence[Message]) -> bytes:
    """Return a file with the changes of warnings; one that overlaps an earlier one is left out."""
    chosen: dict[tuple[int, int], str] = {}
    end = 0
    for warning in sorted(warnings, key=lambda w: min(c.start for c in w.changes)):
        places = sorted({(change.start, change.end): change.text for change in warning.changes})
        if places[0][0] < end:
            continue
        chosen |= {(change.start, change.end): change.text for change in warning.changes}
        end = places[-1][1]
    for (start, stop), text in sorted(chosen.items(), reverse=True):
        data = data[:start] + text.encode() + data[stop:]
    return data

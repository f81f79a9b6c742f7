"""The gate for safe functions: called with extreme arguments, none of them may crash.

The callers are built with AddressSanitizer where the compiler has it, and run in the sandbox of the
user's settings. A panic, an allocation that fails and a stack that is too small end a process in a
defined way; a signal, a report of the sanitizer, or one of the standard library on a broken
precondition do not.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.crate.cargo import host_target, run_cargo
from jarvis_ls.jc2r.lift.callers import PROGRAM, Caller, callers_of, is_helper, write_callers
from jarvis_ls.jc2r.lift.program import Key, module_of
from jarvis_ls.jc2r.lift.rust import Source, name_of, read_sources
from jarvis_ls.jc2r.lift.safety import unsafe_word
from jarvis_ls.runtime.sandbox.base import Script
from jarvis_ls.runtime.sandbox.ladder import Ladder

BUILD_SECONDS = 900
RUN_SECONDS = 600.0
_TARGET = "target"
_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:exitcode=99:allocator_may_return_null=1:symbolize=0"
    ":max_allocation_size_mb=512:print_legend=0",
    "RUST_BACKTRACE": "0",
    "LC_ALL": "C",
}
_RECORD = re.compile(r"^\x1e(\d+) (\d+) (\S+) (.*)$", re.MULTILINE)
_REPORT = re.compile(r"ERROR: AddressSanitizer: ([\w-]+)")
_HARMLESS = (
    "stack-overflow",
    "allocation-size-too-big",
    "out-of-memory",
    "calloc-overflow",
    "ABRT",
)
_BROKEN = re.compile(
    r"unsafe precondition\(s\) violated|null pointer dereference|misaligned pointer"
    r"|double free|free\(\): |corrupted|invalid pointer"
)
_CRASHES = {4: "SIGILL", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"}


@dataclass
class Gate:
    """What came of the calls."""

    called: set[Key] = field(default_factory=set)
    """Safe functions that were called, and did not crash."""
    crashes: dict[Key, str] = field(default_factory=dict)
    """Those that did, with the call and what was reported."""
    uncalled: dict[Key, str] = field(default_factory=dict)
    """Those that were not called, and why."""
    taken_back: dict[Key, str] = field(default_factory=dict)
    """All that crashed since the first attempt: as unsafe functions they are not called."""
    sanitizer: bool = False
    """Whether AddressSanitizer watched."""
    problem: str = ""
    """Why nothing was called; empty when it was."""


class Verdict(str, Enum):
    """What is known of a function of a lifted crate."""

    SOUND = "sound"
    """Safe, and called without a crash."""
    SAFE = "safe"
    """Safe, and not called."""
    CRASHES = "crashes"
    """Safe, and it crashed."""
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Judged:
    """One function of a lifted crate."""

    module: str
    name: str
    state: Verdict
    why: tuple[str, ...] = ()
    """Why it was not called, how it crashed, or what its callers have to keep."""


def judge(sources: Sequence[Source], gate: Gate) -> list[Judged]:
    """Return what is known of each function of a crate after the gate."""
    found = []
    for source in sources:
        for function in source.functions:
            if is_helper(source, function):
                continue
            key = module_of(source), name_of(function)
            named = key[0], key[1].removeprefix("r#")
            if unsafe_word(function) is not None:
                back = [gate.taken_back[key]] if key in gate.taken_back else []
                found.append(Judged(*named, Verdict.UNSAFE, (*back, *_demands(source, function))))
            elif key in gate.crashes:
                found.append(Judged(*named, Verdict.CRASHES, (gate.crashes[key],)))
            elif key in gate.called:
                found.append(Judged(*named, Verdict.SOUND))
            elif key in gate.uncalled:
                found.append(Judged(*named, Verdict.SAFE, (gate.uncalled[key],)))
            elif key[1] != "main":
                found.append(Judged(*named, Verdict.SAFE, (gate.problem,) if gate.problem else ()))
    return found


def _demands(source: Source, function: Node) -> list[str]:
    """Return the preconditions in the comment above a function."""
    lines: list[str] = []
    before = function.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment"):
        if before.type == "line_comment":
            lines.insert(0, source.text(before).decode("utf-8", "replace").strip())
        before = before.prev_sibling
    told = "\n".join(line.removeprefix("///") for line in lines).partition("# Safety\n")[2]
    return [" ".join(part.split()) for part in re.split(r"^ - ", told, flags=re.MULTILINE)[1:]]


def call_safe_functions(crate: Path, folder: Path, ladder: Ladder) -> Gate:
    """Call every safe function of a crate with extreme arguments; `folder` is where the callers are
    built. What cannot be built or run is said in `problem`."""
    gate = Gate()
    try:
        _call(crate, folder, ladder, gate)
    except JarvisError as error:
        gate.problem = str(error)
    return gate


def _call(crate: Path, folder: Path, ladder: Ladder, gate: Gate) -> None:
    callers = callers_of(read_sources(crate))
    for caller in callers:
        if not caller.calls:
            why = Words("safe code cannot make a value of {type}", type=caller.missing)
            gate.uncalled[caller.key] = why
    chosen = [caller for caller in callers if caller.calls]
    if not chosen:
        return
    program, chosen = _build(crate, folder, chosen, gate)
    _run(program, chosen, gate, ladder)


def _build(
    crate: Path, folder: Path, callers: list[Caller], gate: Gate
) -> tuple[Path, list[Caller]]:
    """Return the program that calls, and the functions in it: those of programs are left out where
    they cannot be in one library with the rest."""
    shutil.rmtree(folder / "lifted", ignore_errors=True)
    said = ""
    library = [caller for caller in callers if not caller.key[0].startswith("bin/")]
    attempts = [(callers, len(library) < len(callers))]
    if len(library) < len(callers):
        attempts.append((library, False))
    for chosen, programs in attempts:
        write_callers(folder, crate, chosen, programs=programs)
        for sanitized in (True, False):
            built = _cargo(folder, sanitized=sanitized)
            if built is None:
                gate.sanitizer = sanitized
                for caller in callers:
                    if caller not in chosen:
                        gate.uncalled[caller.key] = Words("it is in a program")
                host = host_target() if sanitized else ""
                return folder / _TARGET / host / "debug" / PROGRAM, chosen
            said = built
    raise JarvisError("The callers of safe functions do not build:\n{said}", said=said[:2000])


def _cargo(folder: Path, *, sanitized: bool) -> str | None:
    """Build the callers; return what the compiler says when they do not build."""
    words, flags, variables = [], "", {}
    if sanitized:  # only with a target are build scripts left out of it
        words = ["--target", host_target()]
        flags, variables = "-Zsanitizer=address", {"RUSTC_BOOTSTRAP": "1"}
    try:
        done = run_cargo(
            folder, "build", *words, seconds=BUILD_SECONDS, flags=flags, variables=variables
        )
    except subprocess.TimeoutExpired:
        raise JarvisError(
            "{command} took longer than {seconds} s", command="cargo build", seconds=BUILD_SECONDS
        ) from None
    return None if done.returncode == 0 else done.stderr.decode(errors="replace").strip()


def _run(program: Path, callers: list[Caller], gate: Gate, ladder: Ladder) -> None:
    """Run the program in the sandbox and judge how its processes ended."""
    with tempfile.TemporaryDirectory(prefix="jc2r-callers-") as name:
        place = Path(name).resolve()
        place.chmod(0o755)
        shutil.copy2(program, place / PROGRAM)
        ran = asyncio.run(_run_in_sandbox(place, ladder))
    for match in _RECORD.finditer(ran):
        caller = callers[int(match[1])]
        why = _crash(match[3], match[4])
        if why:
            call = caller.calls[int(match[2])]
            gate.crashes.setdefault(caller.key, f"{call}: {why}")
        gate.called.add(caller.key)
    gate.called -= gate.crashes.keys()
    for caller in callers:
        if caller.key not in gate.called and caller.key not in gate.crashes:
            gate.uncalled[caller.key] = Words("there was no time left to call it")
    if not gate.called and not gate.crashes:
        raise JarvisError("The callers of safe functions do not run: {said}", said=ran[-1000:])


async def _run_in_sandbox(place: Path, ladder: Ladder) -> str:
    sandbox = await ladder.best(trusted=True)
    script = f"ulimit -c 0; exec ./{PROGRAM}"
    ran = await sandbox.run(Script("bash", script, RUN_SECONDS, environment=_OPTIONS), [place])
    return ran.output


def _crash(status: str, said: str) -> str:
    """Return how a process crashed that ended so; empty when it ended in a defined way."""
    if (found := _REPORT.search(said)) is not None and found[1] not in _HARMLESS:
        return f"AddressSanitizer: {found[1]}"
    if found is not None:
        return ""
    if (broken := _BROKEN.search(said)) is not None:
        return broken[0]
    kind, _, number = status.partition(":")
    return _CRASHES.get(int(number), "") if kind == "signal" else ""

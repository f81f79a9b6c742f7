"""The project's own tests, run on the C and then with its libraries and programs replaced by Rust.

Everything happens in a copy below `.jarvis/c2rust`, with a command the user has given. After it has
run on the C, archives and shared libraries that hold only what the crate offers give way to the
crate's, programs the crate has to its own, and where there are neither, object files to objects of
the crate. Programs that were linked with the C are taken away so that the build links them again,
and the command is run once more. A command that makes them of the C again has tested nothing.

Where the tests do not pass with the C, they are run with it twice, and count when the same fail
with the Rust; what replaces the C says whether it ran. What the build compiled in another way
than the crate has stays.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.build.compile_commands import Unit
from jarvis_ls.jc2r.build.recorded_commands import record_commands
from jarvis_ls.jc2r.equivalence.built_ways import BuiltWays
from jarvis_ls.jc2r.equivalence.crate_objects import (
    defined_symbols,
    put_as_archive,
    put_as_object,
    put_as_program,
    put_as_shared,
)
from jarvis_ls.jc2r.equivalence.own_test_outcomes import TestRun, varied_lines

SECONDS = 1800.0
"""How long one run of the command may take."""
SAID = 4000
"""Characters of the end of what a run printed that are kept."""
_IGNORED = (".git", ".hg", ".svn", ".jarvis", "target")
_ELF = b"\x7fELF"
_MOST_OBJECTS = 100


@dataclass
class OwnTests:
    """What became of the project's own tests."""

    command: str
    c: int
    """Exit status on the C."""
    rust: int | None = None
    """Exit status with the Rust in place; None when it was not tried."""
    replaced: list[str] = field(default_factory=list)
    """Files of the copy that were replaced."""
    relinked: int = 0
    """Programs that were linked with the C and taken away: the command is to link them again."""
    said: str = ""
    """The end of what the last run printed."""
    reason: str = ""
    """Why it was not tried."""
    failed: list[str] = field(default_factory=list)
    """Tests that failed with the Rust, as the runner of the tests calls them."""
    alike: bool = False
    """Whether the same tests fail with the C, and the others pass both ways."""
    otherwise: list[str] = field(default_factory=list)
    """Files that stay, as the build compiles them in a way that the crate does not have."""

    @property
    def good(self) -> bool:
        """Return whether the tests pass both ways, or the same fail."""
        return (self.c == 0 and self.rust == 0) or self.alike

    def to_json(self) -> dict[str, Any]:
        """Return the record of kind `own_tests`."""
        return {
            "command": self.command,
            "c": self.c,
            "rust": self.rust,
            "replaced": self.replaced,
            "relinked": self.relinked,
            "reason": self.reason,
            "said": self.said,
            "failed": self.failed,
            "alike": self.alike,
            "otherwise": self.otherwise,
        }


@dataclass(frozen=True, slots=True)
class Crate:
    """What stands in for the C."""

    folder: Path
    libraries: Sequence[str]
    """What it is linked with."""
    units: Sequence[Unit]
    """Of what it is made."""
    programs: Mapping[str, str]
    """Its programs, by the unit with the `main` of each."""

    @property
    def archive(self) -> Path:
        """Return its library. Raises `JarvisError` when there is none."""
        found = next(iter((self.folder / "target" / "release").glob("lib*.a")), None)
        if found is None:
            raise JarvisError("{crate} is not built; run `jc2r run --baseline`.", crate=self.folder)
        return found

    def executables(self) -> dict[str, Path]:
        """Return its programs that were built, by name."""
        return {
            path.name: path
            for path in (self.folder / "target" / "release").iterdir()
            if path.is_file() and os.access(path, os.X_OK) and path.suffix == ""
        }


def run_own_tests(
    root: Path, crate: Crate, folder: Path, command: Sequence[str], prepare: str = ""
) -> OwnTests:
    """Run `command` on a copy of `root` below `folder`, first in C, then with the crate.

    `prepare` is run once before, by a shell: what would build all the C again. Raises `JarvisError`
    when it cannot be copied or run.
    """
    copy = folder / "own-tests"
    shutil.rmtree(copy, ignore_errors=True)
    try:
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(*_IGNORED))
    except (OSError, shutil.Error) as error:
        raise JarvisError(
            "The project cannot be copied to {copy}: {error}", copy=copy, error=error
        ) from None
    before = {path for path in copy.rglob("*") if path.is_file()}
    with record_commands() as recorded:
        if prepare:
            prepared = _run(["sh", "-c", prepare], copy, recorded.path)
            if prepared.status != 0:
                return OwnTests(
                    prepare,
                    prepared.status,
                    said=prepared.said[-SAID:],
                    reason="the project cannot be built",
                )
        first = _run(command, copy, recorded.path)
        ways = BuiltWays.of(recorded.entries(), copy)
    found = OwnTests(" ".join(command), first.status, said=first.said[-SAID:])
    made = [path for path in copy.rglob("*") if path.is_file() and path not in before]
    plan = _Plan.of(sorted(made), crate, ways)
    found.otherwise = [path.relative_to(copy).as_posix() for path in plan.otherwise]
    again, varied = first, varied_lines(first, first)
    if first.status != 0:
        plan.remove_linked()
        plan.date()
        again = _run(command, copy)
        varied = varied_lines(first, again)
        if again.status != first.status or not plan.replacing:
            found.reason = "they do not pass with the C"
            return found
    if not plan.replacing:
        found.reason = "the build produces nothing that the crate could replace"
        return found
    ran = folder / "own-tests-ran"
    ran.unlink(missing_ok=True)
    plan.replace(crate, ran, programs_tell=first.status != 0)
    found.replaced = [path.relative_to(copy).as_posix() for path in plan.replacing]
    found.relinked = plan.remove_linked()
    plan.date()
    placed = {name: _digest(copy / name) for name in found.replaced}
    last = _run(command, copy)
    found.rust, found.said = last.status, last.said[-SAID:]
    found.failed = last.failures if last.status != 0 else []
    found.alike = first.status != 0 and again.is_like(last, varied)
    if not ran.exists() and (first.status != 0 or not plan.programs):
        found.alike, found.rust = False, None
        found.reason = (
            "they do not pass with the C, and do not run the crate"
            if first.status != 0
            else "the command does not run what was replaced"
        )
    _without_relinked(found, [name for name in placed if _digest(copy / name) != placed[name]])
    return found


@dataclass(slots=True)
class _Plan:
    """What of a build gives way to the crate."""

    libraries: list[Path] = field(default_factory=list)
    programs: dict[Path, Path] = field(default_factory=dict)
    """With the crate's in place of each: those of other names only where nothing else gives way,
    since what tests a library is best left C."""
    objects: list[Path] = field(default_factory=list)
    """Only where there are no libraries and no programs of the same name."""
    linked: list[Path] = field(default_factory=list)
    """Programs that hold some of the C, and are to be linked again."""
    otherwise: list[Path] = field(default_factory=list)
    """What was compiled in a way that the crate does not have."""
    dates: dict[Path, int] = field(default_factory=dict)
    """When the build made what gives way, unless it is to be put into a larger library."""

    @property
    def replacing(self) -> list[Path]:
        """Return what is replaced, as far as it is there."""
        return sorted([*self.libraries, *self.programs, *self.objects])

    @classmethod
    def of(cls, made: Sequence[Path], crate: Crate, ways: BuiltWays) -> _Plan:
        """Return what of the files that were `made` gives way."""
        plan = cls()
        offered = defined_symbols(crate.archive)
        library = [unit for unit in crate.units if not unit.of]
        built = [path for path in made if _is_built(path)]
        programs = [path for path in built if _is_program(path)]
        for path in built:
            is_library = path.suffix == ".a" or ".so" in path.suffixes
            if is_library and _all_in(defined_symbols(path, *_dynamic(path)), offered):
                plan._choose(plan.libraries, path, ways, library)
        found = {path: _program_of(path, programs, crate, ways) for path in programs}
        plan.programs = {path: other for path, (other, named) in found.items() if other and named}
        if not plan.libraries and not plan.programs:
            for path in made:
                if (
                    path.suffix == ".o"
                    and not path.is_symlink()
                    and len(plan.objects) < _MOST_OBJECTS
                    and _all_in(defined_symbols(path), offered)
                ):
                    plan._choose(plan.objects, path, ways, library)
        if not plan.replacing:
            plan.programs = {path: other for path, (other, _) in found.items() if other}
        plan.linked = [
            path
            for path in programs
            if path not in plan.programs and offered & defined_symbols(path)
        ]
        larger = set(built) - {*programs, *plan.libraries}
        if not any(offered & defined_symbols(path, *_dynamic(path)) for path in larger):
            plan.dates = {path: path.stat().st_mtime_ns for path in plan.replacing}
        return plan

    def _choose(
        self, chosen: list[Path], path: Path, ways: BuiltWays, units: Sequence[Unit]
    ) -> None:
        (self.otherwise if ways.others(path, units) else chosen).append(path)

    def replace(self, crate: Crate, ran: Path, *, programs_tell: bool) -> None:
        """Put the crate in place; it makes the file `ran` when it runs, programs only where they
        are to: another program then hands on to them. Raises `JarvisError`."""
        for path in self.libraries:
            if path.suffix == ".a":
                put_as_archive(crate.archive, path, ran)
            else:
                put_as_shared(crate.archive, path, crate.libraries, ran)
        for path, other in self.programs.items():
            put_as_program(other, path, ran if programs_tell else None)
        for path in self.objects:
            put_as_object(crate.archive, path, ran)

    def remove_linked(self) -> int:
        """Take away the programs that are to be linked again; return how many there were."""
        there = [path for path in self.linked if path.exists()]
        for path in there:
            path.unlink()
            _forget_wrapper(path)
        return len(there)

    def date(self) -> None:
        """Have what is replaced look as old as what it stands for: what programs of the build have
        made is not made again. Where larger libraries are to be made of it, it looks newer
        than all of which it was made, and what is linked next is newer still."""
        for path, date in self.dates.items():
            os.utime(path, ns=(date, date))
        if self.dates:
            return
        later = time.time() + 2
        for path in self.replacing:
            os.utime(path, (later, later))
        time.sleep(3)


def _dynamic(path: Path) -> tuple[str, ...]:
    return () if path.suffix == ".a" else ("-D",)


def _program_of(
    path: Path, programs: Sequence[Path], crate: Crate, ways: BuiltWays
) -> tuple[Path | None, bool]:
    """Return the crate's program for one of the build, and whether it is called like it or both
    have but one: by what it was compiled of where that is known, else by its name."""
    own = crate.executables()
    parts = ways.parts_of(path)
    if parts:
        mains = {unit.path: unit for unit in crate.units}
        other = next(
            (
                own[name]
                for unit, name in crate.programs.items()
                if name in own and any(ways.is_of(way, mains[unit]) for way in parts)
            ),
            None,
        )
        alone = len(programs) == len(own) == 1
        return other, other is not None and (other.name == path.name or alone)
    if len(programs) == len(own) == 1:  # of a main.c, which the build calls otherwise
        return next(iter(own.values())), True
    return own.get(path.name), True


def _without_relinked(found: OwnTests, relinked: Sequence[str]) -> None:
    """Drop programs that were linked again: they are as good as their libraries; a library is
    not.
    """
    found.replaced = [name for name in found.replaced if name not in relinked]
    libraries = any(_is_library(Path(name)) for name in found.replaced)
    lost = [name for name in relinked if _is_library(Path(name)) or not libraries]
    found.relinked += len(relinked) - len(lost)
    if lost:
        found.rust = None
        found.reason = Words(
            ("the command rebuilds {files} from the C: pass the build command to --prepare"),
            files=", ".join(lost),
        )


def _run(command: Sequence[str], folder: Path, path: str | None = None) -> TestRun:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "GIT_"))
    }
    if path is not None:
        environment["PATH"] = path
    try:
        done = subprocess.run(
            list(command),
            cwd=folder,
            env={**environment, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return TestRun(-1, f"it took longer than {SECONDS:.0f} s")
    except OSError as error:
        raise JarvisError(
            "{command} cannot be run: {why}", command=command[0], why=error.strerror
        ) from None
    return TestRun(done.returncode, done.stdout)


def _forget_wrapper(path: Path) -> None:
    """Remove the script that libtool has put in the place of a program in `.libs`: make takes it
    for the program."""
    if path.parent.name != ".libs":
        return
    wrapper = path.parent.parent / path.name.removeprefix("lt-")
    if wrapper.is_file() and b"libtool" in wrapper.read_bytes()[:1000]:
        wrapper.unlink()


def _is_built(path: Path) -> bool:
    """Return whether a file is an archive, a shared library or a program."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        with path.open("rb") as file:
            head = file.read(8)
    except OSError:
        return False
    return head == b"!<arch>\n" or (head.startswith(_ELF) and path.suffix not in (".o", ".lo"))


def _is_library(path: Path) -> bool:
    """Return whether that is the name of a library."""
    return path.suffix == ".a" or ".so" in path.suffixes


def _digest(path: Path) -> bytes:
    """Of what a file holds; empty when it is not there."""
    return hashlib.blake2b(path.read_bytes()).digest() if path.is_file() else b""


def _is_program(path: Path) -> bool:
    """Return whether a file that was built is a program."""
    return path.suffix == "" and os.access(path, os.X_OK) and not path.is_symlink()


def _all_in(mine: set[str], offered: set[str]) -> bool:
    return bool(mine) and mine <= offered

"""The project's own tests, run on the C and then with its libraries and programs replaced by Rust.

Everything happens in a copy below `.jarvis/c2rust`, with a command the user has given. After it has
run on the C, archives and shared libraries that hold only what the crate offers give way to the
crate's, programs the crate has to its own, and where there are neither, object files to objects of
the crate. Programs that were linked with the C are taken away so that the build links them again,
and the command is run once more. A command that makes them of the C again has tested nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words

SECONDS = 1800.0
"""How long one run of the command may take."""
SAID = 4000
"""Characters of the end of what a run printed that are kept."""
_IGNORED = (".git", ".hg", ".svn", ".jarvis", "target")
_ELF = b"\x7fELF"
_MOST_OBJECTS = 100
_FAILED = re.compile(
    r"^(?:FAIL|ERROR|XPASS): (\S+)|^not ok \d+(?: -)? (.+?)(?: # .*)?$"
    r"|^\s*\d+ - (\S+) \((?:Failed|SEGFAULT|Timeout|Subprocess aborted)\)"
    r"|^\S+:\d+:[FE]:[^:]*:([^:]+):",
    re.MULTILINE,
)


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

    @property
    def good(self) -> bool:
        """Return whether the tests pass both ways."""
        return self.c == 0 and self.rust == 0

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
        }


def run_own_tests(
    root: Path,
    crate: Path,
    folder: Path,
    command: Sequence[str],
    linked: Sequence[str],
    prepare: str = "",
) -> OwnTests:
    """Run `command` on a copy of `root` below `folder`, first in C, then with the crate.

    `prepare` is run once before, by a shell: what would build all the C again. `linked` are
    libraries the crate needs. Raises `JarvisError` when it cannot be copied or run.
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
    if prepare:
        status, said = _run(["sh", "-c", prepare], copy)
        if status != 0:
            return OwnTests(
                prepare, status, said=said[-SAID:], reason="the project cannot be built"
            )
    status, said = _run(command, copy)
    found = OwnTests(" ".join(command), status, said=said[-SAID:])
    if status != 0:
        found.reason = "they do not pass with the C"
        return found
    archive = next(iter((crate / "target" / "release").glob("lib*.a")), None)
    if archive is None:
        raise JarvisError("{crate} is not built; run `jc2r run --baseline`.", crate=crate)
    offered = _defined_symbols(archive)
    made = sorted(path for path in copy.rglob("*") if path not in before and _is_built(path))
    own = {
        path.name: path
        for path in (crate / "target" / "release").iterdir()
        if path.is_file() and os.access(path, os.X_OK) and path.suffix == ""
    }
    programs = [path for path in made if _is_program(path)]
    if len(programs) == len(own) == 1:  # of a main.c, which the build calls otherwise
        own = {programs[0].name: next(iter(own.values()))}
    relinked = []
    for path in made:
        if path.is_symlink():
            continue
        if path.suffix == ".a" and _all_in(_defined_symbols(path), offered):
            _as_archive(archive, path)
        elif ".so" in path.suffixes and _all_in(_defined_symbols(path, "-D"), offered):
            _as_shared(archive, path, linked)
        elif path.name in own and os.access(path, os.X_OK):
            shutil.copyfile(own[path.name], path)
        else:
            relinked.append(path)
            continue
        found.replaced.append(path.relative_to(copy).as_posix())
    if not found.replaced:
        objects = [path for path in copy.rglob("*.o") if path not in before]
        found.replaced = [
            path.relative_to(copy).as_posix()
            for path in _replace_objects(archive, objects, offered)
        ]
    if not found.replaced:
        found.reason = "the build produces nothing that the crate could replace"
        return found
    for path in relinked:
        if _is_program(path) and offered & _defined_symbols(path):
            path.unlink()
            _forget_wrapper(path)
            found.relinked += 1
    later = time.time() + 2
    for name in found.replaced:
        os.utime(copy / name, (later, later))
    placed = {name: _digest(copy / name) for name in found.replaced}
    time.sleep(3)  # so that what is linked next is newer than what it is linked from
    found.rust, said = _run(command, copy)
    found.said = said[-SAID:]
    found.failed = list(dict.fromkeys(_failed_tests(said))) if found.rust != 0 else []
    _without_relinked(found, [name for name in placed if _digest(copy / name) != placed[name]])
    return found


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


def _run(command: Sequence[str], folder: Path) -> tuple[int, str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "GIT_"))
    }
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
        return -1, f"it took longer than {SECONDS:.0f} s"
    except OSError as error:
        raise JarvisError(
            "{command} cannot be run: {why}", command=command[0], why=error.strerror
        ) from None
    return done.returncode, done.stdout


def _failed_tests(said: str) -> Iterator[str]:
    """Yield the tests that a runner names as failed: automake, TAP, ctest, check."""
    for found in _FAILED.finditer(said):
        yield next(name for name in found.groups() if name)


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


def _defined_symbols(path: Path, *options: str) -> set[str]:
    """Names of functions and variables that a file offers to others."""
    asked = subprocess.run(
        ["nm", "-g", "--defined-only", *options, str(path)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    )
    return set(_names(asked.stdout.splitlines()))


def _names(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        words = line.split()
        if len(words) == 3 and words[1] in "TDBRVW" and words[2] not in ("_init", "_fini"):
            yield words[2].partition("@")[0]


def _as_archive(archive: Path, target: Path) -> None:
    """Put the crate in place of an archive: symbols that the archive did not offer give way to
    those of the tests, or of other libraries. Raises `JarvisError`.
    """
    made = _weak_object(archive, target)
    target.unlink()
    _tool(["ar", "crs", str(target), str(made)])
    made.unlink()


def _replace_objects(archive: Path, objects: Iterable[Path], offered: set[str]) -> list[Path]:
    """Put parts of the crate in place of object files that hold only what it offers; return those
    that were replaced. What two of them need is in both, and the linker takes one of it. Raises
    `JarvisError`."""
    replaced: list[Path] = []
    for path in sorted(objects):
        if len(replaced) < _MOST_OBJECTS and _all_in(_defined_symbols(path), offered):
            _weak_object(archive, path).replace(path)
            replaced.append(path)
    return replaced


def _weak_object(archive: Path, target: Path) -> Path:
    """Return an object beside `target` with what that offers, and all that this needs as weak
    symbols. Raises `JarvisError`."""
    names = _defined_symbols(target)
    made = _object(archive, target, names)
    weak = target.with_name(f"{target.name}.weak")
    weak.write_text("\n".join(sorted(_defined_symbols(made) - names)))
    _tool(["objcopy", f"--weaken-symbols={weak}", str(made)])
    weak.unlink()
    return made


def _object(archive: Path, target: Path, names: Iterable[str]) -> Path:
    """One object beside `target` with those functions and variables of the crate that are called
    `names`, and what they need: what else is in the crate may need what only the project's tests
    make. Every tool can read it: members of Rust's own library hold parts for another linker.
    Raises `JarvisError`."""
    made, asked = (target.with_name(f"{target.name}.{end}") for end in ("rust.o", "names"))
    asked.write_text("".join(f"--undefined={name}\n" for name in sorted(names)))
    for command in (
        [
            "ld",
            "-r",
            "--gc-sections",
            f"@{asked}",
            "-o",
            str(made),
            "--whole-archive",
            str(archive),
        ],
        ["objcopy", "--remove-section=.llvmbc", "--remove-section=.llvmcmd", str(made)],
        ["objcopy", "--strip-unneeded", str(made)],
    ):
        _tool(command)
    asked.unlink()
    return made


def _as_shared(archive: Path, target: Path, linked: Sequence[str]) -> None:
    """Build the crate as a shared library with the name that programs ask for. Raises
    `JarvisError`.
    """
    made = _object(archive, target, _defined_symbols(target, "-D"))
    asked = subprocess.run(
        ["readelf", "-d", str(target)], capture_output=True, text=True, timeout=60, check=False
    )
    name = next(
        (
            line.partition("[")[2].rstrip("]")
            for line in asked.stdout.splitlines()
            if "(SONAME)" in line
        ),
        target.name,
    )
    _tool(
        [
            shutil.which("cc") or "cc",
            "-shared",
            f"-Wl,-soname,{name}",
            str(made),
            *(f"-l{library}" for library in linked),
            "-lm",
            "-lpthread",
            "-ldl",
            "-lgcc_s",
            "-o",
            str(target),
        ]
    )
    made.unlink()


def _tool(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=300, check=False
        )
    except OSError as error:
        raise JarvisError(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise JarvisError(
            "{command} failed: {said}",
            command=" ".join(command[:2]),
            said=done.stderr.strip()[:1000],
        )

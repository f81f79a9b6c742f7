"""Objects, libraries and programs of a crate under the names of the C that they replace.

With a file `ran` they make it when they are run, so that what a test says of them can be trusted
even where it fails.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from jarvis_ls.harness.shared_object import run_tool

_HEADERS = "#include <fcntl.h>\n#include <unistd.h>\n"
_TELL = (
    "static void tell(void) {\n    int file = open(RAN, O_WRONLY | O_CREAT, 0666);\n"
    "    if (file >= 0) close(file);\n}\n"
)
_AT_START = "__attribute__((constructor)) "
_HANDS_ON = (
    "int main(int count, char **arguments) {\n    (void)count;\n    tell();\n"
    "    execv(PROGRAM, arguments);\n    return 126;\n}\n"
)


def defined_symbols(path: Path, *options: str) -> set[str]:
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


def put_as_archive(archive: Path, target: Path, ran: Path) -> None:
    """Put the crate in place of an archive: symbols that the archive did not offer give way to
    those of the tests, or of other libraries. Raises `JarvisError`.
    """
    made = _weak_object(archive, target, ran)
    target.unlink()
    run_tool(["ar", "crs", str(target), str(made)])
    made.unlink()


def put_as_object(archive: Path, target: Path, ran: Path) -> None:
    """Put parts of the crate in place of an object file. What two of them need is in both, and the
    linker takes one of it. Raises `JarvisError`."""
    _weak_object(archive, target, ran).replace(target)


def put_as_program(program: Path, target: Path, ran: Path | None) -> None:
    """Put a program of the crate in place of another; one that tells that it ran is behind a
    program that hands everything on to it. Raises `JarvisError`."""
    if ran is None:
        shutil.copyfile(program, target)
        return
    text = f"{_HEADERS}{_TELL}{_HANDS_ON}"
    _compile(text, target, [f"-DRAN={_quote(ran)}", f"-DPROGRAM={_quote(program)}"])


def _compile(text: str, target: Path, options: Sequence[str]) -> None:
    source = target.with_name(f"{target.name}.tell.c")
    source.write_text(text)
    run_tool([shutil.which("cc") or "cc", "-w", *options, str(source), "-o", str(target)])
    source.unlink()


def _quote(path: Path) -> str:
    """Return a path as a string of C."""
    return json.dumps(str(path), ensure_ascii=False)


def _weak_object(archive: Path, target: Path, ran: Path) -> Path:
    """Return an object beside `target` with what that offers, and all that this needs as weak
    symbols. Raises `JarvisError`."""
    names = defined_symbols(target)
    made = _object(archive, target, names, ran)
    weak = target.with_name(f"{target.name}.weak")
    weak.write_text("\n".join(sorted(defined_symbols(made) - names)))
    run_tool(["objcopy", f"--weaken-symbols={weak}", str(made)])
    weak.unlink()
    return made


def _object(archive: Path, target: Path, names: Iterable[str], ran: Path) -> Path:
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
        run_tool(command)
    asked.unlink()
    _let_tell(made, ran)
    return made


def _let_tell(made: Path, ran: Path) -> None:
    """Have an object make the file `ran` when a program that holds it begins. Raises
    `JarvisError`."""
    telling, both = (made.with_name(f"{made.name}.{end}") for end in ("tell.o", "both.o"))
    _compile(f"{_HEADERS}{_AT_START}{_TELL}", telling, ["-c", "-fPIC", f"-DRAN={_quote(ran)}"])
    run_tool(["ld", "-r", str(made), str(telling), "-o", str(both)])
    telling.unlink()
    both.replace(made)


def put_as_shared(archive: Path, target: Path, linked: Sequence[str], ran: Path) -> None:
    """Build the crate as a shared library with the name that programs ask for, which needs what the
    one of the C at `target` does. Raises `JarvisError`.
    """
    made = _object(archive, target, defined_symbols(target, "-D"), ran)
    asked = subprocess.run(
        ["readelf", "-d", str(target)], capture_output=True, text=True, timeout=60, check=False
    )
    told = asked.stdout.splitlines()
    name = next(_values(told, "(SONAME)"), target.name)
    needed = [needed for needed in _values(told, "(NEEDED)") if _is_installed(needed)]
    run_tool(
        [
            shutil.which("cc") or "cc",
            "-shared",
            f"-Wl,-soname,{name}",
            str(made),
            *(f"-l{library}" for library in linked),
            *(f"-l:{library}" for library in needed),
            "-lm",
            "-lpthread",
            "-ldl",
            "-lgcc_s",
            "-o",
            str(target),
        ]
    )
    made.unlink()


def _values(told: Iterable[str], key: str) -> Iterator[str]:
    """Yield what `readelf -d` says in brackets for a key."""
    return (line.partition("[")[2].rstrip("]") for line in told if key in line)


def _is_installed(library: str) -> bool:
    """Return whether the linker finds a shared library by the name of its file."""
    asked = subprocess.run(
        [shutil.which("cc") or "cc", f"-print-file-name={library}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Path(asked.stdout.strip()).is_absolute()

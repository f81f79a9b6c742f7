"""C as a shared object in which every function can be called.

The shim (`shim.c`) is linked in front of the system's allocator: addresses never come twice, and
new memory is filled with one pattern.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.core.errors import JarvisError

BUILD_SECONDS = 900
WRAPPED = ("malloc", "calloc", "realloc", "free", "strdup", "strndup", "time")
"""What the shim replaces."""
CONSTANT = "Rr"
"""Letters of `nm` for what can only be read."""
PLAIN = ("-O0", "-fkeep-static-functions", "-ftrivial-auto-var-init=zero")
SANITIZED = (
    "-O0",
    "-g1",
    "-fkeep-static-functions",
    "-ftrivial-auto-var-init=pattern",
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize-recover=all",
)
COVERAGE = Path(__file__).with_name("coverage.c")
"""Linked into programs that are compiled with `-fsanitize-coverage=trace-pc`."""
_SHIM = Path(__file__).with_name("shim.c")


def link_shared(
    compiler: str,
    objects: Sequence[Path],
    target: Path,
    linked: Sequence[str],
    options: Sequence[str],
    archive: Path | None = None,
) -> Path:
    """Return a shared object of `objects` (and all of `archive`) with the shim in front of the
    system's allocator; `linked` are libraries, of `options` those of sanitizers and machine count.

    Raises `JarvisError`.
    """
    sanitized = any(word.startswith("-fsanitize") for word in options)
    shim = target.with_suffix(".shim.o")
    run_tool(
        [
            compiler,
            "-c",
            "-fPIC",
            "-O2",
            *(["-DHARNESS_SANITIZED"] if sanitized else []),
            str(_SHIM),
            "-o",
            str(shim),
        ]
    )
    whole = ["-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive"] if archive else []
    command = [
        compiler,
        "-shared",
        "-Wl,-Bsymbolic",
        "-Wl,-z,lazy",
        *(f"-Wl,--wrap={name}" for name in WRAPPED),
        *(word for word in options if word.startswith(("-fsanitize", "-m"))),
        *map(str, objects),
        str(shim),
        *whole,
        *(f"-l{name}" for name in linked),
        "-lm",
        "-lpthread",
        "-ldl",
        "-lgcc_s",
        "-o",
        str(target),
    ]
    run_tool(command)
    return target


def data_sizes(library: Path, kinds: str = "BDbds") -> dict[str, int]:
    """Bytes of every variable of a shared object that can be written, by symbol; `kinds` are the
    letters that `nm` has for such a section."""
    said = run_tool(["nm", "-S", "--defined-only", str(library)])
    sizes = {}
    for line in said.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in kinds:
            sizes[words[3]] = int(words[1], 16)
    return sizes


def visible_arguments(arguments: Sequence[str]) -> list[str]:
    """Return arguments of a compiler without those that hide symbols or bring sanitizers."""
    return [word for word in arguments if not word.startswith(("-fvisibility", "-fsanitize"))]


def find_compiler() -> str:
    """Return the C compiler of this machine. Raises `JarvisError` when a tool is missing."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise JarvisError("C cannot be run: there is no C compiler (gcc) on this machine.")
    for tool in ("objcopy", "nm"):
        if shutil.which(tool) is None:
            raise JarvisError("C cannot be run: {tool} (binutils) is not installed.", tool=tool)
    return compiler


def run_tool(command: Sequence[str], folder: Path | None = None) -> str:
    """Return what a tool says. Raises `JarvisError` with the end of its complaint."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=BUILD_SECONDS,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C", "CARGO_TERM_COLOR": "never"},
        )
    except subprocess.TimeoutExpired:
        raise JarvisError(
            "{command} took longer than {seconds} s", command=command[0], seconds=BUILD_SECONDS
        ) from None
    except OSError as error:
        raise JarvisError(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise JarvisError(
            "{command} … failed:\n{said}",
            command=" ".join(command[:3]),
            said=done.stderr.strip()[:2000],
        )
    return done.stdout

"""Programs of this machine that evidence can be had with."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CLANGS = ("clang", *(f"clang-{version}" for version in range(25, 10, -1)))
_GCCS = ("gcc", *(f"gcc-{version}" for version in range(17, 8, -1)))
_OTHERS = ("cargo", "valgrind", "frama-c")
_SECONDS = 30
_PROGRAM = "int main(int count, char **words) { (void)words; return (char)(count - 1); }\n"
_OF_CLANG = (
    "-fsanitize=address,undefined,integer,implicit-conversion,float-divide-by-zero",
    "-fno-sanitize=function,vptr,unsigned-shift-base",
)
_OF_GCC = (
    "-fsanitize=address,undefined,float-divide-by-zero,float-cast-overflow,bounds-strict",
    "-fno-sanitize=vptr",
)
LINKED = "-fsanitize=address,undefined"
"""Option with which programs are linked."""
FUZZER = "-fsanitize=fuzzer"
"""Option that links libFuzzer and its `main`."""
_FUZZED = (
    "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);\n"
    "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)\n"
    "{ return data == 0 && size != 0; }\n"
)


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What was found; names are empty of what is not there."""

    compiler: str = ""
    """Compiles C with sanitizers: clang where it can be linked, else gcc. Clang also reports
    unsigned overflow and truncation."""
    linker: str = ""
    """Compiler that links: another one when clang is there without the libraries of its sanitizers,
    which distributions package apart, for those of gcc do as well."""
    cargo: str = ""
    valgrind: str = ""
    frama_c: str = ""
    has_fuzzer: bool = False
    """Whether the linker has libFuzzer."""

    @property
    def is_clang(self) -> bool:
        """Return whether clang compiles."""
        return "clang" in self.compiler

    @property
    def cpp(self) -> str:
        """Return the compiler of the same family for C++; empty when it is not there."""
        return _cpp(self.compiler)

    @property
    def cpp_linker(self) -> str:
        """Return what links C++; empty when it is not there."""
        return _cpp(self.linker)

    @property
    def sanitizers(self) -> tuple[str, ...]:
        """Return the options with which every file is compiled."""
        return _OF_CLANG if self.is_clang else _OF_GCC


@cache
def find_toolchain() -> Toolchain:
    """Return the compilers of this machine that can link their sanitizers, and what else helps."""
    cargo, valgrind, frama_c = (shutil.which(name) or "" for name in _OTHERS)
    for compiler, linker in _pairs():
        if _links(compiler, linker):
            has_fuzzer = "clang" in linker and _links_fuzzer(linker)
            return Toolchain(compiler, linker, cargo, valgrind, frama_c, has_fuzzer)
    return Toolchain(cargo=cargo, frama_c=frama_c)


def _pairs() -> Iterator[tuple[str, str]]:
    clangs = [name for name in _CLANGS if shutil.which(name)]
    gccs = [name for name in _GCCS if shutil.which(name)]
    yield from ((clang, clang) for clang in clangs)
    yield from ((clang, gcc) for clang in clangs[:2] for gcc in gccs[:1])
    yield from ((gcc, gcc) for gcc in gccs)


def _links(compiler: str, linker: str) -> bool:
    options = _OF_CLANG if "clang" in compiler else _OF_GCC
    with tempfile.TemporaryDirectory(prefix="jsec-tools-") as name:
        folder = Path(name)
        (folder / "a.c").write_text(_PROGRAM)
        return all(
            _succeeds(command, folder)
            for command in (
                [compiler, *options, "-c", "a.c", "-o", "a.o"],
                [linker, LINKED, "a.o", "-o", "a"],
                ["./a"],
            )
        )


def _links_fuzzer(linker: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="jsec-tools-") as name:
        folder = Path(name)
        (folder / "a.c").write_text(_FUZZED)
        return _succeeds([linker, f"{FUZZER},address", "a.c", "-o", "a"], folder)


def _succeeds(command: list[str], folder: Path) -> bool:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _cpp(name: str) -> str:
    for plain, cpp in (("clang", "clang++"), ("gcc", "g++")):
        if name.startswith(plain):
            found = name.replace(plain, cpp, 1)
            return found if shutil.which(found) else ""
    return ""

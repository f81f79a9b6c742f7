"""Programs of this machine that evidence can be had with."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache

_CLANGS = ("clang", *(f"clang-{version}" for version in range(25, 10, -1)))
_GCCS = ("gcc", *(f"gcc-{version}" for version in range(17, 8, -1)))
_SECONDS = 30
_PROGRAM = "int main(void){return 0;}\n"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What was found; empty names are not there."""

    clang: str = ""
    """A clang with the libraries of its sanitizers."""
    gcc: str = ""
    """A gcc with those."""
    cargo: str = ""

    @property
    def compiler(self) -> str:
        """Return the compiler that is used for C: clang where it is there, else gcc."""
        return self.clang or self.gcc

    def for_cpp(self) -> str:
        """Return the compiler of the same family for C++; empty when it is not there."""
        name = (
            self.clang.replace("clang", "clang++", 1)
            if self.clang
            else self.gcc.replace("gcc", "g++", 1)
        )
        return name if name and shutil.which(name) else ""

    @property
    def is_clang(self) -> bool:
        """Return whether the compiler that is used is clang."""
        return bool(self.clang)


@cache
def find_toolchain() -> Toolchain:
    """Return the compilers of this machine that can link their sanitizers."""
    return Toolchain(_first(_CLANGS), _first(_GCCS), shutil.which("cargo") or "")


def _first(names: tuple[str, ...]) -> str:
    return next((name for name in names if shutil.which(name) and _has_sanitizers(name)), "")


def _has_sanitizers(compiler: str) -> bool:
    """Return whether a compiler links a program with the sanitizers: distributions package their
    libraries apart."""
    try:
        done = subprocess.run(
            [compiler, "-x", "c", "-fsanitize=address,undefined", "-", "-o", os.devnull],
            input=_PROGRAM.encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0

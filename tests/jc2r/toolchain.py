"""Tests that need a C compiler and cargo."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest


def _rust_is_new_enough() -> bool:
    if not shutil.which("cargo") or not shutil.which("cc"):
        return False
    words = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    match = re.match(r"rustc (\d+)\.(\d+)", words.stdout)  # a shim without a toolchain says less
    return match is not None and (int(match[1]), int(match[2])) >= (1, 82)


needs_cargo = pytest.mark.skipif(
    not _rust_is_new_enough(), reason="needs a C compiler and cargo with Rust 1.82 or newer"
)

watches_translator = pytest.mark.watches()
"""For tests that build crates: they run when what they depend on has changed."""


def run(program: Path) -> tuple[int, str, str]:
    done = subprocess.run([program, "x"], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr

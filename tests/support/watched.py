"""Long tests that run only when what they watch has changed since they passed.

A stamp beside the test, under version control, holds the digest of the sources it passed on. The
test is skipped while they are the same, with the reason in the summary. `JARVIS_TESTS_FULL=1`,
which `.ci/run --full` sets, runs it in any case.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Watched:
    """Sources that a long test depends on, and the stamp of the last pass."""

    def __init__(self, stamp: Path, watched: Iterable[Path]) -> None:
        self._stamp = stamp
        self._digest = digest_of(watched)

    def skip_if_unchanged(self) -> None:
        """Skip the running test when its sources are those of the last pass."""
        if os.environ.get("JARVIS_TESTS_FULL"):
            return
        if self._stamp.exists() and self._stamp.read_text("utf-8").strip() == self._digest:
            pytest.skip("nothing it watches has changed since it passed; .ci/run --full runs it")

    def passed(self) -> None:
        """Note that the test passed on the sources as they are."""
        self._stamp.write_text(self._digest + "\n", encoding="utf-8")


def digest_of(watched: Iterable[Path]) -> str:
    """Return the digest of all files in folders, or of single files, with their paths."""
    digest = hashlib.blake2b(digest_size=16)
    for place in watched:
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        for path in files:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
                digest.update(path.read_bytes())
    return digest.hexdigest()

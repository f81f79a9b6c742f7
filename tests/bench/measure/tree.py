"""The real programs that are measured on, as a fresh copy outside of this repository."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("bzip2", "zlib", "libpng1.6", "sqlite3")
_CACHE = Path(__file__).resolve().parents[3] / ".cache" / "sources"


def sources_of(*programs: str) -> Path:
    """Return the folder of the sources that `npm run bench` fetches.

    Raises `SystemExit`, which says how they come, when those of a program are missing.
    """
    folder = Path(os.environ.get("JARVIS_BENCH_SOURCES", _CACHE))
    if missing := [name for name in programs if not (folder / name).is_dir()]:
        raise SystemExit(
            f"no sources of {', '.join(missing)} in {folder}: `npm run bench -- NAME` fetches them"
        )
    return folder


@contextmanager
def copy_of(*programs: str) -> Iterator[Path]:
    """A folder with the sources of some programs; gone afterwards.

    The few files that are not UTF-8 are rewritten as UTF-8: flawfinder stops at them, and every
    tool is to read the same.
    """
    sources = sources_of(*programs)
    with tempfile.TemporaryDirectory(prefix="jarvis-bench-") as folder:
        root = Path(folder).resolve()
        for program in programs:
            shutil.copytree(sources / program, root / program, symlinks=True)
        for file in root.rglob("*.[ch]*"):
            if file.is_file():
                _make_utf8(file)
        yield root


def _make_utf8(file: Path) -> None:
    data = file.read_bytes()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        file.write_bytes(data.decode("latin-1").encode("utf-8"))

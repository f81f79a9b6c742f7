"""Which crates were made here. The mark in a manifest says that jc2r made a crate, not where: one
that comes with a project may hold a built `build.rs`, or a repository with orders for git.

The user's own folder keeps one file for each crate, with the number its folder has on the disk.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file, user_folder


def is_made_here(crate: Path) -> bool:
    """Return whether the folder of a crate (a real path) is one that a run here has begun."""
    try:
        kept = read_regular(_record(crate), limit=16_000)
        return kept == _stamp(crate)
    except (SkippedFile, OSError):
        return False


def keep_as_own(crate: Path) -> None:
    """Keep that the crate in a folder, which is there, is ours. Raises `JarvisError`."""
    record = _record(crate)
    record.parent.mkdir(parents=True, exist_ok=True)
    replace_file(record, _stamp(crate))


def _record(crate: Path) -> Path:
    name = hashlib.sha256(str(crate).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return user_folder() / "c2rust" / "crates" / name


def _stamp(crate: Path) -> bytes:
    return f"{crate.stat().st_ino} {crate}\n".encode("utf-8", "surrogateescape")

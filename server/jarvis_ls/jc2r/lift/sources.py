"""All of a crate's `src` replaced at once: no mixture of two states is ever there to be built.

On Linux two folders change places in one step (`renameat2` with `RENAME_EXCHANGE`). Where the file
system does not know that, one goes aside before the other comes, and what a kill leaves between
the two is put back by `recover`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.crate.state import State, unfinished_error

_HERE = -100
"""`AT_FDCWD`."""
_EXCHANGE = 2


def replace_sources(crate: Path, texts: Mapping[Path, bytes]) -> None:
    """Give files of `crate / "src"`, relative to the crate, new contents. Raises `JarvisError`."""
    new, old = _places(crate)
    try:
        for place in (new, old):
            shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(crate / "src", new, symlinks=True)
        for path, data in texts.items():
            target = new / path.relative_to("src")
            if target.read_bytes() != data:
                replace_file(target, data)
        if not _exchange(new, crate / "src"):
            (crate / "src").rename(old)
            new.rename(crate / "src")
        for place in (new, old):
            shutil.rmtree(place, ignore_errors=True)
    except (OSError, shutil.Error) as error:
        recover(crate)
        raise JarvisError(
            "{folder} cannot be replaced: {error}", folder=crate / "src", error=error
        ) from None


def recover(crate: Path) -> None:
    """Put back what stood aside when a run was killed."""
    _, old = _places(crate)
    if old.is_dir() and not (crate / "src").exists():
        with contextlib.suppress(OSError):  # then the caller finds no crate, and says so
            old.rename(crate / "src")


def find_crate(folder: Path, state: State, *, built: bool = True) -> Path:
    """Return the crate of the last run in `folder`, the `.jarvis/c2rust` of a project, as a killed
    stage has left it. With `built` it must have been built.

    Raises `JarvisError` when no run has come so far.
    """
    crate = Path(state.crate)
    if state.crate:
        recover(crate)
    if not state.crate or (built and "build" not in state.done) or not (crate / "src").is_dir():
        raise unfinished_error(folder)
    return crate


def _places(crate: Path) -> tuple[Path, Path]:
    """Return where the new folder is made and the old one goes, among what git ignores."""
    return crate / "target" / "lifted", crate / "target" / "before-lift"


def _exchange(folder: Path, other: Path) -> bool:
    """Let two folders change places; False where that is not known."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    made = rename(_HERE, os.fsencode(folder), _HERE, os.fsencode(other), _EXCHANGE)
    return bool(made == 0)

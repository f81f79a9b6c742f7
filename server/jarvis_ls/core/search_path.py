"""Which programs a run may start: none that is in the project it reads.

A PATH may name the current folder, or one of the project that a shell has added by itself. Anyone
who reads a project of a stranger would run what is there under the name of a compiler.
"""

from __future__ import annotations

import os
from pathlib import Path

_LISTS = ("PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "COMPILER_PATH")
"""Variables that list folders in which programs and libraries are looked for."""
_FOLDERS = ("CARGO_HOME", "RUSTUP_HOME", "GCC_EXEC_PREFIX")
_PROGRAMS = ("RUSTUP_TOOLCHAIN", "CC", "AR", "LD")
"""Variables that name a program or toolchain, by its name or a path."""


def leave_out(root: Path) -> None:
    """Take folders below `root`, and such as depend on the current folder, out of this process's
    environment, and so out of that of all it starts. A project that holds the user's own home is
    no stranger's.
    """
    real = os.path.realpath(root)
    if _lies_in(os.path.expanduser("~"), real):  # noqa: PTH111 - "~" itself where there is none
        return
    for name in _LISTS:
        if name in os.environ:
            parts = os.environ[name].split(os.pathsep)
            kept = [part for part in parts if not _depends_on(real, part)]
            os.environ[name] = os.pathsep.join(kept)
            if not kept and name != "PATH":  # an empty one means the current folder
                del os.environ[name]
    for name in _FOLDERS:
        folder = os.environ.get(name)
        if folder is not None and _depends_on(real, folder):
            del os.environ[name]
    for name in _PROGRAMS:
        named = os.environ.get(name, "")
        if os.sep in named and _depends_on(real, named):
            del os.environ[name]


def _depends_on(root: str, path: str) -> bool:
    """Return whether a path is no absolute one, or is below `root`."""
    return not Path(path).is_absolute() or _lies_in(path, root)


def _lies_in(path: str, root: str) -> bool:
    """Return whether a path, or what its links lead to, is `root` or is below it."""
    return any(
        Path(place).is_relative_to(root)
        for place in (os.path.normpath(path), os.path.realpath(path))
    )

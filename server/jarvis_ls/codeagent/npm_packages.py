"""Packages of npm that a project has installed, and how a copy of the project leads to them.

They are ignored as a rule, and too large to copy, but neither builds nor tests run without them. So
each has a link in the copy; programs in the sandbox may read, not write, what is behind it, and
write beside it, as caches of test runners do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

NAME = "node_modules"
_CACHES = (".cache", ".vite")
"""How folders begin that tools write into."""
_DEPTHS = ("", "*/", "*/*/")
"""Where a project of several packages has them."""


def link_packages(root: Path, copy: Path, folders: Iterable[str]) -> None:
    """Lead from folders of a copy to the packages of the same folders of the project. Raises
    `OSError`."""
    for folder in folders:
        packages, links = root / folder / NAME, copy / folder / NAME
        if _is_real(packages) and not os.path.lexists(links):
            links.mkdir()
            for package in packages.iterdir():
                if not package.name.startswith(_CACHES):
                    (links / package.name).symlink_to(package)


def linked_packages(root: Path, copy: Path) -> tuple[str, ...]:
    """Return the folders of packages that a copy leads to."""
    found = [links.relative_to(copy) for depth in _DEPTHS for links in copy.glob(depth + NAME)]
    return tuple(str(root / path) for path in sorted(found) if _is_real(root / path))


def _is_real(folder: Path) -> bool:
    """Return whether it is a folder, and no link leads to it."""
    return folder.is_dir() and os.path.realpath(folder) == str(folder)

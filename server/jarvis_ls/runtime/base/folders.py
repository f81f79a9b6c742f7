"""What the folders of a workspace are called in paths.

Relative paths start in the first folder. In a workspace of several, a path that begins with the
name of another one means that folder, as long as no two have that name and the first holds
nothing of it. `./name` always means what is in the first.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path


def called(roots: Sequence[Path]) -> dict[str, int]:
    """Return the folders after the first that a path can begin with: their numbers by name."""
    if len(roots) < 2:
        return {}
    names = Counter(root.name for root in roots)
    return {
        root.name: number
        for number, root in enumerate(roots)
        if number and names[root.name] == 1 and not os.path.lexists(roots[0] / root.name)
    }


def located(path: str | Path, roots: Sequence[Path]) -> Path:
    """Resolve a path to an absolute one, without following links."""
    head, _, rest = str(path).replace(os.sep, "/").partition("/")
    number = called(roots).get(head)
    return roots[0] / path if number is None else roots[number] / rest.lstrip("/")


def below(real: Path, roots: Sequence[Path]) -> tuple[int, str] | None:
    """Return the folder that holds a real path, by number, and the path from there, with forward
    slashes; None when none does.
    """
    for number, root in enumerate(roots):
        if real == root or root in real.parents:
            return number, real.relative_to(root).as_posix()
    return None


def prefix_of(path: str, number: int, roots: Sequence[Path]) -> str:
    """Return the prefix of `path`, relative to folder `number`, as it is written back.

    Empty for the first folder; else the name of another folder, or its place on disk.
    """
    names = called(roots)
    if number == 0:
        return "./" if path.partition("/")[0] in names else ""
    if roots[number].name in names:
        return f"{roots[number].name}/"
    return f"{roots[number].as_posix().rstrip('/')}/"


def named(path: str, prefix: str) -> str:
    """`path` behind `prefix`; the folder itself without a slash."""
    if path in ("", "."):
        return prefix.rstrip("/") or prefix or path
    return prefix + path


def from_first(path: str, roots: Sequence[Path]) -> str:
    """Return a path as a program takes it that runs in the first folder, for `located`."""
    return f"./{path}" if path.partition("/")[0] in called(roots) else path


def mention(path: str, number: int, roots: Sequence[Path], first: int = 0, last: int = 0) -> str:
    """Return a file of a folder as it is named in a message."""
    name = named(path, prefix_of(path, number, roots))
    quoted = f'"{name}"' if any(c in name for c in " \t,;:") else name
    lines = f":{first}-{max(first, last)}" if first else ""
    return f"@{quoted}{lines}"

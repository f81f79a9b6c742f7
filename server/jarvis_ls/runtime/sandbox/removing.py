"""Removing what a script may have made: folders of any depth, of any mode."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def remove_tree(path: Path | str) -> None:
    """Remove a folder and all that is in it; what cannot be removed is left, nothing is raised.

    Folders further down are first moved up to the top: neither a path nor the stack grows with
    their depth. No one else may be at work in the folder.
    """
    top = os.fspath(path)
    mark = f"{top}/.removed-{secrets.token_hex(8)}-"
    waiting, emptied, number = [top], [], 0
    while waiting:
        folder = waiting.pop()
        emptied.append(folder)
        try:
            os.chmod(folder, 0o700)  # noqa: PTH101
            with os.scandir(folder) as entries:
                found = list(entries)
        except OSError:
            continue
        for entry in found:
            if not entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108
                continue
            place = entry.path
            if folder != top:
                number += 1
                with contextlib.suppress(OSError):
                    os.chmod(place, 0o700)  # noqa: PTH101 - else it cannot be moved
                    os.rename(place, f"{mark}{number}")  # noqa: PTH104
                    place = f"{mark}{number}"
            waiting.append(place)
    for folder in reversed(emptied):
        with contextlib.suppress(OSError):
            os.rmdir(folder)  # noqa: PTH106

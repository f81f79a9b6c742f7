"""How reports name files: as seen from the folder that their reader is in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePath


@dataclass(frozen=True, slots=True)
class Places:
    """Names of the scanned files, as seen from another folder."""

    prefix: str = ""
    """What comes before a path that is relative to the scanned folder."""
    inside: str = ""
    """Where in the scanned folder the reader is, with forward slashes; empty at its top."""

    @classmethod
    def seen_from(cls, root: str, folder: str) -> Places:
        """Return the names of files below `root` for a reader in `folder`; both are real paths.

        The names are absolute where neither of the two folders is in the other.
        """
        here, top = PurePath(folder), PurePath(root)
        if here.is_relative_to(top):
            inside = here.relative_to(top).as_posix()
            return cls(inside="" if inside == "." else inside)
        if top.is_relative_to(here):
            return cls(prefix=f"{top.relative_to(here).as_posix()}/")
        return cls(prefix=f"{top.as_posix().rstrip('/')}/")

    def path(self, file: str) -> str:
        """Return the name of a file that reports know by its path below the scanned folder."""
        if not self.inside:
            return self.prefix + file
        return Path(os.path.relpath(f"/{file}", f"/{self.inside}")).as_posix()


AT_ROOT = Places()
"""Paths as they are below the scanned folder."""

"""Imports modules of the sources as the machine code that was made of them.

`compiled.py --leave` lays this into an environment in which the sources are edited. A module comes
as machine code only while every source that went into it is as it was then; after an edit, in
another checkout, by another Python, or with `JARVIS_COMPILED=0`, it comes from its source.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

WITHIN = ("jarvis_ls.codeintel.", "jarvis_ls.jsec.flow.")
"""Beginnings of the names of modules that may be compiled: who imports no such does not wait."""
SHARED = "jarvis_ls_flow__mypyc"
"""What they all share."""


class MachineCode(MetaPathFinder):
    """Finds the modules that a list of what was compiled names."""

    def __init__(self, listing: str) -> None:
        """Take the path of the list, which need not be there (yet)."""
        self.listing = listing
        self._asked = False
        self._root = ""
        self._modules: dict[str, str] = {}
        self._begun = False

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return where the machine code of a module is; None leaves it to the next finder."""
        if fullname == SHARED:  # a wheel that is imported instead brings its own
            return self._spec(fullname) if self._begun else None
        if not fullname.startswith(WITHIN) or path is None:
            return None
        if not self._asked:
            self._asked = True
            self._read()
        if str(Path(self._root, *fullname.split(".")[:-1])) not in path:
            return None
        found = self._spec(fullname)
        self._begun = self._begun or found is not None
        return found

    def _spec(self, name: str) -> ModuleSpec | None:
        file = self._modules.get(name)
        return None if file is None else importlib.util.spec_from_file_location(name, file)

    def _read(self) -> None:
        listing = read(self.listing) if os.environ.get("JARVIS_COMPILED") != "0" else None
        if listing is not None:
            self._root, self._modules = listing["root"], listing["modules"]


def read(file: str) -> dict[str, Any] | None:
    """Return the list of what was compiled; None when it is not there or torn, or of other sources
    than there are now."""
    try:
        listing: dict[str, Any] = json.loads(Path(file).read_bytes())
        return listing if listing["python"] == sys.version and _is_current(listing) else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None  # the sources are there all the same


def _is_current(listing: dict[str, Any]) -> bool:
    """Return whether the sources are those of the list, by size and time of change, and no other
    is among them."""
    known = listing["sources"]
    return sources_below(listing["root"], listing["watched"]) == known and all(
        Path(file).exists() for file in listing["modules"].values()
    )


def sources_below(root: str, folders: Sequence[str]) -> dict[str, list[int]]:
    """Return bytes and time of change of the Python files in folders below a root, by path."""
    found: dict[str, list[int]] = {}
    waiting = [str(Path(root, folder)) for folder in folders]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    found[entry.path] = [status.st_size, status.st_mtime_ns]
                elif entry.is_dir() and entry.name != "__pycache__":
                    waiting.append(entry.path)
    return found


def install(listing: str) -> None:
    """Ask here first for every module that this Python imports from now on, beside the lists of
    other checkouts."""
    if not any(getattr(finder, "listing", None) == listing for finder in sys.meta_path):
        sys.meta_path.insert(0, MachineCode(listing))

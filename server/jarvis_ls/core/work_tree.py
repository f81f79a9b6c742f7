"""Where a repository and what we keep beside it are, without reading either."""

from __future__ import annotations

import os
from pathlib import Path

from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import STATE


def find_work_tree(folder: Path) -> Path:
    """Return the top of the work tree around a folder.

    Raises `UsageError` when there is none.
    """
    start = Path(os.path.realpath(folder))
    for place in (start, *start.parents):
        if os.path.lexists(place / ".git"):
            return place
    raise UsageError("{folder} is in no git repository", folder=start)


def symbols_file(root: Path) -> Path:
    """Return where the graph of symbols of a workspace is kept."""
    return root / STATE / "cache" / "symbols.db"

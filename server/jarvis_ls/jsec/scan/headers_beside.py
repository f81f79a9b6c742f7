"""The headers that single files include from beside them, where no project says what belongs to it.

A scan of named files in a project knows all of its headers. Elsewhere only what `#include "…"`
names, from the folder of the file that says so, is taken: a walk over the whole folder could be one
over a home directory.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from pathlib import Path

from jarvis_ls.codeintel.dependencies import imports
from jarvis_ls.codeintel.headers import MAX_HEADER_BYTES, MAX_HEADERS
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.ignored import printable
from jarvis_ls.jsec.scan.source_files import Listing, SourceFile, is_source


def with_headers_beside(chosen: Listing) -> Listing:
    """Return the chosen files, and behind them the headers below the root that they include from
    beside them, directly or not; at most `MAX_HEADERS`."""
    files = {file.location: file for file in chosen.files}
    waiting = deque(chosen.files)
    while waiting and len(files) < len(chosen.files) + MAX_HEADERS:
        for header in _headers_of(waiting.popleft(), chosen.root):
            if header.location not in files:
                files[header.location] = header
                waiting.append(header)
    return Listing(chosen.root, list(files.values()), chosen.skipped)


def _headers_of(file: SourceFile, root: str) -> list[SourceFile]:
    """Return the headers that a file includes from beside it."""
    try:
        asked = imports(file.path, file.read(MAX_HEADER_BYTES, root)) or ()
    except SkippedFile:  # its own scan says why
        return []
    folder = Path(file.location).parent
    names = [wanted.name for wanted in asked if not wanted.system]
    found = (_header(os.path.normpath(folder / name), root) for name in names)
    return [header for header in found if header is not None]


def _header(place: str, root: str) -> SourceFile | None:
    """Return a header that is a regular file below the root."""
    below = root.rstrip(os.sep) + os.sep
    if not place.startswith(below) or not is_source(place):
        return None
    try:
        status = os.lstat(place)
    except (OSError, ValueError):  # ValueError: a name with a null character
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return SourceFile(printable(place[len(below) :]), place, status.st_size)

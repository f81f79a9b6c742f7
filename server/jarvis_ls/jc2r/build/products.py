"""Whether a project makes libraries, or programs only."""

from __future__ import annotations

import re
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular

MOST = 4_000_000
"""Bytes of one build file."""
DEPTH = 4
_NAMES = re.compile(
    r"(?i)(?:gnu)?makefile(?:\.\w+)?\Z|.*\.(?:mk|mak|pro|cmake)\Z"
    r"|(?:cmakelists\.txt|meson\.build|sconstruct|sconscript|build\.sh|configure\.(?:ac|in))\Z"
)
_LIBRARY = re.compile(
    r"_LTLIBRARIES|_LIBRARIES|\.l?a\b|\.so\b|\.dylib\b|\badd_library\b|library\s*\(|-shared\b"
    r"|\bAR\b|\bar\b|\branlib\b|(?i:\blibtool\b|\blt_init\b)|\bTEMPLATE\s*=\s*lib"
)


def makes_libraries(root: Path) -> bool:
    """Return whether the build files of a project speak of a library, or there are none: then
    others may link to what it exports."""
    found = False
    for depth in range(DEPTH):
        for path in sorted(root.glob("*/" * depth + "*")):
            if _NAMES.match(path.name) is None or _is_made(path):
                continue
            try:
                text = read_regular(path, limit=MOST).decode("utf-8", "replace")
            except SkippedFile:
                continue
            if any(_LIBRARY.search(line.partition("#")[0]) for line in text.splitlines()):
                return True
            found = True
    return not found


def _is_made(path: Path) -> bool:
    """Return whether automake made a file, whose template holds what every project has."""
    return path.suffix == ".in" and path.with_suffix(".am").is_file()

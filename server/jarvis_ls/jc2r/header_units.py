"""Units for libraries that are headers only: a C file each that includes one of them.

Such libraries guard their functions with a macro whose name ends in `IMPLEMENTATION`; it is
defined. The files are written below `.jarvis`, the project is left alone.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file

MAX_BYTES = 16_000_000
_HEADERS = (".h", ".inl")
_MAIN = re.compile(rb"\bmain\s*\(")
_FUNCTION = re.compile(rb"^[A-Za-z_][^;{}#=]*\)\s*\{", re.MULTILINE)
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_GUARD = re.compile(
    rb"^[ \t]*#[ \t]*(?:ifdef|if)\b[^\n]*?\b(\w*IMPL(?:EMENTATION)?)\b", re.MULTILINE
)
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def header_units(root: Path, files: Sequence[str], folder: Path) -> list[str]:
    """Paths, relative to `root`, of new C files below `folder`, one for each header with functions.

    None where some C file is no program: then the library is not in its headers alone. A header
    that another one includes is left to that one, and one of a program's name to the program.
    """
    if any(_read(root / one) and not _MAIN.search(_read(root / one)) for one in files
           if one.endswith(".c")):  # fmt: skip
        return []
    headers = {one: _COMMENT.sub(b" ", _read(root / one)) for one in files
               if one.endswith(_HEADERS)}  # fmt: skip
    programs = {one: _read(root / one) for one in files if one.endswith(".c")}
    included = {*_included(headers), *(place for one, place in _pairs(programs)
                                       if Path(place).stem == Path(one).stem)}  # fmt: skip
    found = []
    for header, text in headers.items():
        if header in included or not _FUNCTION.search(text):
            continue
        place = folder / f"{re.sub(r'[^A-Za-z0-9_]', '_', Path(header).stem)}.c"
        guards = sorted({match.decode() for match in _GUARD.findall(text)})
        lines = [*(f"#define {one}" for one in guards),
                 f'#include "{os.path.relpath(root / header, folder)}"', ""]  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(place, "\n".join(lines).encode())
        found.append(place.relative_to(root).as_posix())
    return sorted(set(found))


def _included(texts: dict[str, bytes]) -> Iterable[str]:
    return (place for _, place in _pairs(texts))


def _pairs(texts: dict[str, bytes]) -> Iterable[tuple[str, str]]:
    """Files, and what each includes by its place."""
    for file, text in texts.items():
        for name in _INCLUDE.findall(text):
            target = Path(file).parent / name.decode("utf-8", "replace")
            yield file, Path(os.path.normpath(target)).as_posix()


def _read(path: Path) -> bytes:
    with contextlib.suppress(SkippedFile):
        return read_regular(path, limit=MAX_BYTES)
    return b""

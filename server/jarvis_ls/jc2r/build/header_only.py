"""Units for libraries that are headers only: a C file each that includes one of them.

Such libraries guard their functions with a macro whose name ends in `IMPLEMENTATION`; it is
defined. What they want to find included already is what the programs of the project include before
them. The files are written below `.jarvis`, the project is left alone.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from jarvis_ls.codeintel import clang
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
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


def header_units(root: Path, files: Sequence[str], folder: Path) -> list[str]:
    """Paths, relative to `root`, of new C files below `folder`, one for each header with functions.

    None where some C file is no program: then the library is not in its headers alone. A header
    that another one includes is left to that one, one of a program's name to the program, and one
    that a file includes several times, each time for another type, to that file.
    """
    if any(
        _read(root / file) and not _MAIN.search(_read(root / file))
        for file in files
        if file.endswith(".c")
    ):
        return []
    headers = {
        file: _COMMENT.sub(b" ", _read(root / file)) for file in files if file.endswith(_HEADERS)
    }
    programs = {file: _read(root / file) for file in files if file.endswith(".c")}
    included = {
        *_included_places(headers),
        *(place for program, place in _pairs(programs) if Path(place).stem == Path(program).stem),
    }
    before = _before(headers, programs)
    found = []
    for header, text in headers.items():
        wanted = before.get(header, ())
        if header in included or wanted is None or not _FUNCTION.search(text):
            continue
        place = folder / f"{re.sub(r'[^A-Za-z0-9_]', '_', Path(header).stem)}.c"
        guards = sorted({match.decode() for match in _GUARD.findall(text)})
        lines = [
            *(f"#include {_include_name(header, root, folder)}" for header in wanted),
            *(f"#define {guard}" for guard in guards),
            f"#include {_include_name(header, root, folder)}",
            "",
        ]
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(place, "\n".join(lines).encode())
        found.append(place.relative_to(root).as_posix())
    return sorted(set(found))


def _include_name(name: str, root: Path, folder: Path) -> str:
    """Return how a file below `folder` includes a header of the project, or of the machine."""
    return name if name.startswith("<") else f'"{os.path.relpath(root / name, folder)}"'


def _before(
    headers: dict[str, bytes], programs: dict[str, bytes]
) -> dict[str, Sequence[str] | None]:
    """For each header what the program that includes the least before it does include; None when
    a program includes it several times."""
    found: dict[str, Sequence[str] | None] = {}
    for program, text in programs.items():
        words: list[str] = []
        for own, other in _INCLUDE.findall(_COMMENT.sub(b" ", text)):
            name = (own or other).decode("utf-8", "replace")
            place = _place(program, name, headers)
            if place is None:
                if other and any(
                    Path(system_include, name).is_file()
                    for system_include in clang.system_includes()
                ):
                    words.append(f"<{name}>")
            elif place in words:
                found[place] = None
            else:
                known = found.setdefault(place, list(words))
                if known is not None and len(words) < len(known):
                    found[place] = list(words)
                words.append(place)
    return found


def _place(file: str, name: str, headers: Iterable[str]) -> str | None:
    """Return the project header that a file includes: the one beside it, or the only one."""
    beside = Path(os.path.normpath(Path(file).parent / name)).as_posix()
    every = [header for header in headers if header == name or header.endswith(f"/{name}")]
    return beside if beside in headers else every[0] if len(every) == 1 else None


def _included_places(texts: dict[str, bytes]) -> Iterable[str]:
    return (place for _, place in _pairs(texts))


def _pairs(texts: dict[str, bytes]) -> Iterable[tuple[str, str]]:
    """Files, and what each includes by its place."""
    for file, text in texts.items():
        for name, _ in _INCLUDE.findall(text):
            target = Path(file).parent / name.decode("utf-8", "replace")
            yield file, Path(os.path.normpath(target)).as_posix()


def _read(path: Path) -> bytes:
    with contextlib.suppress(SkippedFile):
        return read_regular(path, limit=MAX_BYTES)
    return b""

"""Files that are compiled in several ways, which differ in what they define.

The first way is the file itself. For each other one there is a file below `.jarvis` that includes
it, and which is a unit like any other: so templates that are compiled once a type, and programs
that are made from one file, come out whole, each with the library as it is compiled for it. The
project is left alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from jarvis_ls.core.files import replace_file
from jarvis_ls.core.words import Words

CALLED = "-fmacro-prefix-map="
_OF_PLACE = re.compile(r"-DPIC|-D\w+_(?:EXPORTS|STATIC_DEFINE)(?:=1)?")
"""Definitions by libtool and CMake for shared and static objects."""


def meaning(arguments: Sequence[str]) -> frozenset[str]:
    """Of arguments, what they define but for what only says where code is."""
    joined = " ".join(arguments).replace("-D ", "-D").replace("-U ", "-U").split(" ")
    return frozenset(
        word for word in joined if word.startswith(("-D", "-U")) and not _OF_PLACE.fullmatch(word)
    )


def way_of(root: Path, folder: Path, path: str, number: int) -> str:
    """Return the file that represents another way to compile `path`, written below `folder`: 2 is
    the first of them. Both paths are relative to `root`.
    """
    own = Path(path)
    place = folder / own.parent / f"{own.stem}_{number}{own.suffix}"
    place.parent.mkdir(parents=True, exist_ok=True)
    text = f'#include "{os.path.relpath(root / path, place.parent)}"\n'
    replace_file(place, text.encode())
    return place.relative_to(root).as_posix()


def called_from(root: Path, folder: Path) -> str:
    """Return the argument by which `__FILE__` is a path within the project, as it is where `make`
    runs in its folder, for files that are named from `folder`.
    """
    up = os.path.relpath(root, folder)
    return f"{CALLED}{folder if up == '.' else folder / up}/="


def notes_of(ways: Mapping[str, Sequence[frozenset[str]]]) -> list[str]:
    """Return a note for all files whose ways have the same difference, given the ways by file."""
    files: dict[str, list[str]] = {}
    for path, found in sorted(ways.items()):
        differing = frozenset[str]().union(*found) - found[0].intersection(*found)
        if differing:
            files.setdefault(" ".join(sorted(differing)), []).append(path)
    return [
        (
            Words(
                "compiled in several configurations, which differ in {words}; what only "
                "one defines is translated from that one, what is linked into a program "
                "from the program's, the rest from the first: {files}",
                words=words,
                files=", ".join(paths),
            )
        )
        for words, paths in files.items()
    ]

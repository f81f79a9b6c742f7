"""In which order the files of a project are linked: what is in a section of the linker does so
in this order. It is read from the commands of a build or from the text of makefiles.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from jarvis_ls.jc2r.build.autoconf.automake import targets
from jarvis_ls.jc2r.build.make.rules import is_generated, named_by_default
from jarvis_ls.jc2r.build.make.variables import MAKEFILES, assignments

_FILE = re.compile(r"[\w./+-]+\.(?:c|l?o)\b")


def as_recorded(commands: Sequence[tuple[Path, Sequence[str]]], built: Path) -> dict[str, int]:
    """Return the places of files, by their paths below `built`, given the commands of compilers
    with the folders in which they are run.
    """
    made: dict[str, str] = {}
    for folder, words in commands:
        if "-c" in words:
            for source in (word for word in words if word.endswith(".c")):
                target = _after("-o", words) or f"{PurePosixPath(source).stem}.o"
                made[os.path.normpath(folder / target)] = os.path.normpath(folder / source)
    found: dict[str, None] = {}
    for folder, words in commands:
        paths = [
            os.path.normpath(folder / word) for word in words if word.endswith((".c", ".o", ".lo"))
        ]
        if "-c" not in words:
            found.update((made.get(path, path), None) for path in paths)
    below = (os.path.relpath(path, built) for path in found if path.endswith(".c"))
    return {path: place for place, path in enumerate(below, 1)}


def as_written(root: Path, files: Sequence[str], package: Mapping[str, str]) -> dict[str, int]:
    """Return the places of the C files of the project at `root`, given its makefiles. `package`
    says what the project is called.
    """
    sources = {file for file in files if file.endswith(".c")}
    by_stem: dict[str, list[str]] = {}
    for source in sorted(sources):
        by_stem.setdefault(PurePosixPath(source).stem, []).append(source)
    found: dict[str, None] = {}
    for file in files:
        path = PurePosixPath(file)
        if path.name not in MAKEFILES or is_generated(file, files):
            continue
        for name in _named_sources(root, root / file, package):
            beside = os.path.normpath(path.parent / PurePosixPath(name).with_suffix(".c"))
            called = by_stem.get(PurePosixPath(beside).stem, [])
            if beside in sources or len(called) == 1:
                found[beside if beside in sources else called[0]] = None
    return {file: place for place, file in enumerate(found, 1)}


def _named_sources(root: Path, path: Path, package: Mapping[str, str]) -> Iterator[str]:
    """Yield the sources and objects that a makefile names for what it makes, in their order."""
    known, fill = assignments(root, path, package)
    for target in targets(known, fill):
        yield from _FILE.findall(fill(known.get(f"{target}_SOURCES", "")))
    for text in named_by_default(path, fill):
        yield from _FILE.findall(text)


def _after(option: str, words: Sequence[str]) -> str:
    return next((after for word, after in itertools.pairwise(words) if word == option), "")

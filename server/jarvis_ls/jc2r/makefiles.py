"""What makefiles make when nothing is asked for: what commands define, which files are named."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from jarvis_ls.jc2r.configured import content, in_library

_NAMING = ("GNUmakefile", "makefile", "Makefile", "Makefile.am", "Makefile.in", "CMakeLists.txt")
_EVERY = re.compile(r"\bwildcard\b|\bGLOB|\*\.c\b")
"""How makefiles name files by a pattern."""
_TARGETS = re.compile(r"([^\t#=:][^#=:]*):(?![=:])([^=#;]*)(?:[#;].*)?\Z")
_MAKES = re.compile(r"\t[@\s-]*(?:\$[({]CC[)}]|cc|gcc|clang)(?=\s).*(?:\.c\b|\s-c\b|\$[<^])")
_DEFINED = re.compile(r"(?<=\s)-D\w+(?=\s|$)")


def defined_by_default(path: Path, expanded: Callable[[str], str]) -> list[str]:
    """What all commands define that compile what the makefile at `path` makes when nothing is
    asked for; `expanded` fills the variables of a text in."""
    goals: set[str] = set()
    within = False
    found: list[list[str]] = []
    for line in _text(path).replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            if within and _MAKES.match(line):
                found.append(_DEFINED.findall(line))
            continue
        match = _TARGETS.match(line)
        if match is None:
            continue
        targets, needs = (expanded(one).split() for one in match.groups())
        if not goals and targets and not targets[0].startswith(".") and "%" not in targets[0]:
            goals.update(targets)
        within = not goals.isdisjoint(targets)
        goals.update(needs if within else ())
    first = found[0] if found else []
    return [one for one in first if all(one in words for words in found)]


def for_other_systems(root: Path, files: Sequence[str]) -> list[str]:
    """C files that no makefile names, though others are named, and that bring a function which the
    C library has: `getopt.c` is compiled where there is none."""
    texts = [_text(root / one) for one in files if PurePosixPath(one).name in _NAMING]
    if not texts or any(_EVERY.search(text) for text in texts):
        return []
    named = {word for text in texts for word in re.findall(r"\w+", text)}
    sources = {one: PurePosixPath(one).stem for one in files if one.endswith(".c")}
    if named.isdisjoint(sources.values()):
        return []
    there = in_library(sorted({stem for stem in sources.values() if stem not in named}))
    return [one for one, stem in sources.items()
            if stem in there and re.search(rf"\b{stem}\s*\(", _text(root / one))]  # fmt: skip


def _text(path: Path) -> str:
    return content(path).decode("utf-8", "replace")

"""A change as what a reviewer looks at: files with their hunks, measures and tags, in order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum

from jarvis_ls.codeintel.change.symbol_changes import Change, SymbolChange
from jarvis_ls.codeintel.diff import blocks
from jarvis_ls.codeintel.graph.test_paths import is_test_file
from jarvis_ls.codeintel.graph.workspace import is_source_path

_LARGE = 400
"""Changed lines of a file from which it is hard to review."""
_SMALL = 10
_ALIKE = 0.6
"""Share of equal lines from which a file that is gone is the one that is new."""
_SECURITY = re.compile(
    r"auth|login|passw|secret|token|crypt|cipher|tls|ssl|cert|session|permission|privilege|sandbox"
    r"|sanitiz|escape|signature|verify|acl|oauth|jwt|csrf",
    re.IGNORECASE,
)
_CONFIG = re.compile(
    r"(?:^|/)(?:\.github/|\.gitlab-ci|Dockerfile|docker-compose|[^/]*\.(?:ya?ml|toml|ini|cfg|conf"
    r"|env|properties|tf|service)$|\.env|nginx|\.npmrc|\.pypirc)"
)
_BUILD = re.compile(
    r"(?:^|/)(?:CMakeLists\.txt|[Mm]akefile|.*\.(?:cmake|mk|gradle)|Cargo\.(?:toml|lock)|go\.(?:mod"
    r"|sum)|package(?:-lock)?\.json|pom\.xml|pyproject\.toml|requirements[^/]*|setup\.(?:py|cfg)"
    r"|meson\.build|configure(?:\.ac)?|BUILD(?:\.bazel)?|yarn\.lock|pnpm-lock\.yaml)$"
)
_DOCS = re.compile(r"(?:^|/)(?:docs?/|README|CHANGELOG|LICENSE)|\.(?:md|rst|adoc)$", re.IGNORECASE)


class Status(Enum):
    """What happened to a file."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"
    RENAMED = "renamed"


class Tag(Enum):
    """What a reviewer should know of a file."""

    SECURITY = "security"
    CONFIG = "config"
    BUILD = "build"
    TEST = "test"
    DOCS = "docs"
    INTERFACE = "interface"
    """Code elsewhere can see the change."""
    LARGE = "large"


class Level(IntEnum):
    """How closely a file wants to be read."""

    LIGHT = 1
    NORMAL = 2
    DEEP = 3


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that changed together; from 1, ends exclusive."""

    old_start: int
    """First line before."""
    old_end: int
    """Line behind the last before."""
    start: int
    """First line after."""
    end: int
    """Line behind the last after."""


@dataclass(frozen=True, slots=True)
class ReviewUnit:
    """A file that changed."""

    path: str
    """Where it is, or was."""
    old_path: str
    """Where it was; the same unless it was renamed."""
    status: Status
    """What happened to it."""
    hunks: tuple[Hunk, ...]
    """What changed, in order."""
    added: int
    """Lines that are new."""
    deleted: int
    """Lines that are gone."""
    symbols: tuple[str, ...]
    """Qualified names of what changed in it."""
    tags: frozenset[Tag]
    """What a reviewer should know."""
    level: Level
    """How closely it wants to be read."""

    def holds(self, line: int) -> bool:
        """Return whether a line, as it is after, is in a hunk; where lines are gone, the lines next
        to the place."""
        return any(hunk.start - 1 <= line <= hunk.end for hunk in self.hunks)

    def nearest(self, line: int) -> int:
        """Return the line of the diff that is nearest to a line of the file."""
        inside = any(hunk.start <= line < hunk.end for hunk in self.hunks)
        if inside or not self.hunks:
            return max(1, line)
        ends = [edge for hunk in self.hunks for edge in (hunk.start, max(hunk.start, hunk.end - 1))]
        return max(1, min(ends, key=lambda edge: abs(edge - line)))


def review_units(
    before: Mapping[str, bytes], after: Mapping[str, bytes], changes: Iterable[SymbolChange]
) -> list[ReviewUnit]:
    """Return the files that differ: security and configuration first, then by how closely they want
    to be read, then by path."""
    every = list(changes)
    renamed = _renames(before, after)
    found = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) == after.get(path) or path in renamed.values():
            continue
        old_path = renamed.get(path, path)
        own = [c for c in every if c.path in (path, old_path)]
        found.append(_unit(path, old_path, before.get(old_path), after.get(path), own))
    return sorted(found, key=lambda unit: (-_weight(unit), -unit.level, unit.path))


def _unit(
    path: str,
    old_path: str,
    old: bytes | None,
    new: bytes | None,
    changes: list[SymbolChange],
) -> ReviewUnit:
    old_lines, new_lines = lines_of(old or b""), lines_of(new or b"")
    hunks = tuple(Hunk(a + 1, b + 1, c + 1, d + 1) for a, b, c, d in blocks(old_lines, new_lines))
    added = sum(hunk.end - hunk.start for hunk in hunks)
    deleted = sum(hunk.old_end - hunk.old_start for hunk in hunks)
    if old is None:
        status = Status.ADDED
    elif new is None:
        status = Status.DELETED
    else:
        status = Status.MODIFIED if path == old_path else Status.RENAMED
    tags = _tags(path, added + deleted, changes)
    names = tuple(dict.fromkeys(c.definition.qualified for c in changes if c.definition.name))
    level = _level(path, added + deleted, tags)
    return ReviewUnit(path, old_path, status, hunks, added, deleted, names, tags, level)


def lines_of(data: bytes) -> list[str]:
    """Return the lines of a file without their ends."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _tags(path: str, size: int, changes: list[SymbolChange]) -> frozenset[Tag]:
    names = " ".join([path, *(change.definition.name for change in changes)])
    found = {
        Tag.SECURITY: _SECURITY.search(names) is not None,
        Tag.BUILD: _BUILD.search(path) is not None,
        Tag.CONFIG: _CONFIG.search(path) is not None,
        Tag.TEST: is_test_file(path),
        Tag.DOCS: _DOCS.search(path) is not None,
        Tag.LARGE: size > _LARGE,
        Tag.INTERFACE: any(
            change.was_exported and change.change in (Change.REMOVED, Change.SIGNATURE)
            for change in changes
            if not change.definition.is_test
        ),
    }
    return frozenset(tag for tag, holds in found.items() if holds)


def _level(path: str, size: int, tags: frozenset[Tag]) -> Level:
    if Tag.DOCS in tags:
        return Level.LIGHT
    if tags & {Tag.SECURITY, Tag.INTERFACE, Tag.LARGE, Tag.CONFIG}:
        return Level.DEEP
    return Level.LIGHT if size <= _SMALL and not is_source_path(path) else Level.NORMAL


def _weight(unit: ReviewUnit) -> int:
    return 2 * (Tag.SECURITY in unit.tags) + (Tag.CONFIG in unit.tags)


def _renames(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, str]:
    """Return by new path the old one of files that were renamed, perhaps with changes."""
    gone = sorted(before.keys() - after.keys())
    new = sorted(after.keys() - before.keys())
    found: dict[str, str] = {}
    same = {before[path]: path for path in gone if before[path]}
    for path in new:
        if after[path] in same:
            found[path] = same.pop(after[path])
    left = [path for path in gone if path not in found.values()]
    counts = {path: Counter(before[path].split(b"\n")) for path in left[:_MOST_COMPARED]}
    for path in [path for path in new if path not in found][:_MOST_COMPARED]:
        now = Counter(after[path].split(b"\n"))
        best = max(counts, key=lambda old: (counts[old] & now).total(), default=None)
        if best is not None and (counts[best] & now).total() >= _ALIKE * max(
            now.total(), counts[best].total()
        ):
            found[path] = best
            del counts[best]
    return found


_MOST_COMPARED = 50
"""Files that are gone, and new, that are compared with each other."""

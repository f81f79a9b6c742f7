"""Two states of a crate compared: what the later one does that a rewrite must not begin to do.

Both are read and nothing is run. A use that was there before, anywhere in the crate, is none of the
rewrite's; a block of `unsafe` must be explained in every item that is new or has changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.parse import Node, nests_too_deep
from jarvis_ls.core.errors import SkippedFile, UsageError
from jarvis_ls.core.files import read_regular
from jarvis_ls.jc2r.lift.rust import MOST, Source, below, field, name_of, parse_source
from jarvis_ls.jc2r.rewrite.build_changes import find_build_changes
from jarvis_ls.jc2r.rewrite.rules import Rule, Violation
from jarvis_ls.jc2r.rewrite.test_changes import find_test_changes
from jarvis_ls.jc2r.rewrite.unsafe_reasons import unexplained
from jarvis_ls.jc2r.rewrite.uses import Use, find_uses, shorten, tokens

_MOST_FILES = 20_000


@dataclass(frozen=True, slots=True)
class Crate:
    """The files of a crate as they are read."""

    folder: Path
    sources: Mapping[str, Source]
    """Rust below `src`, by path relative to the crate."""
    tests: Mapping[str, bytes]
    """Files below `tests`."""
    build: Mapping[str, bytes]
    """What says how it is built."""

    @property
    def modules(self) -> frozenset[str]:
        """Return the names of its modules."""
        return frozenset(Path(path).stem for path in self.sources) - {"lib", "main", "mod"}


def read_crate(folder: Path) -> Crate:
    """Return the crate in a folder. Raises `UsageError` when there is none."""
    if not (folder / "Cargo.toml").is_file() or not (folder / "src").is_dir():
        raise UsageError(
            "There is no crate in {folder}: Cargo.toml or src is missing.", folder=folder
        )
    files = dict(_files(folder, "src"))
    sources = {
        path: parse_source(folder / path, data)
        for path, data in files.items()
        if path.endswith(".rs")
    }
    build = {}
    for name in ("Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"):
        try:
            build[name] = read_regular(folder / name, limit=MOST)
        except SkippedFile:
            continue  # it is not there
    return Crate(folder, sources, dict(_files(folder, "tests")), build)


def compare_crates(before: Crate, after: Crate) -> list[Violation]:
    """Return what breaks a rule in the later of two states, in order of file and line."""
    found = [
        *_new_uses(before, after),
        *_missing_reasons(before, after),
        *_changed_exports(before, after),
        *find_test_changes(before.sources, after.sources, before.tests, after.tests),
        *find_build_changes(before.build, after.build),
    ]
    return sorted(found, key=lambda violation: (violation.file, violation.line))


def _files(folder: Path, part: str) -> Iterator[tuple[str, bytes]]:
    count = 0
    for place, folders, names in os.walk(folder / part):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            count += 1
            if count > _MOST_FILES:
                raise UsageError("{folder} has too many files to compare.", folder=folder)
            try:
                yield path.relative_to(folder).as_posix(), read_regular(path, limit=MOST)
            except SkippedFile:
                continue  # a link or a device: nothing of a crate


def _new_uses(before: Crate, after: Crate) -> Iterator[Violation]:
    known = {
        (use.rule, use.key) for source in before.sources.values() for use in _uses(source, before)
    }
    for path, source in after.sources.items():
        old = before.sources.get(path)
        if old is not None and old.data == source.data:
            continue
        if source.root.has_error or nests_too_deep(source.root):
            yield Violation(Rule.SYNTAX, path, 0, path)
            continue
        for use in _uses(source, after):
            if (use.rule, use.key) not in known:
                yield Violation(use.rule, path, use.line, use.code)


def _uses(source: Source, crate: Crate) -> list[Use]:
    if nests_too_deep(source.root):
        return []
    parts = source.path.relative_to(crate.folder).with_suffix("").parts
    return find_uses(source, crate.modules, ffi="ffi" in parts)


def _missing_reasons(before: Crate, after: Crate) -> Iterator[Violation]:
    """Yield blocks of `unsafe` without a reason in items that are not as they were."""
    known = {
        source.text(item) for source in before.sources.values() for item in source.root.children
    }
    for path, source in after.sources.items():
        for item in () if nests_too_deep(source.root) else source.root.children:
            if source.text(item) in known:
                continue
            for block in unexplained(source, item):
                yield Violation(
                    Rule.UNEXPLAINED_UNSAFE,
                    path,
                    int(block.start_point[0]) + 1,
                    shorten(source.text(block)),
                )


def _exports(source: Source) -> dict[str, str]:
    """Return the functions and variables that a text offers to C: their types, by name."""
    found = {}
    for node in below(source.root, "function_item", "static_item"):
        names = [source.text(attribute) for attribute in _attributes(node)]
        if any(b"no_mangle" in text or b"export_name" in text for text in names):
            found[name_of(node)] = _types(source, node)
    return found


def _changed_exports(before: Crate, after: Crate) -> Iterator[Violation]:
    now: dict[str, str] = {}
    for source in after.sources.values():
        now.update(_exports(source))
    for path, source in before.sources.items():
        for name, types in _exports(source).items():
            if now.get(name) != types:
                yield Violation(Rule.EXPORT, path, 0, name)


def _attributes(item: Node) -> Iterator[Node]:
    before = item.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment", "block_comment"):
        if before.type == "attribute_item":
            yield before
        before = before.prev_sibling


def _types(source: Source, item: Node) -> str:
    """Return the types in a declaration, without names and blanks."""
    if item.type == "static_item":
        kind = field(item, "type")
        return "" if kind is None else _flat(source, kind)
    parameters, result = field(item, "parameters"), field(item, "return_type")
    types = [
        _flat(source, field(parameter, "type") or parameter)
        for parameter in (parameters.named_children if parameters is not None else ())
        if parameter.type not in ("line_comment", "block_comment", "attribute_item")
    ]
    return f"({','.join(types)})->{'' if result is None else _flat(source, result)}"


def _flat(source: Source, node: Node) -> str:
    return "".join(source.text(token).decode("utf-8", "replace") for token in tokens(node))

"""Tests of a crate that a rewrite removed, or that check less after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Source, below, name_of, parse_source
from jarvis_ls.jc2r.rewrite.rules import Rule, Violation
from jarvis_ls.jc2r.rewrite.uses import plain_name, tokens

_ASSERTS = frozenset({"assert", "assert_eq", "assert_ne"})
_VACUOUS = frozenset({"(true)", "(1==1)"})


@dataclass(frozen=True, slots=True)
class _Test:
    """One test function."""

    asserts: int
    """How many assertions that can fail it has."""
    is_switched_off: bool
    """Whether it is ignored or must panic."""
    line: int


def find_test_changes(
    sources: Mapping[str, Source],
    new_sources: Mapping[str, Source],
    files: Mapping[str, bytes],
    new_files: Mapping[str, bytes],
) -> Iterator[Violation]:
    """Yield tests in the sources and below `tests` that are gone or weaker, and data of tests that
    is not as it was; each mapping is by path relative to the crate."""
    before = {**sources, **_parse_files(files)}
    after = {**new_sources, **_parse_files(new_files)}
    for path, source in before.items():
        known = _tests(after[path]) if path in after else {}
        for name, test in _tests(source).items():
            now = known.get(name)
            if now is None:
                yield Violation(Rule.TEST, path, 0, name)
            elif now.asserts < test.asserts or (now.is_switched_off and not test.is_switched_off):
                yield Violation(Rule.TEST, path, now.line, name)
    for path, data in files.items():
        if not path.endswith(".rs") and new_files.get(path) != data:
            yield Violation(Rule.TEST, path, 0, path)


def _parse_files(files: Mapping[str, bytes]) -> dict[str, Source]:
    return {
        path: parse_source(Path(path), data) for path, data in files.items() if path.endswith(".rs")
    }


def _tests(source: Source) -> dict[str, _Test]:
    found = {}
    for function in below(source.root, "function_item"):
        attributes = _attribute_names(source, function)
        if "test" in attributes:
            found[name_of(function)] = _Test(
                sum(_can_fail(source, call) for call in below(function, "macro_invocation")),
                bool(attributes & {"ignore", "should_panic", "cfg", "cfg_attr"}),
                int(function.start_point[0]) + 1,
            )
    return found


def _attribute_names(source: Source, item: Node) -> set[str]:
    names: set[str] = set()
    before = item.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment", "block_comment"):
        if before.type == "attribute_item":
            first = next(iter(below(before, "identifier")), None)
            names |= {plain_name(source.text(first))} if first is not None else set()
        before = before.prev_sibling
    return names


def _can_fail(source: Source, call: Node) -> bool:
    words = [source.text(token).decode("utf-8", "replace") for token in tokens(call)]
    name, _, arguments = "".join(words).partition("!")
    return name in _ASSERTS and arguments not in _VACUOUS

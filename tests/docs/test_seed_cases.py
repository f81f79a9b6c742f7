"""The table of the seed's cases names tests that exist, and every case."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
TABLE = TESTS / "seed-cases.md"
CASE = re.compile(r"^\| ([a-z0-9_]+) \| (.+) \|$", re.M)
NAMED = re.compile(r"([\w/]+\.py)::(\w+)")
CASES = 205
"""Of the seed's design, lines 7554 to 7990."""


def rows() -> list[tuple[str, str]]:
    """Each case with what stands behind it."""
    return [(name, what) for name, what in CASE.findall(TABLE.read_text("utf-8")) if name != "case"]


def test_every_case_is_there_once_with_a_test_or_a_reason() -> None:
    found = rows()
    assert len(found) == len({name for name, _ in found}) == CASES
    assert [name for name, what in found if not NAMED.search(what) and "→" not in what] == []


def test_every_named_test_exists() -> None:
    known: dict[str, set[str]] = {}
    for name, what in rows():
        for file, test in NAMED.findall(what):
            if file not in known:
                tree = ast.parse((TESTS / file).read_text("utf-8"))
                defined = (ast.FunctionDef, ast.AsyncFunctionDef)
                known[file] = {node.name for node in tree.body if isinstance(node, defined)}
            assert test in known[file], f"{name}: {file}::{test}"

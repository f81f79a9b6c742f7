"""The places that evidence speaks of: the statement of a finding, and the functions of a path."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Protocol

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.nodes import ancestors, text
from jarvis_ls.codeintel.parse import Node, parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding, Span

_FUNCTIONS = frozenset({"function_definition", "function_item"})
_STATEMENTS = ("_statement", "declaration")
_BLOCKS = frozenset({"compound_statement", "translation_unit", "source_file", "block"})
_WITH_BODY = frozenset(
    "if_statement while_statement for_statement switch_statement do_statement for_range_loop "
    "labeled_statement case_statement else_clause".split()
)
"""Statements of which only what comes before their body is the place."""
_NAMES = frozenset(
    "identifier qualified_identifier field_identifier operator_name destructor_name".split()
)
_MAX_DEPTH = 40
_LEAKS = frozenset({401, 404, 771, 772, 775})
_ALLOCATED = re.compile(r"^Memory is allocated by | allocates \d+ bytes\.$")
_GOT = re.compile(rf"^Opened by |{_ALLOCATED.pattern}")
"""What the step of a path says at which what is lost later was allocated or opened."""
OUTSIDE = "#"
"""Stands for all of a file that is outside of functions."""
_FUNCTION_DEPTH = 400
"""Levels of nesting between a place and the function around it."""


class Sources(Protocol):
    """What gives the texts of a workspace, as a `Workbench` does."""

    def source(self, file: str) -> Source | None:
        """Return the text of a file; None when it cannot be read."""


def statement_lines(source: Source, span: Span) -> tuple[int, int]:
    """Return the first and last line of the statement that a span is in: sanitizers name the line
    where a call or an expression begins, which need not be that of the finding. Of `if` and loops
    it is the head."""
    first, last = span.line, max(span.line, span.end_line)
    language = language_of(source.path, source.data)
    if language is None:
        return first, last
    node = node_at(source, span, language)
    for around in _up(node):
        kind = around.type
        if kind in _BLOCKS or kind in _FUNCTIONS:
            break
        if kind.endswith(_STATEMENTS):
            start, end = around.start_byte, around.end_byte
            body = around.child_by_field_name("body") or around.child_by_field_name("consequence")
            if kind in _WITH_BODY and body is not None:
                end = max(body.start_byte, start + 1)
            return (
                min(first, source.line_of(start)),
                max(last, source.line_of(max(start, end - 1))),
            )
    return first, last


def flaw_lines(bench: Sources, finding: Finding) -> list[tuple[str, tuple[int, int]]]:
    """Return the lines where a report bears a finding out: its statement. A leak is reported where
    the memory is from, so of leaks it is every step of the path as well."""
    spots = [(finding.file, finding.span)]
    if not _LEAKS.isdisjoint(finding.cwe):
        spots += [(step.file, step.span) for step in (*finding.trace, *finding.related)]
    found = []
    for file, span in dict.fromkeys(spots):
        source = bench.source(file)
        if source is not None:
            found.append((file, statement_lines(source, span)))
    return found


def allocation_of(finding: Finding) -> int | None:
    """Return the number of the step at which the memory of a leak was allocated; None when no step
    says so."""
    steps = (*finding.trace, *finding.related)
    found = [n for n, step in enumerate(steps) if _ALLOCATED.search(str(step.message))]
    return found[-1] if found else None


def leak_lines(bench: Sources, finding: Finding) -> list[tuple[str, tuple[int, int]]]:
    """Return where what is lost was allocated or opened, as the path says; else its statement."""
    spots = [
        (step.file, step.span)
        for step in (*finding.trace, *finding.related)
        if _GOT.search(str(step.message))
    ]
    spots = spots[-1:] or [(finding.file, finding.span)]
    found = []
    for file, span in spots:
        source = bench.source(file)
        if source is not None:
            found.append((file, statement_lines(source, span)))
    return found


def path_lines(bench: Sources, finding: Finding) -> list[tuple[str, tuple[int, int]]]:
    """Return the statements of the steps of a finding's path, each once; of a leak, last, all lines
    of its function."""
    found: dict[tuple[str, tuple[int, int]], None] = {}
    for step in finding.trace:
        source = bench.source(step.file)
        if source is not None:
            found.setdefault((step.file, statement_lines(source, step.span)))
    source = bench.source(finding.file)
    if not _LEAKS.isdisjoint(finding.cwe) and source is not None:
        _, start, end = function_at(source, finding.span)
        lines = source.line_of(start), source.line_of(max(start, end - 1))
        found.pop((finding.file, lines), None)
        found[finding.file, lines] = None
    return list(found)


def path_functions(bench: Sources, finding: Finding) -> list[tuple[str, tuple[int, int]]]:
    """Return the lines of the functions of a finding and of the steps of its path, each once."""
    found: dict[tuple[str, tuple[int, int]], None] = {}
    for file, span in [(finding.file, finding.span), *((s.file, s.span) for s in finding.trace)]:
        source = bench.source(file)
        if source is not None:
            _, start, end = function_at(source, span)
            lines = source.line_of(start), source.line_of(max(start, end - 1))
            found.setdefault((file, lines))
    return list(found)


def function_at(source: Source, span: Span) -> tuple[str, int, int]:
    """Return name, first and last byte of the function around a span; an empty name and the whole
    file when it is in none."""
    language = language_of(source.path, source.data)
    if language is not None:
        for node in _up(node_at(source, span, language), _FUNCTION_DEPTH):
            if node.type in _FUNCTIONS:
                return _name(node), node.start_byte, node.end_byte
    return "", 0, len(source.data)


def hash_of(source: Source, start: int, end: int) -> str:
    """Return what names the code between two bytes, whatever its comments and white space."""
    language = language_of(source.path, source.data) or "c"
    code = blank(source.data[start:end], language, literals=False)
    return hashlib.sha256(b" ".join(code.split())).hexdigest()[:16]


def functions_of(bench: Sources, finding: Finding) -> tuple[tuple[str, str], ...]:
    """Return the hashes of all functions on the path to a finding, its own among them, by
    `file:function`."""
    places = [(finding.file, finding.span), *((step.file, step.span) for step in finding.trace)]
    found: dict[str, str] = {}
    for file, span in places:
        source = bench.source(file)
        if source is None:
            continue
        name, start, end = function_at(source, span)
        found.setdefault(f"{file}:{name}", hash_of(source, start, end))
    return tuple(sorted(found.items()))


def current_hashes(source: Source, names: Iterable[str]) -> dict[str, set[str]]:
    """Return the hashes of the functions of a file that have one of `names`; the empty name is
    the whole file, `OUTSIDE` what is outside of functions. Of one name there may be several,
    behind `#if`."""
    wanted = set(names)
    found: dict[str, set[str]] = {}
    if "" in wanted:
        found[""] = {hash_of(source, 0, len(source.data))}
    language = language_of(source.path, source.data)
    if language is None or not wanted - {""}:
        return found
    if OUTSIDE in wanted:
        found[OUTSIDE] = {hash_outside(source)}
    for node in _function_nodes(source, language):
        name = _name(node)
        if name in wanted:
            found.setdefault(name, set()).add(hash_of(source, node.start_byte, node.end_byte))
    return found


def hash_outside(source: Source) -> str:
    """Return what names the code of a file outside of the bodies of functions."""
    language = language_of(source.path, source.data) or "c"
    code = bytearray(blank(source.data, language, literals=False))
    for node in _function_nodes(source, language):
        body = node.child_by_field_name("body")
        if body is not None:
            code[body.start_byte : body.end_byte] = b" " * (body.end_byte - body.start_byte)
    return hashlib.sha256(b" ".join(code.split())).hexdigest()[:16]


def _function_nodes(source: Source, language: LanguageName) -> Iterable[Node]:
    """Yield the functions of a file, those in others left out."""
    stack = [parse(source.data, language).root_node]
    while stack:
        node = stack.pop()
        if node.type in _FUNCTIONS:
            yield node
            continue
        stack += [
            child
            for child in node.named_children
            if not child.type.endswith(("_expression", "_literal")) and child.type != "comment"
        ]


def node_at(source: Source, span: Span, language: LanguageName) -> Node | None:
    """Return the smallest node that a span is in."""
    start = source.offset(span.line, span.column)
    end = max(start, source.offset(span.end_line, span.end_column))
    return parse(source.data, language).root_node.descendant_for_byte_range(start, end)


def _up(node: Node | None, depth: int = _MAX_DEPTH) -> Iterable[Node]:
    if node is None:
        return
    yield node
    for number, around in enumerate(ancestors(node)):
        if number >= depth:
            return
        yield around


def _name(node: Node) -> str:
    if node.type == "function_item":
        return text(node.child_by_field_name("name"))
    inner = node.child_by_field_name("declarator")
    for _ in range(_MAX_DEPTH):
        if inner is None or inner.type in _NAMES:
            break
        inner = inner.child_by_field_name("declarator") or next(
            (c for c in inner.named_children if c.type.endswith(("identifier", "declarator"))), None
        )
    return text(inner)

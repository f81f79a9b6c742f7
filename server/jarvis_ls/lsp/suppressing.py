"""Comments that suppress findings, as edits that keep the file meaning what it means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from lsprotocol import types

from jarvis_ls.core.finding import Finding
from jarvis_ls.lsp.convert import to_range
from jarvis_ls.lsp.documents import Document

Scope = Literal["line", "function", "file"]

_WORDS: dict[Scope, str] = {
    "line": "jsec-ignore",
    "function": "jsec-ignore-function",
    "file": "jsec-ignore-file",
}
_BLANKS = re.compile(r"\s+")
_INDENT = re.compile(r"[ \t]*")


def suppressing_edits(
    document: Document,
    findings: Iterable[Finding],
    functions: Sequence[tuple[str, int, int]],
    scope: Scope,
    reason: str,
) -> list[types.TextEdit]:
    """Return the edits that put a comment with ``reason`` where it speaks of ``findings``.

    ``functions`` are name, first and last line of the functions; a finding outside of any is
    suppressed on its line. Findings of one rule that one comment covers share it.
    """
    inside = _Inside(document)
    places: dict[tuple[int, int], tuple[types.Position, Scope, bool, list[str]]] = {}
    for finding in findings:
        position, kind, inline = _place(document, inside, finding, functions, scope)
        at = position.line, position.character
        rules = places.setdefault(at, (position, kind, inline, []))[3]
        if finding.rule not in rules:
            rules.append(finding.rule)
    return [
        _edit(document, position, kind, inline, rules, reason)
        for position, kind, inline, rules in places.values()
    ]


def clean_reason(reason: str) -> str:
    """Return ``reason`` as one line that ends no comment and continues no line."""
    return _BLANKS.sub(" ", reason).replace("*/", "* /").replace("/*", "/ *").strip(" \\?")


def _place(
    document: Document,
    inside: _Inside,
    finding: Finding,
    functions: Sequence[tuple[str, int, int]],
    scope: Scope,
) -> tuple[types.Position, Scope, bool]:
    """Return the position of the comment, its scope, and whether it is within a line."""
    start = to_range(finding.span).start
    if scope == "file":
        shebang = document.line(0).startswith("#!") and not document.line(0).startswith("#![")
        return types.Position(1 if shebang else 0, 0), scope, False
    if scope == "function":
        around = [first for _name, first, last in functions if first <= finding.span.line <= last]
        if around and not inside.text(max(around) - 1):
            return types.Position(max(around) - 1, 0), scope, False
    if inside.text(start.line) or document.line(start.line - 1).endswith("\\"):
        return start, "line", True
    return types.Position(start.line, 0), "line", False


def _edit(
    document: Document,
    position: types.Position,
    scope: Scope,
    inline: bool,
    rules: list[str],
    reason: str,
) -> types.TextEdit:
    text = f"{_WORDS[scope]}: {', '.join(rules)} {clean_reason(reason)}".rstrip()
    if inline:
        new_text = f"/* {text} */ "
    else:
        indent = "" if scope == "file" else _indent(document.line(position.line))
        new_text = f"{indent}// {text}{document.line_end()}"
    return types.TextEdit(types.Range(position, position), new_text)


def _indent(line: str) -> str:
    match = _INDENT.match(line)
    return match.group() if match else ""


class _Inside:
    """Which lines begin inside a comment or a literal that started above."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._lines: set[int] | None = None

    def text(self, line: int) -> bool:
        """Return whether text put at the start of this 0-based line would be part of one."""
        if self._lines is None:
            self._lines = self._find()
        return line in self._lines

    def _find(self) -> set[int]:
        from jarvis_ls.codeintel.comments import lexemes
        from jarvis_ls.codeintel.source import Source

        source = Source("", self._document.text.encode("utf-8", "replace"))
        rust = self._document.language_id == "rust" or self._document.uri.endswith(".rs")
        lines: set[int] = set()
        for found in lexemes(source.data, "rust" if rust else "cpp"):
            first, last = (
                source.line_of(found.start),
                source.line_of(max(found.start, found.end - 1)),
            )
            if last > first:
                lines.update(range(first, last))
        return lines

"""Comments that hide findings, with a reason.

    strcpy(a, b);  // jsec-ignore: unsafe-copy the length was checked above
    // jsec-ignore: unsafe-copy, weak-random the next line of code is meant
    // jsec-ignore-function: unsafe-copy the function around it, or the one below
    // jsec-ignore-file: unsafe-copy the whole file

`/* */` does as well. What a comment hides stays in every report that asks for it, with the
reason. A comment that hides nothing, gives no reason or names no rule we know is itself
reported, as a hint.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from jarvis_ls.codeintel.comments import Lexeme, blank, comments
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import Tree, captures, compile_query
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Alike, Finding, Message, fingerprint
from jarvis_ls.jsec.findings.scan_findings import PAGES, UNKNOWN_RULE, UNUSED, WITHOUT_REASON, hint
from jarvis_ls.jsec.rules.registry import all_rules

MARK = b"jsec-ignore"
"""A file without this word suppresses nothing."""

_MAX_NESTED = 64
"""Functions inside functions that are looked through for a comment."""

_MOST_HINTS = 1_000
"""Findings about the comments of a file, each of its own; a person looks at no more."""

_MOST_COMPARED = 50
"""Unknown names in a file for each of which a known one like it is looked for."""

_MAX_NAMES = 50
"""Most rules one comment can name."""

Scope = Literal["line", "function", "file"]

_DIRECTIVE = re.compile(
    r"jsec-ignore(-function|-file)?(?:\s*:\s*([\w.-]+(?:\s*,\s*[\w.-]+)*)?[\s:–—-]*(.*))?"
)
_SCOPES: dict[str | None, Scope] = {None: "line", "-function": "function", "-file": "file"}
_FUNCTIONS: dict[LanguageName, str] = {
    "c": "(function_definition) @function",
    "cpp": "(function_definition) @function",
    "rust": "(function_item) @function",
}


@dataclass(slots=True)
class Suppression:
    """What one comment hides."""

    rules: tuple[str, ...]
    """Ids it names."""
    reason: str
    """Why, in the user's words; may be empty."""
    lines: tuple[int, int]
    """First and last line it speaks of; (0, 0) when there is no such place."""
    start: int
    """First byte of the directive."""
    end: int
    """Byte after its last."""
    used: set[str] = field(default_factory=set)
    """The rules of which it hid a finding."""


Complaint = tuple[str, Suppression, Message]
"""Rule of a finding about a comment, the comment, and what is said."""


def suppress(
    source: Source,
    language: LanguageName,
    tree: Tree,
    findings: list[Finding],
    own_patterns: Collection[str] = (),
) -> list[Finding]:
    """Return the findings with `suppressed` filled in, and hints about the comments, by position.

    `own_patterns` are ids of rules that only the user's settings know.
    """
    found = suppressions(source, language, tree)
    known = {*all_rules(), *own_patterns, *PAGES}
    index = _Index(found)
    judged = [index.judge(finding) for finding in findings]
    hints = [index.judge(hint) for hint in _hints(source, language, found, known)]
    unused = [index.judge(hint) for hint in _unused_findings(source, language, found, known)]
    return sorted(judged + hints + unused, key=lambda item: (item.span.line, item.span.column))


def suppressions(source: Source, language: LanguageName, tree: Tree) -> list[Suppression]:
    """Every suppressing comment of a file, in order."""
    layout = _Layout(source, language, tree)
    return [
        directive
        for comment in comments(source.data, language)
        if MARK in source.data[comment.start : comment.end]
        for directive in _directives(layout, comment)
    ]


def _directives(layout: _Layout, comment: Lexeme) -> Iterator[Suppression]:
    data = layout.source.data
    start, end = comment.inner
    for line in data[start:end].splitlines(keepends=True):
        at = line.find(MARK)
        before = line[:at].strip(b" \t*!/")
        if at >= 0 and (not before or line[:at].rstrip().endswith(b"//")):
            text = line[at:].decode("utf-8", "replace").rstrip().removesuffix("*/").rstrip()
            match = _DIRECTIVE.match(text)
            if match is not None:
                names = (match[2] or "").replace(",", " ").split()[:_MAX_NAMES]
                yield Suppression(
                    rules=tuple(names),
                    reason=(match[3] or "").strip(),
                    lines=layout.lines(_SCOPES[match[1]], comment),
                    start=start + at,
                    end=start + at + len(text.encode()),
                )
        start += len(line)


class _Layout:
    """Where code is in a file; worked out when first asked for."""

    def __init__(self, source: Source, language: LanguageName, tree: Tree) -> None:
        self.source = source
        self._language = language
        self._tree = tree

    def lines(self, scope: Scope, comment: Lexeme) -> tuple[int, int]:
        """Return the lines a comment of this scope speaks of."""
        if scope == "file":
            return 1, len(self.source.line_starts)
        if scope == "function":
            return self._function_lines(comment)
        for offset in (comment.start, comment.end):
            line = self.source.line_of(offset)
            if line in self._code_set:
                return line, line
        return self._next_code_line(self.source.line_of(comment.end))

    def _next_code_line(self, line: int) -> tuple[int, int]:
        index = bisect_right(self._code_lines, line)
        if index == len(self._code_lines):
            return 0, 0
        return self._code_lines[index], self._code_lines[index]

    def _function_lines(self, comment: Lexeme) -> tuple[int, int]:
        around = [(start, end) for start, end in self._functions if start <= comment.start < end]
        if around:
            return self._span(max(around))
        below = min(
            (function for function in self._functions if function[0] >= comment.end), default=None
        )
        if below is None:
            return 0, 0
        between = self._code[comment.end : below[0]]
        return (0, 0) if b";" in between or b"}" in between else self._span(below)

    def _span(self, function: tuple[int, int]) -> tuple[int, int]:
        start, end = function
        return self.source.line_of(start), self.source.line_of(max(start, end - 1))

    @cached_property
    def _code(self) -> bytes:
        return blank(self.source.data, self._language, literals=False)

    @cached_property
    def _code_lines(self) -> list[int]:
        starts = [*self.source.line_starts, len(self._code)]
        return [
            line
            for line in range(1, len(starts))
            if self._code[starts[line - 1] : starts[line]].strip()
        ]

    @cached_property
    def _code_set(self) -> frozenset[int]:
        return frozenset(self._code_lines)

    @cached_property
    def _functions(self) -> list[tuple[int, int]]:
        query = compile_query(self._language, _FUNCTIONS[self._language])
        found = captures(query, self._tree.root_node).get("function", [])
        return [(node.start_byte, node.end_byte) for node in found]


class _Index:
    """Which comment speaks of a finding; of two that speak of the same lines the first."""

    def __init__(self, found: Sequence[Suppression]) -> None:
        self._lines: dict[tuple[str, int], Suppression] = {}
        ranges: dict[str, dict[tuple[int, int], Suppression]] = {}
        for entry in found:
            first, last = entry.lines
            for rule in entry.rules:
                if first == last:
                    self._lines.setdefault((rule, first), entry)
                else:
                    ranges.setdefault(rule, {}).setdefault(entry.lines, entry)
        self._ranges = {
            rule: sorted(known.items(), key=lambda item: item[0]) for rule, known in ranges.items()
        }

    def judge(self, finding: Finding) -> Finding:
        """Return the finding, with the reason of the comment that hides it."""
        span = finding.span
        suppression = self._at(finding.rule, span.line) or self._at(finding.rule, span.end_line)
        if suppression is None:
            return finding
        suppression.used.add(finding.rule)
        return replace(
            finding,
            suppressed=f"comment: {suppression.reason}" if suppression.reason else "comment",
        )

    def _at(self, rule: str, line: int) -> Suppression | None:
        if (rule, line) in self._lines:
            return self._lines[rule, line]
        ranges = self._ranges.get(rule, [])
        behind = bisect_right(ranges, line, key=lambda item: item[0][0])
        # Functions and the file nest, so the innermost range that holds the line is close before.
        for (_first, last), other in reversed(ranges[max(0, behind - _MAX_NESTED) : behind]):
            if line <= last:
                return other
        whole = ranges[0] if ranges else None
        return whole[1] if whole and whole[0][0] == 1 and line <= whole[0][1] else None


def _hints(
    source: Source, language: LanguageName, found: Sequence[Suppression], known: set[str]
) -> Iterator[Finding]:
    return _told(source, language, _complaints(found, known))


def _complaints(found: Sequence[Suppression], known: set[str]) -> Iterator[Complaint]:
    unknown: dict[str, Message] = {}
    for entry in found:
        if not entry.rules:
            yield UNKNOWN_RULE, entry, Message("The suppression names no rule.")
        elif not entry.reason:
            message = Message(
                "Suppression of '{rule}' has no reason.", (("rule", ", ".join(entry.rules)),)
            )
            yield WITHOUT_REASON, entry, message
        for name in entry.rules:
            if name in known:
                continue
            if name not in unknown:
                unknown[name] = _unknown(name, known if len(unknown) < _MOST_COMPARED else ())
            yield UNKNOWN_RULE, entry, unknown[name]


def _unused_findings(
    source: Source, language: LanguageName, found: Sequence[Suppression], known: set[str]
) -> Iterator[Finding]:
    unused = (
        (
            UNUSED,
            entry,
            Message("Unused suppression: no finding of '{rule}' here.", (("rule", name),)),
        )
        for entry in found
        for name in entry.rules
        if name in known and name not in entry.used
    )
    return _told(source, language, unused)


def _told(
    source: Source, language: LanguageName, complaints: Iterable[Complaint]
) -> Iterator[Finding]:
    """Yield the findings for complaints; those beyond `_MOST_HINTS` are one, at the first."""
    alike, number = Alike(), 0
    first: Complaint | None = None
    for number, (rule, entry, message) in enumerate(complaints, 1):
        if number <= _MOST_HINTS:
            yield _hint(rule, source, language, entry, message, alike)
        elif first is None:
            first = rule, entry, message
    if first is not None:
        rule, entry, _ = first
        more = Message(
            "{count} more comments from here on are like those before.",
            (("count", str(number - _MOST_HINTS)),),
        )
        yield _hint(rule, source, language, entry, more, alike)


def _unknown(name: str, known: Collection[str]) -> Message:
    near = difflib.get_close_matches(name, known, 1)
    if near:
        return Message(
            "Unknown rule '{rule}'; did you mean '{near}'?", (("rule", name), ("near", near[0]))
        )
    return Message("Unknown rule '{rule}'.", (("rule", name),))


_SUGGESTIONS = {
    UNUSED: "Remove the comment; otherwise it may hide a later finding.",
    WITHOUT_REASON: "Add the reason after the rule name.",
    UNKNOWN_RULE: "Write `jsec-ignore: <rule> <reason>`; `jsec rules` lists them.",
}


def _hint(
    rule: str,
    source: Source,
    language: LanguageName,
    suppression: Suppression,
    message: Message,
    alike: Alike,
) -> Finding:
    span = source.span(suppression.start, suppression.end)
    evidence = source.evidence(span.line)
    return hint(
        rule,
        "rust" if language == "rust" else "c/cpp",
        source.path,
        span,
        message,
        suggestion=_SUGGESTIONS[rule],
        evidence=evidence,
        fingerprint=fingerprint(rule, source.path, evidence, alike.before(rule, evidence)),
    )

"""The user's own rules: regular expressions over the lines of a file.

They see code only: comments and the inside of literals are blank unless a pattern asks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Alike, Finding, Message, fingerprint
from jarvis_ls.core.regex import compile_regex
from jarvis_ls.jsec.settings.settings import Pattern

_MAX_MATCHES = 1000
"""Most findings of one pattern in one file; the places after them are left out."""


def match_patterns(
    source: Source, language: LanguageName, patterns: Sequence[Pattern]
) -> list[Finding]:
    """Return findings of the user's patterns in one file, in order of position."""
    seen: dict[tuple[bool, bool], bytes] = {}
    findings: list[Finding] = []
    for pattern in patterns:
        if language not in pattern.languages:
            continue
        view = (pattern.comments, pattern.strings)
        if view not in seen:
            seen[view] = blank(
                source.data, language, comments=not pattern.comments, literals=not pattern.strings
            )
        findings.extend(_matches(source, language, pattern, seen[view]))
    return sorted(findings, key=lambda item: (item.span.line, item.span.column, item.rule))


def _matches(
    source: Source, language: LanguageName, pattern: Pattern, text: bytes
) -> Iterator[Finding]:
    alike = Alike()
    regex = compile_regex(pattern.regex)
    matches = (match for match in regex.finditer(text) if match.end() > match.start())
    for match in itertools.islice(matches, _MAX_MATCHES):
        span = source.span(match.start(), match.end())
        evidence = source.evidence(span.line)
        occurrence = alike.before(pattern.id, evidence)
        yield Finding(
            rule=pattern.id,
            language="rust" if language == "rust" else "c/cpp",
            category="custom",
            pattern=pattern.id,
            cwe=pattern.cwe,
            file=source.path,
            span=span,
            evidence=evidence,
            message=Message(pattern.message),
            suggestion=Message(pattern.suggestion),
            confidence=pattern.confidence,
            severity=pattern.severity,
            fingerprint=fingerprint(pattern.id, source.path, evidence, occurrence),
        )

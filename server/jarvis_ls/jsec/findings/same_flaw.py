"""Of two rules that see one flaw at one place, the one that says more about it reports it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from jarvis_ls.core.finding import Finding, Span

_SAYS_MORE = {
    "as-turns-negative-into-huge": {"slice-from-unchecked-parts", "allocation-sized-by-input"},
    "copied-length-without-limit": {
        "copy-beyond-buffer",
        "copy-bounded-by-source",
        "negative-number-as-size",
        "unchecked-size-from-input",
        "write-past-buffer",
    },
    "difference-as-length-untested": {
        "arithmetic-on-input",
        "copy-beyond-buffer",
        "length-reduced-without-minimum",
        "negative-number-as-size",
    },
    "index-without-limit": {
        "array-filled-up-to-unlimited-count",
        "failure-result-as-index",
        "index-from-input",
        "index-out-of-bounds",
        "negated-index-without-limit",
        "plain-char-as-index",
        "read-beyond-buffer",
        "unchecked-index-from-input",
        "write-past-buffer",
    },
    "int-product-sizes-memory": {"allocation-size-overflow"},
    "number-parsed-without-check": {"truncated-input-value"},
    "sign-extended-number": {"negative-number-as-size"},
    "sum-in-limit-test-may-wrap": {
        "arithmetic-on-input",
        "arithmetic-overflow-on-input",
        "overflow-tested-afterwards",
        "product-narrower-than-use",
        "sum-wraps-in-bound",
    },
    "unbounded-sprintf": {"format-string-not-literal"},
    "untrusted-search-path": {"command-from-variable"},
    "unwrap-without-check": {"panic-across-ffi", "panic-in-drop", "unwrap-on-external-input"},
}
"""Rules, with those that say more about what both report."""


def merge_same_flaws(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings of one file without those that another says more about; that one gets
    their weaknesses (CWE) as well."""
    by_line: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        if not finding.suppressed:
            by_line[finding.span.line].append(finding)
    instead: dict[int, Finding] = {}
    more: dict[int, tuple[int, ...]] = defaultdict(tuple)
    for alike in by_line.values():
        for finding in alike:
            wanted = _SAYS_MORE.get(finding.rule, ())
            other = next((o for o in alike if o.rule in wanted and _overlap(o, finding)), None)
            if other is not None:
                instead[id(finding)] = other
                more[id(other)] += finding.cwe
    return [
        replace(finding, cwe=tuple(dict.fromkeys((*finding.cwe, *more[id(finding)]))))
        if id(finding) in more
        else finding
        for finding in findings
        if id(finding) not in instead
    ]


def _overlap(first: Finding, second: Finding) -> bool:
    """Return whether two findings share a character."""
    return _start(first.span) < _end(second.span) and _start(second.span) < _end(first.span)


def _start(span: Span) -> tuple[int, int]:
    return span.line, span.column


def _end(span: Span) -> tuple[int, int]:
    return span.end_line, span.end_column

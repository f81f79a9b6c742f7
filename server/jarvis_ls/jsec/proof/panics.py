"""Panics of Rust as reports: what a program says before it ends is the kind and the place."""

from __future__ import annotations

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.proof.reports import kinds_for

OVERFLOW = "integer-overflow"
PANIC = "panic"
_ARITHMETIC = frozenset({190, 191, 680})
_PANICS = frozenset({248, 617, 754})
_INDEX = frozenset({119, 125, 129, 787, 788})


def kinds_in_language(finding: Finding) -> frozenset[str]:
    """Return the kinds of reports that bear out a finding, of sanitizers or of panics."""
    is_rust = language_of(finding.file) == "rust"
    return panic_kinds_for(finding) if is_rust else kinds_for(finding)


def panic_kinds_for(finding: Finding) -> frozenset[str]:
    """Return the kinds of reports that bear out a finding in Rust; empty when none can. That it is
    a panic at all counts only for a finding that says nothing else."""
    numbers = frozenset(finding.cwe)
    kinds = kinds_for(finding)
    if numbers & _ARITHMETIC:
        kinds |= {OVERFLOW}
    if numbers & _INDEX:
        kinds |= {"index-out-of-bounds"}
    return kinds or (frozenset({PANIC}) if numbers & _PANICS else kinds)

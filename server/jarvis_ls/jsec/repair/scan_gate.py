"""The gate that scans: the finding is gone, and the changed files have no new one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding, words_of
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.jsec.proof.places import Sources, function_at, statement_lines
from jarvis_ls.jsec.repair.patch import Patch
from jarvis_ls.jsec.repair.verdict import Gate, GateResult, failed, passed
from jarvis_ls.jsec.scan.scanner import scan
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.settings.settings import Settings

_WHOLE = 300
"""A project with more files is scanned only where it changes."""
_WEAK = 0.3
"""Confidence below which a new finding is told only: two of three like it are no flaw."""
_Place = tuple[str, str, str]
"""Rule, file and function."""


async def scan_folder(folder: Path, settings: Settings, files: Iterable[str]) -> list[Finding]:
    """Return the findings of a folder; of a large one those of some files. What comments suppress
    is among them: a comment repairs nothing."""
    listing = list_sources(folder, settings)
    only = None if len(listing.files) <= _WHOLE else sorted(set(files))
    result = await scan(listing, settings, only=only)
    return [finding for finding in result.findings if not is_hint(finding)]


def check_clean(
    finding: Finding,
    patch: Patch,
    before: Sequence[Finding],
    after: Sequence[Finding],
    sources: tuple[Sources, Sources],
) -> GateResult:
    """Return whether a finding is gone and there is no new one in the changed files but weak ones,
    which are named; `sources` has the texts before and after."""
    files = {change.path for change in patch.changes} | {finding.file}
    old = [item for item in before if item.file in files]
    new = [item for item in after if item.file in files]
    had, has = (
        Counter(_place(item, texts) for item in items)
        for items, texts in ((old, sources[0]), (new, sources[1]))
    )
    own = _place(finding, sources[0])
    names = {item.fingerprint for item in new}
    if finding.fingerprint in names or has[own] >= max(1, had[own]):
        place = next(
            item
            for item in new
            if item.fingerprint == finding.fingerprint or _place(item, sources[1]) == own
        )
        return failed(
            Gate.CLEAN, "jsec still reports {rule} at {file}:{line}: {what}", **_values_of(place)
        )
    known = {item.fingerprint for item in old}
    weak = None
    for item in new:
        where = _place(item, sources[1])
        if item.fingerprint in known or has[where] <= had[where]:
            continue
        if item.confidence >= _WEAK:
            return failed(
                Gate.CLEAN, "jsec reports a new {rule} at {file}:{line}: {what}", **_values_of(item)
            )
        weak = weak or item
    if weak is not None:
        return passed(
            Gate.CLEAN,
            "The finding is gone; only a weak one is new, {rule} at {file}:{line}: {what}",
            **_values_of(weak),
        )
    return passed(Gate.CLEAN, "The finding is gone, and there is no new one.")


def other_places(
    finding: Finding, before: Sequence[Finding], after: Sequence[Finding], bench: Sources
) -> list[tuple[Finding, tuple[int, int]]]:
    """Return findings that were there before and are there still, with the lines of their
    statements, but those at the statement of the finding itself."""
    own = finding.evidence
    known = {item.fingerprint for item in before} - {finding.fingerprint}
    found = []
    for item in after:
        source = bench.source(item.file)
        if item.fingerprint in known and item.evidence != own and source is not None:
            found.append((item, statement_lines(source, item.span)))
    return found


def _values_of(finding: Finding) -> dict[str, str]:
    return {
        "rule": finding.rule,
        "file": finding.file,
        "line": str(finding.span.line),
        "what": words_of(finding.message),
    }


def _place(finding: Finding, sources: Sources) -> _Place:
    source: Source | None = sources.source(finding.file)
    function = function_at(source, finding.span)[0] if source is not None else ""
    return finding.rule, finding.file, function

"""What a change does to the findings of jsec, file by file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.assembly.analysis import Analysis
from jarvis_ls.codeintel.change.impact import FindingChange, FindingsDifference
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.finding import Finding
from jarvis_ls.runtime.edits.text_file import WorkspacePath

_MUCH = 100_000
"""Bytes of both states from which on each is analysed by a process of its own, at the same time."""


@dataclass(frozen=True, slots=True)
class SecurityDifference:
    """What jsec says of two states of files."""

    new: tuple[Finding, ...] = ()
    """There after the change only."""
    gone: tuple[Finding, ...] = ()
    """There before the change only."""
    not_analysed: tuple[str, ...] = ()
    """Files that could not be analysed, in time or at all."""

    def summary(self) -> FindingsDifference:
        """Return it as an impact report holds it."""
        return FindingsDifference(
            tuple(_change(finding) for finding in self.new),
            tuple(_change(finding) for finding in self.gone),
        )


def compare_findings(
    root: Path, before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> SecurityDifference:
    """Return which findings came and went between two states of files below `root`.

    Headers that did not change are read from the disk. Nothing is written or executed.
    """
    return asyncio.run(_compare(root, before, after))


async def _compare(
    root: Path, before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> SecurityDifference:
    new: list[Finding] = []
    gone: list[Finding] = []
    failed: list[str] = []
    paths = sorted(path for path in before.keys() | after.keys() if language_of(path))
    if not paths:
        return SecurityDifference()
    states = (before, after)
    size = sum(len(state.get(path, b"")) for state in states for path in paths)
    first = Analysis([root], trusted=False, buffers=None)
    last = first if size < _MUCH else Analysis([root], trusted=False, buffers=None)
    try:
        for path in paths:
            place = WorkspacePath(root, 0, path)
            found = await asyncio.gather(
                *(
                    analysis.of_texts(place, [_text(state.get(path, b""))])
                    for analysis, state in zip((first, last), states, strict=True)
                )
            )
            if None in found:
                failed.append(path)
                continue
            old, now = (
                {item.fingerprint: item for text in texts or () for item in text} for texts in found
            )
            new += [item for print_, item in now.items() if print_ not in old]
            gone += [item for print_, item in old.items() if print_ not in now]
    finally:
        await asyncio.gather(*(analysis.close() for analysis in {first, last}))
    return SecurityDifference(tuple(new), tuple(gone), tuple(failed))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _change(finding: Finding) -> FindingChange:
    return FindingChange(
        finding.rule, finding.file, finding.span.line, finding.severity, str(finding.message)
    )

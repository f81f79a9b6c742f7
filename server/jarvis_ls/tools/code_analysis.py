"""What tools need of the analysis of the workspace's code; who starts a conversation passes it.

`services["analysis"]` holds a `CodeAnalysis`. Tools know only this, so that the analysis can be
above them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.finding import Finding
from jarvis_ls.runtime.edits.text_file import WorkspacePath
from jarvis_ls.runtime.tools.tool import ToolContext

SERVICE = "analysis"


@dataclass(frozen=True, slots=True)
class Located:
    """A finding and the workspace folder it is in."""

    root: int
    """Number of the folder."""
    finding: Finding


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of the whole workspace."""

    found: tuple[Located, ...]
    """The gravest first."""
    fresh: frozenset[str]
    """Fingerprints that the first survey of the session did not have."""
    notes: tuple[str, ...] = ()
    """What was not examined."""


class CodeAnalysis(Protocol):
    """Findings of the workspace as it is now: on disk, or unsaved in the user's editor."""

    def prepare(self) -> None:
        """Get ready, as questions about files are likely to follow; return at once."""

    async def survey(self) -> Survey:
        """Return all findings; what is stale is scanned. Raises `JarvisError`."""

    async def of_texts(
        self, place: WorkspacePath, texts: Sequence[str]
    ) -> list[list[Finding]] | None:
        """Return the findings of a file with each of these texts, in turn.

        None when its language is not analysed, or the analysis did not come to its end.
        """

    async def why(self, rule: str) -> str:
        """Return why what a rule finds is bad; empty for a rule that is not known."""


def analysis_of(context: ToolContext) -> CodeAnalysis:
    """Return the analysis of the workspace. Raises `JarvisError` where there is none."""
    analysis: CodeAnalysis | None = context.services.get(SERVICE)
    if analysis is None:
        raise JarvisError("The code is not analysed here.")
    return analysis


def finding_line(finding: Finding, name: str) -> str:
    """Return a finding on one line, with the name of its file."""
    cwe = f" CWE-{finding.cwe[0]}" if finding.cwe else ""
    return (
        f"{finding.id} {name}:{finding.span.line} {finding.rule}{cwe} {finding.severity} "
        f"{finding.confidence:.2f} {finding.message}"
    )

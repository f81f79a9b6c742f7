"""What scanning one file gave, and what scanning a folder gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.scan.gaps import Gap
from jarvis_ls.jsec.scan.source_files import Skipped


@dataclass(frozen=True, slots=True)
class FileReport:
    """What scanning one file gave."""

    path: str
    """Path relative to the root, as it is shown."""
    findings: list[Finding] = field(default_factory=list)
    """In order of position; those that comments suppress say so."""
    notes: tuple[str, ...] = ()
    """What of it was not analysed, in words."""
    digest: str = ""
    """Names the bytes of the file."""
    text_digest: str = ""
    """Names its text as UTF-8."""
    includes: tuple[str, ...] = ()
    """Headers it names."""
    context: str = ""
    """Names the texts of the project's headers it includes."""
    skipped: str = ""
    """Why it was not analysed; empty when it was."""
    cached: bool = False
    """Whether an earlier scan had the answer."""
    unit: str = ""
    """Name under which its functions are kept for flow; empty when they are not."""
    settled: bool = False
    """Whether flow has had its say: it takes the place of an earlier report of the file."""
    is_cut: bool = False
    """Whether its analysis ended before all was done: another scan may find more."""


@dataclass(frozen=True, slots=True)
class HeadersUsed:
    """Headers outside of the project that its files reach."""

    count: int = 0
    """How many there are."""
    digest: str = ""
    """Names their contents: two scans with the same one were told the same by them."""


ONLY_OPEN = "The folder was not scanned; only files open in the editor are reported."
"""A warning in reports of an editor that does not scan the whole workspace."""


@dataclass(slots=True)
class ScanResult:
    """What scanning a folder gave."""

    root: str
    """Real path of the folder."""
    findings: list[Finding]
    """Numbered, in order of path and position; hidden ones say why in `suppressed`."""
    digests: dict[str, str]
    """Files that were analysed, in order of path, with what names their bytes."""
    skipped: list[Skipped]
    """What was not analysed."""
    notes: list[Skipped] = field(default_factory=list)
    """What of an analysed file was left out."""
    warnings: list[str] = field(default_factory=list)
    """What else the user should know, such as a cache that cannot be written."""
    cancelled: bool = False
    """Whether it was stopped before its end."""
    seconds: float = 0.0
    """How long it took."""
    cached: int = 0
    """How many files an earlier scan had the answer for."""
    stale_baseline: int = 0
    """How many findings of the baseline are gone."""
    headers: HeadersUsed = HeadersUsed()
    """Headers of the machine that were there to be asked."""
    unsure: int = 0
    """How many findings have a confidence below what the settings ask for."""
    given: Mapping[str, bytes] = field(default_factory=dict)
    """Texts of files that were not read from the folder."""
    gaps: list[Gap] | None = None
    """What the analysis does not know; None when nobody asked."""

    @property
    def shown(self) -> list[Finding]:
        """Findings that nothing hides, the gravest first."""
        return sorted(
            (finding for finding in self.findings if not finding.suppressed), key=by_score
        )


def by_score(finding: Finding) -> tuple[float, str, int, int, str]:
    """Sorts findings: highest score first, then by place."""
    span = finding.span
    return (-finding.score, finding.file, span.line, span.column, finding.rule)

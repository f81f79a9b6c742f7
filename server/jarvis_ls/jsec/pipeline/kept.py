"""What agents have concluded, as an earlier run has kept it, for who shows findings of one file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.core.files import STATE
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.store import read_records
from jarvis_ls.jsec.pipeline.outcome import join_outcome
from jarvis_ls.jsec.pipeline.records import (
    ANALYSIS,
    CLUSTERS,
    Known,
    analysis_of,
    cluster_of,
)
from jarvis_ls.jsec.proof.evidence_store import Signer


class KeptConclusions:
    """The clusters and analyses of a workspace, by file. Reading them changes nothing."""

    def __init__(self, root: Path) -> None:
        """Read what this user's runs have kept below `root`; what others wrote is left out."""
        signer = Signer()
        self._clusters: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._analyses: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for name, rows in ((CLUSTERS, self._clusters), (ANALYSIS, self._analyses)):
            for row in read_records(root / STATE / "sec" / name):
                if signer.is_ours(row) and isinstance(row.get("file"), str):
                    rows[row["file"]].append(row)

    def __contains__(self, file: str) -> bool:
        return file in self._analyses

    def join(self, file: str, digest: str, findings: Sequence[Finding]) -> list[Finding]:
        """Return findings of a file with what was concluded of the text that `digest` names; of
        another text nothing is known."""
        if file not in self._analyses:
            return list(findings)
        numbered = [finding.with_gid(gid) for gid, finding in enumerate(findings, 1)]
        prints = {finding.gid: finding.fingerprint for finding in numbered}
        known = {file: Known(digest, prints, {name: gid for gid, name in prints.items()})}
        clusters = {
            cluster.id: cluster
            for row in self._clusters[file]
            if (cluster := cluster_of(row, known)) is not None
        }
        analyses = {
            analysis.cluster.id: analysis
            for row in self._analyses[file]
            if (analysis := analysis_of(row, known, clusters)) is not None
        }
        joined = join_outcome(numbered, analyses.values())
        pairs = zip(joined, findings, strict=True)
        return [concluded.with_gid(finding.gid) for concluded, finding in pairs]

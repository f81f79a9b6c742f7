"""Where the pipeline stands: read from its files alone, and appended to as it goes.

A process may be killed at any byte. A line is there or it is not; of a cluster or an analysis the
last line counts. Candidates that are in no cluster are clustered (again), clusters without an
analysis are analysed (again): so nothing is lost, and since a candidate belongs to the first
cluster that has it, nothing is there twice.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from typing_extensions import Self

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.files import keep_out_of_git, state_folder
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.lock import Lock
from jarvis_ls.core.store import Appender, line_of, read_records, replace_records
from jarvis_ls.jsec.pipeline.records import (
    ANALYSIS,
    CLUSTERS,
    Analysis,
    Cluster,
    Known,
    analysis_of,
    cluster_of,
    without,
)
from jarvis_ls.jsec.proof.evidence_store import Signer

LOCK = "agent.lock"


class PipelineState:
    """Candidates, clusters and analyses of one workspace; one process at a time holds it."""

    def __init__(self, root: Path, candidates: Sequence[Finding], digests: dict[str, str]) -> None:
        """`candidates` are those of `candidates.jsonl`, as the scan has numbered them; `digests`
        name the bytes of their files.

        Raises `UsageError` when another process works on the workspace, and `JarvisError` when the
        files cannot be written.
        """
        self.candidates = {finding.gid: finding for finding in candidates}
        """By number."""
        self.clusters: dict[str, Cluster] = {}
        """By id, in the order they were made."""
        self.analyses: dict[str, Analysis] = {}
        """By id of the cluster."""
        self._known = _known_files(candidates, digests)
        self._signer = Signer()
        self._folder = state_folder(root, "sec")
        keep_out_of_git(self._folder, CLUSTERS, ANALYSIS, LOCK)
        lock = Lock.take(self._folder / LOCK)
        if isinstance(lock, str):
            raise UsageError("{holder} already analyses {root}.", holder=lock, root=root)
        self._lock = lock
        try:
            self._load()
            self._cluster_file = Appender(self._folder / CLUSTERS)
            self._analysis_file = Appender(self._folder / ANALYSIS)
        except BaseException:
            lock.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cluster_file.close()
        self._analysis_file.close()
        self._lock.release()

    # -- looking -------------------------------------------------------------------------------

    def unclustered(self) -> dict[str, list[Finding]]:
        """Return the candidates that are in no cluster, by file."""
        taken = {gid for cluster in self.clusters.values() for gid in cluster.gids}
        left: dict[str, list[Finding]] = defaultdict(list)
        for gid, finding in self.candidates.items():
            if gid not in taken:
                left[finding.file].append(finding)
        return dict(left)

    def pending(self) -> list[Cluster]:
        """Return the clusters that have no analysis, in the order of their candidates."""
        left = (c for name, c in self.clusters.items() if name not in self.analyses)
        return sorted(left, key=lambda cluster: cluster.gids)

    def next_batch(self, file: str) -> int:
        """Return the first free number of a batch of a file."""
        used = [c.batch_index for c in self.clusters.values() if c.file == file]
        return max(used, default=-1) + 1

    def next_cluster(self, file: str, batch: int) -> int:
        """Return the first free number of a cluster in a batch."""
        used = [
            c.cluster_index
            for c in self.clusters.values()
            if c.file == file and c.batch_index == batch
        ]
        return max(used, default=-1) + 1

    # -- adding --------------------------------------------------------------------------------

    def add_clusters(self, clusters: Iterable[Cluster]) -> None:
        """Keep clusters, all in one write; one with a known id takes its place."""
        signed = [self._sign(cluster) for cluster in clusters]
        if not signed:
            return
        lines = (line_of(self._with_signature(cluster)) for cluster in signed)
        self._cluster_file.append(b"".join(lines))
        self.clusters.update((cluster.id, cluster) for cluster in signed)

    def add_analysis(self, analysis: Analysis) -> None:
        """Keep an analysis. Raises `ValueError` when a candidate of the cluster is lost or twice
        in it."""
        if not analysis.is_complete:
            raise ValueError(f"the analysis of {analysis.cluster.id} is not complete")
        self._analysis_file.append(line_of(self._with_signature(analysis)))
        self.analyses[analysis.cluster.id] = analysis

    def _sign(self, cluster: Cluster) -> Cluster:
        state = self._known[cluster.file]
        prints = tuple(state.prints[gid] for gid in cluster.gids)
        return replace(cluster, fingerprints=prints, digest=state.digest)

    # -- below: reading ------------------------------------------------------------------------

    def _load(self) -> None:
        """Read what is there; the files are written anew when not all of it holds."""
        lines = list(read_records(self._folder / CLUSTERS))
        latest: dict[str, Cluster] = {}
        for line in lines:
            cluster = cluster_of(line, self._known) if self._signer.is_ours(line) else None
            if cluster is not None:
                latest[cluster.id] = cluster
        taken: set[int] = set()
        for cluster in latest.values():
            own = without(cluster, taken)
            if own.gids:
                self.clusters[own.id] = own
                taken.update(own.gids)
        rows = list(read_records(self._folder / ANALYSIS))
        for row in rows:
            if not self._signer.is_ours(row):
                continue
            analysis = analysis_of(row, self._known, self.clusters)
            if analysis is not None:
                self.analyses[analysis.cluster.id] = analysis
        self._replace_changed(CLUSTERS, lines, self.clusters.values())
        self._replace_changed(ANALYSIS, rows, self.analyses.values())

    def _replace_changed(
        self, name: str, before: list[Any], records: Iterable[Cluster | Analysis]
    ) -> None:
        after = [json.loads(line_of(self._with_signature(record))) for record in records]
        if before != after:
            replace_records(self._folder / name, after)

    def _with_signature(self, record: Cluster | Analysis) -> dict[str, Any]:
        """Return the line of a record: a repository must not bring its own conclusions along."""
        plain = record.to_json()
        return {**plain, "signature": self._signer.sign(plain)}


def _known_files(candidates: Iterable[Finding], digests: dict[str, str]) -> dict[str, Known]:
    files: dict[str, Known] = {}
    for finding in candidates:
        known = files.setdefault(finding.file, Known(digests.get(finding.file, ""), {}))
        known.prints[finding.gid] = finding.fingerprint
        known.numbers[finding.fingerprint] = finding.gid
    return files


def forget(root: Path) -> None:
    """Remove what agents have found out, so that the next run begins anew. Raises `JarvisError`
    when it cannot be removed."""
    folder = state_folder(root, "sec")
    for name in (ANALYSIS, CLUSTERS):  # the analyses first: they speak of the clusters
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise JarvisError(
                "cannot remove {path}: {why}", path=folder / name, why=error.strerror or error
            ) from None

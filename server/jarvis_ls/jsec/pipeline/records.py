"""What the stages leave in `.jarvis/sec`: one line a cluster, one line an analysis.

The fields are those of the seeds. Beside them a record has the fingerprints of its candidates and
names the bytes of their file: numbers change from scan to scan, and what was said of a file holds
only for that text.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

FIELDS = ("preconditions", "trigger_path", "consequences", "suggestions")
"""What must be said of every flaw."""
CLUSTERS = "clusters.jsonl"
ANALYSIS = "analysis.jsonl"
_LISTS = ("verified_gids", "false_positive_gids", "undecided_gids")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Candidates of one file that the same condition decides."""

    file: str
    batch_index: int
    cluster_index: int
    gids: tuple[int, ...]
    verification: str
    """The condition to check."""
    is_invalid: bool = False
    """Whether they are held to be no flaws."""
    invalid_reason: str = ""
    """Why they are."""
    review_notes: tuple[str, ...] = ()
    """What reviewers said of that reason."""
    fingerprints: tuple[str, ...] = ()
    """Of the candidates, in the order of `gids`."""
    digest: str = ""
    """Names the bytes of the file."""

    @property
    def id(self) -> str:
        """Return `file|batch|cluster`."""
        return f"{self.file}|{self.batch_index}|{self.cluster_index}"

    def to_json(self) -> dict[str, Any]:
        """Return the line of `clusters.jsonl`."""
        return {
            "cluster_id": self.id,
            "file": self.file,
            "batch_index": self.batch_index,
            "cluster_index": self.cluster_index,
            "gids": list(self.gids),
            "verification": self.verification,
            "is_invalid": self.is_invalid,
            "invalid_reason": self.invalid_reason,
            "review_notes": list(self.review_notes),
            "fingerprints": list(self.fingerprints),
            "digest": self.digest,
        }


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found out about a cluster; each of its candidates is in one of the three lists."""

    cluster: Cluster
    verified_gids: tuple[int, ...] = ()
    """Flaws that analysis and verification agree on, or that a run has shown."""
    false_positive_gids: tuple[int, ...] = ()
    """No flaws: a checked invariant says so, or two reviewers could not break the reason."""
    undecided_gids: tuple[int, ...] = ()
    """Neither."""
    issues: tuple[dict[str, Any], ...] = ()
    """The four fields of the verified ones, and of undecided ones that have them."""
    dismissals: tuple[dict[str, Any], ...] = ()
    """For the others: the reason, what it rests on, what reviewers said."""
    agents: tuple[str, ...] = ()
    """Session and node of each agent that had a part in it, as `session/node`."""

    @property
    def is_complete(self) -> bool:
        """Return whether each candidate of the cluster is in exactly one list."""
        told = [*self.verified_gids, *self.false_positive_gids, *self.undecided_gids]
        return sorted(told) == sorted(self.cluster.gids)

    def to_json(self) -> dict[str, Any]:
        """Return the line of `analysis.jsonl`."""
        cluster = self.cluster
        return {
            "cluster_id": cluster.id,
            "file": cluster.file,
            "batch_index": cluster.batch_index,
            "cluster_index": cluster.cluster_index,
            "gids": list(cluster.gids),
            "verified_gids": list(self.verified_gids),
            "false_positive_gids": list(self.false_positive_gids),
            "undecided_gids": list(self.undecided_gids),
            "issues": list(self.issues),
            "dismissals": list(self.dismissals),
            "agents": list(self.agents),
            "fingerprints": list(cluster.fingerprints),
            "digest": cluster.digest,
        }


@dataclass(frozen=True, slots=True)
class Known:
    """What the present scan says of a file's candidates, to read records by."""

    digest: str
    """Names the bytes of the file."""
    prints: dict[int, str]
    """Fingerprints by number."""
    numbers: dict[str, int] = field(default_factory=dict)
    """Numbers by fingerprint."""

    def renumber(self, gids: Any, prints: Any) -> dict[int, int] | None:
        """Return the present number of each candidate of a record that is still there, by the
        number it had; None when the record cannot be understood."""
        if not _is_list(gids, int) or len(set(gids)) != len(gids):
            return None
        if not prints:  # of who writes no fingerprints
            return {gid: gid for gid in gids if gid in self.prints}
        if not _is_list(prints, str) or len(prints) != len(gids):
            return None
        pairs = zip(gids, prints, strict=True)
        return {gid: self.numbers[name] for gid, name in pairs if name in self.numbers}


def cluster_of(record: Any, known: dict[str, Known]) -> Cluster | None:
    """Return the cluster of a line as far as its candidates are still there; None when there are
    none, the file has changed, or the line is no cluster."""
    found = _renumber(record, known)
    if found is None:
        return None
    file, numbers = found
    gids = tuple(dict.fromkeys(numbers.values()))
    invalid, reason = record.get("is_invalid"), record.get("invalid_reason", "")
    verification = record.get("verification")
    if not isinstance(invalid, bool) or not isinstance(verification, str) or not gids:
        return None
    if not isinstance(reason, str) or (invalid and not reason.strip()):
        return None  # the seeds: without its reason it is clustered again
    notes = record.get("review_notes")
    place = record.get("batch_index"), record.get("cluster_index")
    if not all(type(number) is int and number >= 0 for number in place):
        return None
    state = known[file]
    return Cluster(
        file,
        *place,
        gids,
        verification,
        invalid,
        reason,
        tuple(notes) if _is_list(notes, str) else (),
        tuple(state.prints[gid] for gid in gids),
        state.digest,
    )


def analysis_of(
    record: Any, known: dict[str, Known], clusters: dict[str, Cluster]
) -> Analysis | None:
    """Return the analysis of a line; None when it is not one of a cluster as it is now."""
    found = _renumber(record, known)
    cluster = clusters.get(record["cluster_id"]) if found and _has_id(record) else None
    if found is None or cluster is None:
        return None
    numbers = found[1]
    lists = [_numbers(record.get(name, []), numbers) for name in _LISTS]
    if any(gids is None for gids in lists):
        return None
    verified, dismissed, undecided = (gids or () for gids in lists)
    agents = record.get("agents")
    analysis = Analysis(
        cluster,
        verified,
        dismissed,
        undecided,
        _entries(record.get("issues"), numbers),
        _entries(record.get("dismissals"), numbers),
        tuple(agents) if _is_list(agents, str) else (),
    )
    return analysis if analysis.is_complete else None


def without(cluster: Cluster, taken: set[int]) -> Cluster:
    """Return a cluster without some of its candidates."""
    kept = [i for i, gid in enumerate(cluster.gids) if gid not in taken]
    prints = cluster.fingerprints
    return replace(
        cluster,
        gids=tuple(cluster.gids[i] for i in kept),
        fingerprints=tuple(prints[i] for i in kept) if prints else (),
    )


def _renumber(record: Any, known: dict[str, Known]) -> tuple[str, dict[int, int]] | None:
    """Return the file of a record and what its candidates are called now."""
    if not isinstance(record, dict) or not isinstance(record.get("file"), str):
        return None
    state = known.get(record["file"])
    if state is None or record.get("digest", state.digest) != state.digest:
        return None
    numbers = state.renumber(record.get("gids"), record.get("fingerprints"))
    return None if numbers is None else (record["file"], numbers)


def _numbers(gids: Any, numbers: dict[int, int]) -> tuple[int, ...] | None:
    """Return the present numbers of a list; None when it is none."""
    if not _is_list(gids, int):
        return None
    return tuple(numbers[gid] for gid in gids if gid in numbers)


def _entries(entries: Any, numbers: dict[int, int]) -> tuple[dict[str, Any], ...]:
    """Return the entries about candidates that are there, with their present numbers."""
    return tuple(
        {**entry, "gid": numbers[entry["gid"]]}
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and type(entry.get("gid")) is int and entry["gid"] in numbers
    )


def _has_id(record: dict[str, Any]) -> bool:
    return isinstance(record.get("cluster_id"), str)


def _is_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(type(item) is kind for item in value)

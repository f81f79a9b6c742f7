"""What a change of a repository touches: its symbols, their users, tests, findings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jarvis_ls.codeintel.change.impact import ImpactReport
    from jarvis_ls.codeintel.change.repository import Repository


def measure_range(root: Path, text: str, *, findings: bool, keep: bool = True) -> ImpactReport:
    """Return the report of a range of revisions, see `parse_range`, of the work tree at `root`.

    Without `findings` nothing is analysed; without `keep` nothing is written. Raises `JarvisError`.
    """
    from jarvis_ls.codeintel.change.difference import parse_range, read_difference
    from jarvis_ls.codeintel.change.repository import Repository

    repository = Repository(root)
    before, after = parse_range(text)
    found = read_difference(repository, before, after)
    return measure(repository, after, found.before, found.after, findings=findings, keep=keep)


def measure(
    repository: Repository,
    state: str,
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    *,
    findings: bool,
    keep: bool = True,
) -> ImpactReport:
    """Return the report of a difference, whose later state is `state`."""
    from jarvis_ls.assembly.security_difference import compare_findings
    from jarvis_ls.assembly.symbol_graph import open_symbols
    from jarvis_ls.codeintel.change.difference import graph_of
    from jarvis_ls.codeintel.change.impact import impact_of
    from jarvis_ls.codeintel.graph.store import SymbolStore

    store = open_symbols(repository.root) if keep else SymbolStore()
    try:
        graph = graph_of(store, repository, state)
        security = compare_findings(repository.root, before, after) if findings else None
        return impact_of(before, after, graph, security.summary() if security else None)
    finally:
        store.close()

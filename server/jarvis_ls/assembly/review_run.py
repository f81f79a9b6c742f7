"""A review from the repository to the issues: what `jarvis review` and the editor run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from jarvis_ls.assembly.security_difference import compare_findings
from jarvis_ls.assembly.symbol_graph import open_symbols
from jarvis_ls.codeintel.change.deletion_guard import guard_deletions
from jarvis_ls.codeintel.change.difference import graph_of, read_difference
from jarvis_ls.codeintel.change.impact import ImpactReport, impact_of
from jarvis_ls.codeintel.change.repository import Repository, find_work_tree
from jarvis_ls.codeintel.change.symbol_changes import changed_symbols
from jarvis_ls.core.files import user_folder
from jarvis_ls.review.dismissals import Dismissals, keys_of
from jarvis_ls.review.issues import Issue, Review
from jarvis_ls.review.reviewing import review_change
from jarvis_ls.review.roles import Role
from jarvis_ls.runtime.base.events import Budget

Tell = Callable[[int, int], None]
"""Hears how many readings of agents are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A change that was reviewed without a model, and what agents need to read it."""

    repository: Repository
    """Where it is."""
    state: str
    """What it leads to: a revision, `STAGED` or `WORKING`."""
    before: Mapping[str, bytes]
    """Contents by path."""
    after: Mapping[str, bytes]
    """Contents by path."""
    impact: ImpactReport
    """What it touches."""
    review: Review
    """What was found."""

    def keys(self) -> dict[Issue, str]:
        """Return what each issue is known by."""
        return keys_of(self.review.issues, self.after)

    def without_dismissed(self) -> Reviewed:
        """Return it without the issues that the user has dismissed before; they are counted."""
        known = Dismissals(user_folder(), self.repository.root).read()
        if not known:
            return self
        keys = self.keys()
        kept = tuple(issue for issue in self.review.issues if keys[issue] not in known)
        count = self.review.dismissed + len(self.review.issues) - len(kept)
        return replace(self, review=replace(self.review, issues=kept, dismissed=count))


@dataclass(frozen=True, slots=True)
class AgentsWanted:
    """Which agents read a change."""

    group: str = ""
    """Model group, or `provider/model`; empty takes that of the user's settings."""
    roles: tuple[Role, ...] = tuple(Role)
    """What they look for."""
    jobs: int = 4
    """Agents at the same time."""
    budget: Budget = field(default_factory=Budget)
    """What all of them may spend."""
    notes: str = ""
    """The user's own words for each."""


def review_repository(folder: Path, before: str, after: str) -> Reviewed:
    """Return the review of a change without a model; call it off the event loop.

    Raises `UsageError` when there is no repository, or a state cannot be read.
    """
    root = find_work_tree(folder)
    repository = Repository(root)
    difference = read_difference(repository, before, after)
    old, new = difference.before, difference.after
    store = open_symbols(root)
    try:
        with ThreadPoolExecutor(1) as beside:  # which waits for another process
            analysis = beside.submit(compare_findings, root, old, new)
            changes = changed_symbols(old, new)
            losses = guard_deletions(old, new, changes=changes)
            graph = graph_of(store, repository, after)
            security = analysis.result()
        impact = impact_of(old, new, graph, security.summary(), changes)
    finally:
        store.close()
    review = review_change(
        old,
        new,
        impact,
        losses,
        security.new,
        difference.left_out,
        security.not_analysed,
    )
    return Reviewed(repository, after, old, new, impact, review).without_dismissed()


async def let_agents_read(
    reviewed: Reviewed, wanted: AgentsWanted, environment: Mapping[str, str], tell: Tell
) -> tuple[Reviewed, str]:
    """Return the review with what agents found in the change, and why none could be asked, in
    words; empty when they were."""
    from jarvis_ls.assembly.bootstrap import build
    from jarvis_ls.assembly.reviewing import ReviewersWanted, open_reviewers
    from jarvis_ls.review.model_review import ModelReview, review_with_models

    assembly = build(environment=environment)
    try:
        group = wanted.group or assembly.tree_settings("").group("child")
        if why := assembly.missing_model(group):
            return reviewed, why
        change = ModelReview(
            reviewed.review,
            reviewed.before,
            reviewed.after,
            reviewed.impact,
            group,
            wanted.roles,
            wanted.notes,
        )
        place = ReviewersWanted(reviewed.state, group, wanted.jobs, wanted.budget)
        async with open_reviewers(assembly, reviewed.repository, place) as reviewers:
            review = await review_with_models(change, reviewers, tell)
    finally:
        await assembly.close()
    return replace(reviewed, review=review).without_dismissed(), ""

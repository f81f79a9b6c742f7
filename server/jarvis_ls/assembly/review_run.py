"""A review from the repository to the issues: what `jarvis review` and the editor run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from jarvis_ls.assembly.security_difference import compare_findings
from jarvis_ls.assembly.symbol_graph import open_symbols
from jarvis_ls.codeintel.change.deletion_guard import guard_deletions
from jarvis_ls.codeintel.change.difference import graph_of, read_difference
from jarvis_ls.codeintel.change.impact import ImpactReport, impact_of
from jarvis_ls.codeintel.change.repository import Repository
from jarvis_ls.codeintel.change.symbol_changes import changed_symbols
from jarvis_ls.core.files import user_folder
from jarvis_ls.core.work_tree import find_work_tree
from jarvis_ls.review.decisions import Decisions, keys_of
from jarvis_ls.review.issues import Issue, Review
from jarvis_ls.review.recollections import with_notes, words_of
from jarvis_ls.review.reviewing import review_change
from jarvis_ls.review.roles import Role
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.memory.entry import MemoryEntry
from jarvis_ls.runtime.memory.memory import Memory

_MOST_RECALLED = 60
"""Notes of the project's memory that are looked through for one change."""

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

    def decided(self) -> Reviewed:
        """Return it with what the user has decided before: issues they accepted are marked, those
        they dismissed are left out and counted."""
        known = Decisions(user_folder(), self.repository.root).read()
        if not known:
            return self
        outcomes = {issue: known[key].outcome for issue, key in self.keys().items() if key in known}
        kept = tuple(
            replace(issue, is_accepted=issue in outcomes)
            for issue in self.review.issues
            if outcomes.get(issue) != "dismissed"
        )
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
    learns: bool = False
    """Whether the project's memory is built meanwhile, for the next time."""


def review_repository(folder: Path, before: str, after: str, *, trusted: bool) -> Reviewed:
    """Return the review of a change without a model; call it off the event loop. What the memory of
    a folder says is used only where it is `trusted`.

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
    if trusted and review.units:
        review = with_notes(review, _recall(root, review))
    return Reviewed(repository, after, old, new, impact, review).decided()


def _recall(root: Path, review: Review) -> list[MemoryEntry]:
    memory = Memory(user_folder(), root, trusted=True)
    paths = {path for unit in review.units for path in (unit.path, unit.old_path)}
    return memory.on_files_now(paths, words_of(review.units), _MOST_RECALLED)


async def let_agents_read(
    reviewed: Reviewed, wanted: AgentsWanted, environment: Mapping[str, str], tell: Tell
) -> tuple[Reviewed, str]:
    """Return the review with what agents found in the change, and why none could be asked, in
    words; empty when they were."""
    from jarvis_ls.assembly.bootstrap import build
    from jarvis_ls.assembly.project_memory import learning_beside
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
        async with contextlib.AsyncExitStack() as stack:
            if wanted.learns:
                await stack.enter_async_context(learning_beside(reviewed.repository.root))
            opened = open_reviewers(assembly, reviewed.repository, place)
            reviewers = await stack.enter_async_context(opened)
            review = await review_with_models(change, reviewers, tell)
    finally:
        await assembly.close()
    return replace(reviewed, review=review).decided(), ""

"""The rules by which a tree of agents grows: who may have children, how many, and what they are
called. Breaking one raises `ConstraintBroken`, whose words a model can act on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from jarvis_ls.agents.errors import ConstraintBroken
from jarvis_ls.agents.node import TITLE_LENGTH, TYPES, Assignment, Node, TreeSettings
from jarvis_ls.runtime.base.events import Budget


def check_growth(
    nodes: Mapping[str, Node], above: Node, assignment: Assignment, limit: TreeSettings
) -> None:
    """Return whether `above`, one of all `nodes`, may have such a child. Raises
    `ConstraintBroken`.
    """
    title = above.info.title
    if assignment.kind not in TYPES[above.kind].children:
        problem = (
            "an act-only agent has no children" if above.kind == "act" else "a session has one root"
        )
        raise ConstraintBroken(
            "“{title}” cannot have a {kind} below it: {problem}.",
            title=title,
            kind=assignment.kind,
            problem=problem,
        )
    if above.state in ("failed", "cancelled"):
        raise ConstraintBroken(
            "“{title}” is {state} and cannot start agents.", title=title, state=above.state
        )
    if above.depth + 1 > limit.depth:
        raise ConstraintBroken(
            "The tree is {depth} levels deep; do it here instead.", depth=limit.depth
        )
    if sum(not child.final for child in above.children.values()) >= limit.children:
        raise ConstraintBroken(
            "“{title}” already has {children} running sub-agents.",
            title=title,
            children=limit.children,
        )
    if len(nodes) >= limit.nodes and done_longest(nodes.values(), above) is None:
        raise ConstraintBroken("The session already has {nodes} running agents.", nodes=limit.nodes)


def done_longest(nodes: Iterable[Node], above: Node) -> Node | None:
    """Return the first node all of whose subtree has ended, and that is not above a new one."""
    kept = set(above.lineage())
    for node in nodes:
        if node not in kept and all(below.final for below in node.subtree()):
            return node
    return None


def own_title(above: Node, shown: str) -> str:
    """Return the title, with a number when another child of `above` has it."""
    taken = {child.info.title for child in above.children.values()}
    number, title = 2, shown
    while title in taken:
        title, number = f"{shown[: TITLE_LENGTH - 8].rstrip()} ({number})", number + 1
    return title


def check_budget(budget: Budget) -> None:
    """Raise `ConstraintBroken` for a budget that makes no sense."""
    for name, limit in (("tokens", budget.tokens), ("cost", budget.cost)):
        if limit is not None and (not isinstance(limit, (int, float)) or not limit >= 0):
            raise ConstraintBroken("Invalid budget: {limit} {name}.", limit=limit, name=name)

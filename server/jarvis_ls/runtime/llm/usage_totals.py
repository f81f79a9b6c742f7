"""What calls of models cost: per agent, with those below it, and for the whole session.

Every sum comes from the journal's `spent` records, one for each request that a provider
reported something for, answered or not; so retries and broken answers count as they are billed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from jarvis_ls.runtime.base.messages import Usage


@dataclass(frozen=True, slots=True)
class Total:
    """Some calls together."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)

    def __add__(self, other: Total) -> Total:
        return Total(self.calls + other.calls, self.usage + other.usage)


class Totals:
    """The calls of one session, added up as they come."""

    def __init__(self) -> None:
        self._nodes: dict[str, Total] = {}
        self._labels: dict[str, Total] = {}
        self._parents: dict[str, str | None] = {}
        self._all = Total()

    def add(self, node: str, label: str, usage: Usage) -> None:
        """One call of an agent; `label` says of what."""
        call = Total(1, usage)
        self._nodes[node] = self._nodes.get(node, Total()) + call
        self._labels[label] = self._labels.get(label, Total()) + call
        self._all = self._all + call

    def place(self, node: str, parent: str | None) -> None:
        """Place an agent below another.

        It stays there when it is removed from the tree, because it was paid for.
        """
        self._parents[node] = parent

    @property
    def session(self) -> Total:
        """All calls."""
        return self._all

    @property
    def labels(self) -> Mapping[str, Total]:
        """By label."""
        return dict(self._labels)

    def node(self, node: str) -> Total:
        """Return the total of an agent's calls."""
        return self._nodes.get(node, Total())

    def subtree(self, node: str) -> Total:
        """Return the total of the calls of an agent and its subtree."""
        return sum((self.node(n) for n in {node, *self._nodes} if self._within(n, node)), Total())

    def _within(self, node: str, top: str) -> bool:
        return any(above == top for above in self._line(node))

    def _line(self, node: str) -> Iterator[str]:
        """Yield the agent and all above it."""
        seen: set[str] = set()
        at: str | None = node
        while at is not None and at not in seen:
            seen.add(at)
            yield at
            at = self._parents.get(at)

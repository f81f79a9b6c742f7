"""What tools have shown of candidates: the only thing that decides without a second opinion.

Agents reach this through the tools of `tools/`; the stages ask it before they believe anybody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from jarvis_ls.core.finding import Finding, Proof
from jarvis_ls.jsec.proof.evidence import Strength, Verdict

SOUND = frozenset({Strength.PROVEN.value, Strength.UNSAT.value})
"""Refutations that hold for all inputs."""

Prove = Callable[[Finding], Awaitable[Proof]]
"""Builds and runs the code of a candidate, keeps the evidence and returns it."""
Replay = Callable[[str], Awaitable[str]]
"""Runs a case again; returns what it shows, in words."""


class Invariants(Protocol):
    """Checks invariants, and knows those that were checked by their ids."""

    async def check(self, finding: Finding, expression: str) -> str:
        """Return what became of an invariant of a finding, with its id, in words. Raises
        `JarvisError` when it cannot be checked."""

    def holds(self, invariant: str, finding: Finding) -> bool:
        """Return whether the invariant was checked and rules the finding out."""


class Examiner:
    """Knows the evidence of each candidate and gets more of it."""

    def __init__(
        self,
        candidates: Mapping[int, Finding],
        *,
        prove: Prove | None = None,
        replay: Replay | None = None,
        invariants: Invariants | None = None,
    ) -> None:
        """Without `prove` nothing is run: the workspace is not trusted, or nothing can be."""
        self._candidates = candidates
        self._prove = prove
        self._replay = replay
        self._invariants = invariants
        self._found: dict[int, Proof] = {
            gid: finding.proof for gid, finding in candidates.items() if finding.proof is not None
        }
        self._tried: set[int] = set()
        self._running = asyncio.Lock()

    @property
    def can_run(self) -> bool:
        """Return whether code can be run to find evidence."""
        return self._prove is not None

    def candidate(self, gid: int) -> Finding | None:
        """Return the candidate with that number."""
        return self._candidates.get(gid)

    def proof(self, gid: int) -> Proof | None:
        """Return what is known."""
        return self._found.get(gid)

    def is_reproduced(self, gid: int) -> bool:
        """Return whether a run has done it."""
        known = self._found.get(gid)
        return known is not None and known.verdict == Verdict.REPRODUCED.value

    def refutation(self, gid: int, invariant: str = "") -> str:
        """Return what rules a candidate out for all inputs: the name of what has checked it, or
        the id of the invariant that an agent names if that was checked; empty when nothing does.
        """
        known = self._found.get(gid)
        if known is not None and known.verdict == Verdict.REFUTED.value and known.strength in SOUND:
            return known.rung or known.strength
        finding = self._candidates.get(gid)
        if invariant and finding is not None and self._invariants is not None:
            return invariant if self._invariants.holds(invariant, finding) else ""
        return ""

    async def prove(self, gid: int) -> Proof | None:
        """Return the evidence of a candidate, found by running its code once if there is none; None
        when nothing can be run or there is no such candidate. One program runs at a time."""
        finding = self._candidates.get(gid)
        async with self._running:
            if self._prove is None or finding is None or gid in self._tried:
                return self._found.get(gid)
            known = self._found.get(gid)
            if known is None or known.verdict == Verdict.UNPROVEN.value:
                self._found[gid] = await self._prove(finding)
            self._tried.add(gid)
            return self._found[gid]

    async def check_invariant(self, gid: int, expression: str) -> str:
        """Return what became of an invariant of a candidate, in words; empty when nothing can be
        run or there is no such candidate. Raises `JarvisError` when it cannot be checked."""
        finding = self._candidates.get(gid)
        async with self._running:
            if self._invariants is None or finding is None:
                return ""
            return await self._invariants.check(finding, expression)

    async def replay(self, case: str) -> str:
        """Return what a case shows when it is run again; empty when nothing can be run."""
        async with self._running:
            return "" if self._replay is None else await self._replay(case)

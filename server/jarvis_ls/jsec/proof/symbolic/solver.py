"""Asks z3 whether conditions may hold at once, and leaves out of a question what does not matter.

Conditions that share no variable, also not by way of others, with what is asked cannot change the
answer as long as they may hold themselves. Division by a variable costs the solver seconds, and
most questions are answered without: what cannot hold with fewer conditions cannot hold with more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import z3

from jarvis_ls.jsec.proof.symbolic.terms import Truth

_SECONDS = 2.0
"""For one question."""
_HARD_SECONDS = 0.5
"""For one with a division in it."""
_MOST_STUCK = 3
"""After so many of those without an answer none is asked any more."""
_MOST_MODELS = 3
_DIVISIONS = frozenset(
    {
        z3.Z3_OP_BUDIV,
        z3.Z3_OP_BSDIV,
        z3.Z3_OP_BUREM,
        z3.Z3_OP_BSREM,
        z3.Z3_OP_BSMOD,
        z3.Z3_OP_BUDIV_I,
        z3.Z3_OP_BSDIV_I,
        z3.Z3_OP_BUREM_I,
        z3.Z3_OP_BSREM_I,
    }
)


class Solver:
    """Answers questions about paths."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[z3.ExprRef, frozenset[int], bool]] = {}
        """Of each condition, by its number: itself, its variables, whether it divides by one."""
        self._stuck = 0
        self.unanswered = 0
        """How many questions took too long."""
        self._models: deque[z3.ModelRef] = deque(maxlen=_MOST_MODELS)
        """Values for which the last questions had a yes: they often answer the next one too."""

    def is_possible(
        self, path: Sequence[Truth], more: Sequence[Truth], seconds: float, *, whole: bool = False
    ) -> bool:
        """Return whether the conditions of a path and some more may hold at once; True as well when
        that is not found out in `seconds`. With `whole`, no condition is left out.
        """
        asked = self._relevant(path, more)
        is_hard = [self._about(term)[2] for term in asked]
        if any(is_hard):
            plain = [term for term, hard in zip(asked, is_hard, strict=True) if not hard]
            if plain and _check([*plain], min(_SECONDS, seconds)) == z3.unsat:
                return False
        if not whole or len(asked) == len(path) + len(more):
            return self._may_hold(asked, seconds)
        return self._may_hold(asked, seconds) and self._may_hold([*path, *more], seconds)

    def failing(
        self, path: Sequence[Truth], claims: Sequence[Truth], left: Callable[[], float]
    ) -> set[int]:
        """Return the numbers of the claims that may not hold where the conditions of a path do. All
        are asked at once; what a model makes false is left out of the next question. `left` says
        how many seconds there are.
        """
        found: set[int] = set()
        open_ = [number for number, claim in enumerate(claims) if claim is not True]
        while open_:
            wrong = z3.Or(*(z3.Not(claims[number]) for number in open_))
            terms = [*path, wrong]
            is_hard = any(self._about(term)[2] for term in terms)
            models: deque[z3.ModelRef] = deque(maxlen=1)
            seconds = min(_HARD_SECONDS if is_hard else _SECONDS, left())
            answer = _check(terms, seconds, models)
            if answer == z3.unsat:
                break
            false = [
                number for number in open_ if models and not _is_model(models[0], [claims[number]])
            ]
            if not false:  # not found out: one by one
                false = [
                    number
                    for number in open_
                    if self.is_possible(path, [z3.Not(claims[number])], left(), whole=True)
                ]
                return found | set(false)
            found |= set(false)
            open_ = [number for number in open_ if number not in found]
        return found

    def _may_hold(self, terms: Sequence[Truth], seconds: float) -> bool:
        if any(_is_model(model, terms) for model in self._models):
            return True
        if not any(self._about(term)[2] for term in terms):
            found = _check(terms, min(_SECONDS, seconds), self._models)
            self.unanswered += found == z3.unknown
            return bool(found != z3.unsat)
        if self._stuck >= _MOST_STUCK:
            self.unanswered += 1
            return True
        found = _check(terms, min(_HARD_SECONDS, seconds))
        self._stuck += found == z3.unknown
        self.unanswered += found == z3.unknown
        return bool(found != z3.unsat)

    def _relevant(self, path: Sequence[Truth], more: Sequence[Truth]) -> list[Truth]:
        """Return what is asked, and the conditions that are tied to it by variables."""
        wanted = frozenset().union(*(self._about(term)[1] for term in more))
        if not wanted:
            return [*path, *more]
        found: list[Truth] = []
        left = list(path)
        grown = True
        while grown and left:
            tied = [term for term in left if not wanted.isdisjoint(self._about(term)[1])]
            grown = bool(tied)
            found += tied
            left = [term for term in left if wanted.isdisjoint(self._about(term)[1])]
            wanted = wanted.union(*(self._about(term)[1] for term in tied))
        return [*found, *more]

    def _about(self, term: Truth) -> tuple[z3.ExprRef, frozenset[int], bool]:
        """Return what is known of a condition. It is kept, so that its number stays its own."""
        if isinstance(term, bool):
            term = z3.BoolVal(term)
        known = self._known.get(term.get_id())
        if known is None:
            known = self._known[term.get_id()] = (term, *_variables(term))
        return known


def _is_model(model: z3.ModelRef, terms: Sequence[Truth]) -> bool:
    """Return whether conditions hold for some values of variables; others are zero."""
    return all(
        term if isinstance(term, bool) else z3.is_true(model.eval(term, model_completion=True))
        for term in terms
    )


def _variables(term: z3.ExprRef) -> tuple[frozenset[int], bool]:
    """Return the variables of a condition, by number, and whether it divides by one."""
    seen: set[int] = set()
    found: set[int] = set()
    is_hard = False
    waiting = [term]
    while waiting:
        node = waiting.pop()
        if node.get_id() in seen:
            continue
        seen.add(node.get_id())
        below = node.children()
        if not below and z3.is_const(node) and node.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found.add(node.get_id())
        if node.decl().kind() in _DIVISIONS and not z3.is_bv_value(below[1]):
            is_hard = True
        waiting += below
    return frozenset(found), is_hard


def _check(
    terms: Sequence[Truth], seconds: float, models: deque[z3.ModelRef] | None = None
) -> z3.CheckSatResult:
    """Return whether some conditions may hold at once; a model of them goes to `models`."""
    solver = z3.SolverFor("QF_BV")
    solver.set("timeout", max(1, int(1000 * seconds)))
    solver.add(*terms)
    found = solver.check()
    if models is not None and found == z3.sat:
        models.appendleft(solver.model())
    return found

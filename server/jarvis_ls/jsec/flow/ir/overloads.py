"""Which of several functions of one name a call means, by number and types of its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.nodes import Type

_T = TypeVar("_T")


def best(functions: Iterable[FunctionIR], given: Sequence[Type]) -> FunctionIR | None:
    """Return the definition that fits arguments of these types best; None when none does."""
    return _best(
        ((function, _parameters(function), function.variadic) for function in functions), given
    )


def signature(known: Iterable[Type], given: Sequence[Type]) -> Type | None:
    """Return the function type that fits arguments of these types best; None when none does."""
    return _best(((type_, type_[2] or (), bool(type_[3])) for type_ in known), given)


def _best(known: Iterable[tuple[_T, Sequence[Type], bool]], given: Sequence[Type]) -> _T | None:
    found: _T | None = None
    top = 0
    for candidate, wanted, variadic in known:
        score = _fit(wanted, given, variadic=variadic)
        if score is not None and (found is None or score > top):
            found, top = candidate, score
    return found


def _parameters(function: FunctionIR) -> list[Type]:
    """Types of the parameters, without `this`."""
    slots = function.params[1:] if function.record and not function.static else function.params
    return [function.slots[slot][1] for slot in slots]


def _fit(wanted: Sequence[Type], given: Sequence[Type], *, variadic: bool) -> int | None:
    """Return a score of how well arguments fit to parameters; None when they do not."""
    if len(given) > len(wanted) and not variadic:
        return None
    score = len(given) - len(wanted)  # the others have defaults
    for to, from_ in zip(wanted, given, strict=False):
        likeness = _alike(to[1] if to[0] == "&" else to, from_[1] if from_[0] == "&" else from_)
        if likeness is None:
            return None
        score += likeness
    return score


def _alike(to: Type, from_: Type) -> int | None:
    """Return a score of how alike two types are; None when one never becomes the other."""
    if to[:2] == from_[:2]:
        return 4
    kinds = {to[0], from_[0]}
    if "?" in kinds:
        return 0
    if kinds <= {"i", "f"}:
        return 3 if to[0] == from_[0] else 2
    if to[0] == "p" and from_[0] in ("p", "a", "fn", "i"):
        return 2 if from_[0] == "a" and to[1] == from_[1] else 1 if from_[0] in ("p", "a") else 0
    if to[0] == "r" == from_[0]:
        return 0  # one may derive from the other
    if to[0] == "c" and from_[0] in ("p", "a"):
        return 0  # a string of a literal
    return None

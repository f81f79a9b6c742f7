"""Which of several functions of one name a call means, by number and types of its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Container,
    Float,
    FunctionType,
    Integer,
    Pointer,
    Record,
    Reference,
    Type,
)

_T = TypeVar("_T")


def best(functions: Iterable[FunctionIR], given: Sequence[Type]) -> FunctionIR | None:
    """Return the definition that fits arguments of these types best; None when none does."""
    return _best(
        ((function, _parameters(function), function.variadic) for function in functions), given
    )


def signature(known: Iterable[FunctionType], given: Sequence[Type]) -> FunctionType | None:
    """Return the function type that fits arguments of these types best; None when none does."""
    return _best(((type_, type_.parameters or (), type_.variadic) for type_ in known), given)


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
        likeness = _alike(
            to.inner if isinstance(to, Reference) else to,
            from_.inner if isinstance(from_, Reference) else from_,
        )
        if likeness is None:
            return None
        score += likeness
    return score


def _alike(to: Type, from_: Type) -> int | None:
    """Return a score of how alike two types are; None when one never becomes the other."""
    if to is from_ or to.plain[:2] == from_.plain[:2]:
        return 4
    if to is ANY or from_ is ANY:
        return 0
    if isinstance(to, (Integer, Float)) and isinstance(from_, (Integer, Float)):
        return 3 if type(to) is type(from_) else 2
    if isinstance(to, Pointer) and isinstance(from_, (Pointer, Array, FunctionType, Integer)):
        return (
            2
            if isinstance(from_, Array) and to.inner == from_.inner
            else 1
            if isinstance(from_, (Pointer, Array))
            else 0
        )
    if isinstance(to, Record) and isinstance(from_, Record):
        return 0  # one may derive from the other
    if isinstance(to, Container) and isinstance(from_, (Pointer, Array)):
        return 0  # a string of a literal
    return None

"""One call of a library function, and its arguments that are sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jarvis_ls.jsec.flow.checks import ownership
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import OTHER, AbstractValue
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS
from jarvis_ls.jsec.flow.ir.c_types import INT
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.types import Integer, Type


class Call:
    """One call of a library function."""

    __slots__ = ("args", "name", "result", "span", "types", "value", "values")

    def __init__(
        self,
        name: str,
        values: list[AbstractValue],
        types: tuple[Type, ...],
        result: Type,
        span: Span,
        args: Sequence[Expr],
    ) -> None:
        self.name = name
        self.values = values
        self.types = types
        self.result = result
        self.span = span
        self.args = args
        self.value: AbstractValue | None = None

    def arg(self, index: int) -> AbstractValue | None:
        """Return the argument at a position, or None when there is none."""
        return self.values[index] if 0 <= index < len(self.values) else None


def product(call: Call, sizes: Any) -> AbstractValue | None:
    """One size, or the product of several."""
    if isinstance(sizes, int):
        return call.arg(sizes)
    found: AbstractValue | None = None
    for index in sizes:
        value = call.arg(index)
        if value is None:
            return None
        if found is None:
            found = value
        else:
            found = AbstractValue(
                found.low * value.low if found.low >= 0 else 0,
                found.high * value.high,
                found.flags & value.flags,
                found.taint or value.taint,
            )
    return found


def with_type(call: Call, value: AbstractValue, index: int) -> AbstractValue:
    """Return the argument, with its type when it may be negative."""
    type_ = call.types[index] if index < len(call.types) else INT
    if value.low < 0 and isinstance(type_, Integer) and value.symbol is None and not value.targets:
        return AbstractValue(
            value.low,
            value.high,
            value.flags,
            value.taint,
            (),
            value.nullness,
            value.init,
            ("negative", type_, value),
        )
    return value


def size_argument(
    engine: Engine, state: AbstractState, call: Call, index: Any
) -> AbstractValue | None:
    """Return the argument that says how many bytes or characters; its sign is checked."""
    value = product(call, index)
    if value is None or value.init:
        return None
    if isinstance(index, int):
        value = with_type(call, value, index)
    ownership.signed_size(engine, state, value, call.span)
    if value.low < 0 or (value.symbol is not None and value.symbol[0] == "negative"):
        return AbstractValue(0, ENDLESS, OTHER)
    return value


def address(call: Call, index: int) -> Expr | None:
    """Return the expression of an argument; None when there is none."""
    return call.args[index] if index < len(call.args) else None

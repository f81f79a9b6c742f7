"""One call of a library function, and its arguments that are sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jarvis_ls.jsec.flow.checks import ownership
from jarvis_ls.jsec.flow.ir import Span, Type
from jarvis_ls.jsec.flow.state import ENDLESS, State
from jarvis_ls.jsec.flow.types import INT
from jarvis_ls.jsec.flow.values import (
    OTHER,
    Val,
)  # fmt: skip

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis


class Call:
    """One call of a library function."""

    __slots__ = ("args", "name", "result", "span", "types", "value", "values")

    def __init__(
        self, name: str, values: list[Val], types: Any, result: Type, span: Span, args: Any
    ) -> None:
        self.name = name
        self.values = values
        self.types = types
        self.result = result
        self.span = span
        self.args = args
        self.value: Val | None = None

    def arg(self, index: int) -> Val | None:
        """The argument at a position, or None when there is none."""
        return self.values[index] if 0 <= index < len(self.values) else None


def product(call: Call, sizes: Any) -> Val | None:
    """One size, or the product of several."""
    if isinstance(sizes, int):
        return call.arg(sizes)
    found: Val | None = None
    for index in sizes:
        value = call.arg(index)
        if value is None:
            return None
        if found is None:
            found = value
        else:
            found = Val(found.lo * value.lo if found.lo >= 0 else 0, found.hi * value.hi,
                        found.flags & value.flags, found.taint or value.taint)  # fmt: skip
    return found


def typed(call: Call, value: Val, index: int) -> Val:
    """The argument, with its type when it may be negative."""
    type_ = call.types[index] if index < len(call.types) else INT
    if value.lo < 0 and type_[0] == "i" and value.sym is None and not value.ptr:
        return Val(value.lo, value.hi, value.flags, value.taint, (), value.null, value.ini,
                   ("negative", type_, value))  # fmt: skip
    return value


def sized(an: Analysis, st: State, call: Call, index: Any) -> Val | None:
    """The argument that says how many bytes or characters; its sign is checked."""
    value = product(call, index)
    if value is None or value.ini:
        return None
    if isinstance(index, int):
        value = typed(call, value, index)
    ownership.signed_size(an, st, value, call.span)
    if value.lo < 0 or (value.sym is not None and value.sym[0] == "negative"):
        return Val(0, ENDLESS, OTHER)
    return value


def address(call: Call, index: int) -> Any:
    """The expression of an argument."""
    return call.args[index] if index < len(call.args) else None

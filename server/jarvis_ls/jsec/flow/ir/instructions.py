"""What the blocks of a function are made of: instructions, and how a block ends.

Nothing here changes once made. A function is kept on disk as plain values: `values` gives those of
an instruction, `decoding` makes it of them.
"""

from __future__ import annotations

from typing import Any, Final, final

from jarvis_ls.jsec.flow.ir.nodes import Expr, Size, Span, plain_size
from jarvis_ls.jsec.flow.ir.types import Type, plain_types


def _values(expressions: tuple[Expr, ...]) -> tuple[tuple[Any, ...], ...]:
    """Return expressions as plain values."""
    return tuple([e.values() for e in expressions])


def plain_members(members: tuple[object, ...]) -> tuple[object, ...]:
    """Return what an effect is told as plain values: types among it begin with a word, tuples do
    not."""
    return tuple(
        [
            each.plain
            if isinstance(each, Type)
            else plain_members(each)
            if isinstance(each, tuple)
            else each
            for each in members
        ]
    )


@final
class Eval:
    """Work out an expression for what it does."""

    __slots__ = ("value",)

    def __init__(self, value: Expr) -> None:
        self.value: Final = value

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (0, self.value.values())


@final
class SetTemp:
    """Give a temporary a value."""

    __slots__ = ("temp", "value")

    def __init__(self, temp: int, value: Expr) -> None:
        self.temp: Final = temp
        self.value: Final = value

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (1, self.temp, self.value.values())


@final
class CallFunction:
    """Call a function of C or C++."""

    __slots__ = ("arguments", "result", "span", "target", "temp", "types")

    def __init__(
        self,
        temp: int,
        target: str | Expr,
        arguments: tuple[Expr, ...],
        result: Type,
        span: Span,
        types: tuple[Type, ...],
    ) -> None:
        self.temp: Final = temp
        """The temporary that gets the result."""
        self.target: Final = target
        """The name, or an expression for a call through a pointer."""
        self.arguments: Final = arguments
        self.result: Final = result
        self.span: Final = span
        self.types: Final = types
        """Of the arguments."""

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        target = self.target if isinstance(self.target, str) else self.target.values()
        given = _values(self.arguments)
        types = plain_types(self.types)
        return (2, self.temp, target, given, self.result.plain, self.span, types)


@final
class Declare:
    """Bring a variable to life, without a value."""

    __slots__ = ("slot", "span")

    def __init__(self, slot: int, span: Span) -> None:
        self.slot: Final = slot
        self.span: Final = span

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (3, self.slot, self.span)


@final
class Clear:
    """Make all of a place zero, before an initialiser list."""

    __slots__ = ("address", "type")

    def __init__(self, address: Expr, type: Type) -> None:
        self.address: Final = address
        self.type: Final = type

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (4, self.address.values(), self.type.plain)


@final
class New:
    """Allocate objects by `new`."""

    __slots__ = ("count", "may_fail", "size", "span", "temp", "type", "zeroed")

    def __init__(
        self,
        temp: int,
        type: Type,
        count: Expr | None,
        size: int,
        span: Span,
        may_fail: bool,
        zeroed: bool,
    ) -> None:
        self.temp: Final = temp
        """The temporary that gets the pointer."""
        self.type: Final = type
        self.count: Final = count
        """How many; None for one that is no array."""
        self.size: Final = size
        """Bytes of one."""
        self.span: Final = span
        self.may_fail: Final = may_fail
        """Whether it may give null."""
        self.zeroed: Final = zeroed
        """Whether all of it is zero."""

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (
            5,
            self.temp,
            self.type.plain,
            None if self.count is None else self.count.values(),
            self.size,
            self.span,
            self.may_fail,
            self.zeroed,
        )


@final
class Delete:
    """Release objects by `delete`."""

    __slots__ = ("many", "pointer", "span", "type")

    def __init__(self, pointer: Expr, many: bool, type: Type, span: Span) -> None:
        self.pointer: Final = pointer
        self.many: Final = many
        """Whether it is `delete[]`."""
        self.type: Final = type
        self.span: Final = span

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (6, self.pointer.values(), self.many, self.type.plain, self.span)


@final
class CallMethod:
    """Call a member function."""

    __slots__ = ("arguments", "name", "object", "owner", "result", "span", "temp", "types")

    def __init__(
        self,
        temp: int,
        object: Expr,
        owner: str,
        name: str,
        arguments: tuple[Expr, ...],
        result: Type,
        span: Span,
        types: tuple[Type, ...],
    ) -> None:
        self.temp: Final = temp
        """The temporary that gets the result."""
        self.object: Final = object
        """The address of the object."""
        self.owner: Final = owner
        """Its class; empty when it is not known."""
        self.name: Final = name
        self.arguments: Final = arguments
        self.result: Final = result
        self.span: Final = span
        self.types: Final = types
        """Of the arguments."""

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (
            7,
            self.temp,
            self.object.values(),
            self.owner,
            self.name,
            _values(self.arguments),
            self.result.plain,
            self.span,
            plain_types(self.types),
        )


@final
class Alloca:
    """Declare an array whose length is no constant."""

    __slots__ = ("count", "size", "slot", "span")

    def __init__(self, slot: int, count: Expr, size: Size, span: Span) -> None:
        self.slot: Final = slot
        self.count: Final = count
        self.size: Final = size
        """Bytes of an element; its type when that is in another file."""
        self.span: Final = span

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (8, self.slot, self.count.values(), plain_size(self.size), self.span)


@final
class CallRust:
    """Call a function, or an effect, of Rust; see `library.rust_functions`."""

    __slots__ = ("arguments", "more", "name", "result", "span", "temp")

    def __init__(
        self,
        temp: int,
        name: str,
        arguments: tuple[Expr, ...],
        result: Type,
        span: Span,
        more: tuple[object, ...],
    ) -> None:
        self.temp: Final = temp
        """The temporary that gets the result."""
        self.name: Final = name
        self.arguments: Final = arguments
        self.result: Final = result
        self.span: Final = span
        self.more: Final = more
        """What else the effect is told."""

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        given = _values(self.arguments)
        more = plain_members(self.more)
        return (9, self.temp, self.name, given, self.result.plain, self.span, more)


# how blocks end


@final
class Jump:
    """Continue at a block."""

    __slots__ = ("block",)

    def __init__(self, block: int) -> None:
        self.block: Final = block

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (10, self.block)


@final
class Branch:
    """Continue at one of two blocks."""

    __slots__ = ("condition", "defensive", "no", "span", "yes")

    def __init__(
        self, condition: Expr, yes: int, no: int, span: Span, defensive: bool = False
    ) -> None:
        self.condition: Final = condition
        self.yes: Final = yes
        """Block where it holds."""
        self.no: Final = no
        """Block where it does not."""
        self.span: Final = span
        self.defensive: Final = defensive
        """Whether it is a condition of `?:` in a macro, which tells nothing about what the macro is
        used for."""

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (11, self.condition.values(), self.yes, self.no, self.span, self.defensive)


@final
class Switch:
    """Continue at the block of a case."""

    __slots__ = ("cases", "default", "span", "value")

    def __init__(
        self, value: Expr, cases: tuple[tuple[int, int, int], ...], default: int, span: Span
    ) -> None:
        self.value: Final = value
        self.cases: Final = cases
        """Least and greatest value of each, and its block."""
        self.default: Final = default
        """Block of all other values."""
        self.span: Final = span

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (12, self.value.values(), self.cases, self.default, self.span)


@final
class Return:
    """Leave the function."""

    __slots__ = ("span", "value")

    def __init__(self, value: Expr | None, span: Span) -> None:
        self.value: Final = value
        self.span: Final = span

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (13, None if self.value is None else self.value.values(), self.span)


@final
class Stop:
    """Do not continue."""

    __slots__ = ()

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (14,)


@final
class Throw:
    """Leave the function by an exception."""

    __slots__ = ("span",)

    def __init__(self, span: Span) -> None:
        self.span: Final = span

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: its number and members."""
        return (15, self.span)


Instruction = (
    Eval | SetTemp | CallFunction | Declare | Clear | New | Delete | CallMethod | Alloca | CallRust
)
End = Jump | Branch | Switch | Return | Stop | Throw

Block = tuple[tuple[Instruction, ...], End]
"""Instructions, and how it ends."""

"""Typed expressions, which the instructions of a function are made over.

An address expression gives a pointer, a value expression what is stored there. Expressions never
change once made and are shared freely; two are equal when they are of one class and all their
fields are, their places in the text among them. Spans are pairs of byte offsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

from jarvis_ls.jsec.flow.ir.types import Plain, Type

Span = tuple[int, int]
"""Bytes from and up to."""
Number = int | float
"""A number of the program, exact unless it has a fraction. (`float` would allow the same, but read
by a compiler of Python it is a machine number, and 2**63 + 1 is none.)"""
Offset = int | tuple[str, str, int]
"""Bytes from the start of a record; `(record, member, bytes)` when that is in another file."""
Size = int | Type
"""Bytes; a type when its size is known in another file only."""

MACRO: Final = "#"
"""Begins the name that a call of a macro has which could not be put in."""


def plain_size(size: Size) -> int | Plain:
    """Return a size as plain values."""
    return size.plain if isinstance(size, Type) else size


class Expr:
    """An expression: one of the classes below."""

    __slots__ = ()

    def operands(self) -> tuple[Expr, ...]:
        """Return the expressions that it is made of, in order of their fields."""
        return ()

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands, as many as `operands` gives."""
        return self

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values: the number of its class, and its fields."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(self.values())


@final
class Const(Expr):
    """A number that is written out."""

    __slots__ = ("type", "value")

    def __init__(self, value: Number, type: Type) -> None:
        self.value: Final = value
        self.type: Final = type

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (0, self.value, self.type.plain)


@final
class StringLiteral(Expr):
    """A string literal: the address of its first character."""

    __slots__ = ("text", "unit")

    def __init__(self, text: bytes, unit: int) -> None:
        self.text: Final = text
        self.unit: Final = unit
        """Bytes of a character."""

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (1, self.text, self.unit)


@final
class Local(Expr):
    """The address of a local variable."""

    __slots__ = ("slot",)

    def __init__(self, slot: int) -> None:
        self.slot: Final = slot

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (2, self.slot)


@final
class Global(Expr):
    """The address of a variable of file or program scope."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: Final = name

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (3, self.name)


@final
class Function(Expr):
    """A function as a value."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: Final = name

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (4, self.name)


@final
class Load(Expr):
    """What is stored at an address."""

    __slots__ = ("address", "span", "type")

    def __init__(self, address: Expr, type: Type, span: Span) -> None:
        self.address: Final = address
        self.type: Final = type
        self.span: Final = span

    def operands(self) -> tuple[Expr, ...]:
        """Return the address."""
        return (self.address,)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Load(operands[0], self.type, self.span)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (5, self.address.values(), self.type.plain, self.span)


@final
class Store(Expr):
    """An assignment, which gives the value."""

    __slots__ = ("address", "span", "type", "value")

    def __init__(self, address: Expr, value: Expr, type: Type, span: Span) -> None:
        self.address: Final = address
        self.value: Final = value
        self.type: Final = type
        self.span: Final = span

    def operands(self) -> tuple[Expr, ...]:
        """Return the address and the value."""
        return (self.address, self.value)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Store(operands[0], operands[1], self.type, self.span)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (6, self.address.values(), self.value.values(), self.type.plain, self.span)


@final
class Field(Expr):
    """The address of a member."""

    __slots__ = ("base", "offset", "type")

    def __init__(self, base: Expr, offset: Offset, type: Type) -> None:
        self.base: Final = base
        """Address of the record."""
        self.offset: Final = offset
        self.type: Final = type

    def operands(self) -> tuple[Expr, ...]:
        """Return the base."""
        return (self.base,)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Field(operands[0], self.offset, self.type)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (7, self.base.values(), self.offset, self.type.plain)


@final
class Index(Expr):
    """Pointer arithmetic in elements."""

    __slots__ = ("base", "index", "size", "span")

    def __init__(self, base: Expr, index: Expr, size: Size, span: Span) -> None:
        self.base: Final = base
        """Pointer to the first element."""
        self.index: Final = index
        self.size: Final = size
        """Of an element."""
        self.span: Final = span

    def operands(self) -> tuple[Expr, ...]:
        """Return the base and the index."""
        return (self.base, self.index)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Index(operands[0], operands[1], self.size, self.span)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (8, self.base.values(), self.index.values(), plain_size(self.size), self.span)


@final
class Binary(Expr):
    """Arithmetic of two numbers in a type."""

    __slots__ = ("left", "operator", "right", "span", "type")

    def __init__(self, operator: str, left: Expr, right: Expr, type: Type, span: Span) -> None:
        self.operator: Final = operator
        self.left: Final = left
        self.right: Final = right
        self.type: Final = type
        self.span: Final = span

    def operands(self) -> tuple[Expr, ...]:
        """Return the left and the right."""
        return (self.left, self.right)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Binary(self.operator, operands[0], operands[1], self.type, self.span)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (
            9,
            self.operator,
            self.left.values(),
            self.right.values(),
            self.type.plain,
            self.span,
        )


@final
class Compare(Expr):
    """A comparison."""

    __slots__ = ("left", "operator", "right", "span", "type")

    def __init__(self, operator: str, left: Expr, right: Expr, type: Type, span: Span) -> None:
        self.operator: Final = operator
        self.left: Final = left
        self.right: Final = right
        self.type: Final = type
        """Of the operands."""
        self.span: Final = span

    def operands(self) -> tuple[Expr, ...]:
        """Return the left and the right."""
        return (self.left, self.right)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Compare(self.operator, operands[0], operands[1], self.type, self.span)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (
            10,
            self.operator,
            self.left.values(),
            self.right.values(),
            self.type.plain,
            self.span,
        )


@final
class Not(Expr):
    """Whether a value is 0 or null."""

    __slots__ = ("value",)

    def __init__(self, value: Expr) -> None:
        self.value: Final = value

    def operands(self) -> tuple[Expr, ...]:
        """Return the value."""
        return (self.value,)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Not(operands[0])

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (11, self.value.values())


@final
class Negate(Expr):
    """A number with the other sign."""

    __slots__ = ("span", "type", "value")

    def __init__(self, value: Expr, type: Type, span: Span) -> None:
        self.value: Final = value
        self.type: Final = type
        self.span: Final = span

    def operands(self) -> tuple[Expr, ...]:
        """Return the value."""
        return (self.value,)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Negate(operands[0], self.type, self.span)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (12, self.value.values(), self.type.plain, self.span)


@final
class Complement(Expr):
    """A number with all bits inverted."""

    __slots__ = ("type", "value")

    def __init__(self, value: Expr, type: Type) -> None:
        self.value: Final = value
        self.type: Final = type

    def operands(self) -> tuple[Expr, ...]:
        """Return the value."""
        return (self.value,)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Complement(operands[0], self.type)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (13, self.value.values(), self.type.plain)


@final
class Cast(Expr):
    """A conversion."""

    __slots__ = ("explicit", "source", "span", "type", "value")

    def __init__(self, value: Expr, source: Type, type: Type, explicit: bool, span: Span) -> None:
        self.value: Final = value
        self.source: Final = source
        """Type of the value."""
        self.type: Final = type
        """Type that it becomes."""
        self.explicit: Final = explicit
        """Whether it is written."""
        self.span: Final = span

    def operands(self) -> tuple[Expr, ...]:
        """Return the value."""
        return (self.value,)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Cast(operands[0], self.source, self.type, self.explicit, self.span)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (
            14,
            self.value.values(),
            self.source.plain,
            self.type.plain,
            self.explicit,
            self.span,
        )


@final
class Step(Expr):
    """`++` or `--` of what is stored at an address."""

    __slots__ = ("address", "delta", "postfix", "span", "type")

    def __init__(
        self, address: Expr, type: Type, delta: int | tuple[Type, int], postfix: bool, span: Span
    ) -> None:
        self.address: Final = address
        self.type: Final = type
        self.delta: Final = delta
        """Bytes that a pointer moves, or what a number grows by; a type and the number of elements
        when its size is known in another file only."""
        self.postfix: Final = postfix
        """Whether it gives the value from before."""
        self.span: Final = span

    def operands(self) -> tuple[Expr, ...]:
        """Return the address."""
        return (self.address,)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Step(operands[0], self.type, self.delta, self.postfix, self.span)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        delta = self.delta
        by = delta if isinstance(delta, int) else (delta[0].plain, delta[1])
        return (15, self.address.values(), self.type.plain, by, self.postfix, self.span)


@final
class Temp(Expr):
    """What a call or a branch left."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number: Final = number

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (16, self.number)


@final
class SizeOf(Expr):
    """The size of a type or of an operand."""

    __slots__ = ("place", "size", "span")

    def __init__(self, size: Size, place: Expr | None, span: Span) -> None:
        self.size: Final = size
        self.place: Final = place
        """Address of the operand when that is a pointer."""
        self.span: Final = span

    def operands(self) -> tuple[Expr, ...]:
        """Return the place, where there is one."""
        return () if self.place is None else (self.place,)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return SizeOf(self.size, operands[0], self.span) if operands else self

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        place = None if self.place is None else self.place.values()
        return (17, plain_size(self.size), place, self.span)


@final
class Unknown(Expr):
    """A value of which nothing is known."""

    __slots__ = ("type",)

    def __init__(self, type: Type) -> None:
        self.type: Final = type

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (18, self.type.plain)


@final
class PointerDifference(Expr):
    """How many elements are between two pointers."""

    __slots__ = ("left", "right", "size")

    def __init__(self, left: Expr, right: Expr, size: Size) -> None:
        self.left: Final = left
        self.right: Final = right
        self.size: Final = size
        """Of an element."""

    def operands(self) -> tuple[Expr, ...]:
        """Return the left and the right."""
        return (self.left, self.right)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return PointerDifference(operands[0], operands[1], self.size)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (19, self.left.values(), self.right.values(), plain_size(self.size))


@final
class Null(Expr):
    """The null pointer."""

    __slots__ = ()

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (20,)


@final
class Decay(Expr):
    """An array as a pointer to its first element."""

    __slots__ = ("base", "extent")

    def __init__(self, base: Expr, extent: int) -> None:
        self.base: Final = base
        """Address of the array."""
        self.extent: Final = extent
        """Bytes of the array."""

    def operands(self) -> tuple[Expr, ...]:
        """Return the base."""
        return (self.base,)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Decay(operands[0], self.extent)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (21, self.base.values(), self.extent)


@final
class BitAnd(Expr):
    """`&` between two truth values, which does not short-circuit."""

    __slots__ = ("left", "right", "span")

    def __init__(self, left: Expr, right: Expr, span: Span) -> None:
        self.left: Final = left
        self.right: Final = right
        self.span: Final = span

    def operands(self) -> tuple[Expr, ...]:
        """Return the left and the right."""
        return (self.left, self.right)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return BitAnd(operands[0], operands[1], self.span)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (22, self.left.values(), self.right.values(), self.span)


@final
class Else(Expr):
    """A number, or another one where it is 0: `n ? n : 1`."""

    __slots__ = ("fallback", "value")

    def __init__(self, value: Expr, fallback: Number) -> None:
        self.value: Final = value
        self.fallback: Final = fallback

    def operands(self) -> tuple[Expr, ...]:
        """Return the value."""
        return (self.value,)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """Return the same of other operands."""
        return Else(operands[0], self.fallback)

    def values(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return (23, self.value.values(), self.fallback)

"""C as the symbolic execution reads it: trees with types as the machine lays them out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Form(Enum):
    """What a type is to the machine."""

    VOID = auto()
    INTEGER = auto()
    """Also enumerations and `_Bool`."""
    FLOAT = auto()
    POINTER = auto()
    ARRAY = auto()
    RECORD = auto()
    """A structure or union."""
    FUNCTION = auto()
    OTHER = auto()
    """Vectors, complex numbers and what else is not followed."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a record."""

    name: str
    offset: int
    """In bytes."""
    type: CType


@dataclass(frozen=True, slots=True)
class CType:
    """A type."""

    form: Form
    size: int = 0
    """In bytes; 0 when it is not known."""
    signed: bool = False
    boolean: bool = False
    """Whether only 0 and 1 are values of it."""
    step: int = 0
    """Of a pointer: bytes of what it points to; 1 for `void`."""
    element: CType | None = None
    """Of an array."""
    members: tuple[Member, ...] = ()
    """Of a structure; empty of a union, whose members share their bytes."""
    union: bool = False
    volatile: bool = False
    """Whether what is read from it may change by itself."""
    reference: bool = False
    """Of a pointer: whether it is a reference of C++, or `this`: it is never null."""

    @property
    def bits(self) -> int:
        """Return the width of an integer."""
        return 8 * self.size

    @property
    def low(self) -> int:
        """Return the least value of an integer."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        """Return the greatest value of an integer."""
        if self.boolean:
            return 1
        return (1 << (self.bits - self.signed)) - 1


VOID = CType(Form.VOID)
INT = CType(Form.INTEGER, 4, signed=True)
SIZE = CType(Form.INTEGER, 8)
POINTER = CType(Form.POINTER, 8, step=1)


class Kind(Enum):
    """What a node is; `Node.parts` and `Node.value` are told behind it."""

    NUMBER = auto()
    """value: int or float."""
    STRING = auto()
    """value: bytes with the terminator, or None when they are not known."""
    VARIABLE = auto()
    """value: `Variable`."""
    FUNCTION = auto()
    """value: name."""
    CONVERT = auto()
    """parts: operand; value: whether it is written as a cast."""
    DEREF = auto()
    """parts: pointer."""
    INDEX = auto()
    """parts: pointer, index."""
    MEMBER = auto()
    """parts: record; value: offset in bytes."""
    ARROW = auto()
    """parts: pointer; value: offset in bytes."""
    ADDRESS = auto()
    """parts: lvalue; value: whether a reference is bound to it, which must be there."""
    UNARY = auto()
    """parts: operand; value: `-`, `+`, `~` or `!`."""
    STEP = auto()
    """parts: lvalue; value: (1 or -1, whether the old value is the result)."""
    BINARY = auto()
    """parts: left, right; value: operator."""
    ASSIGN = auto()
    """parts: lvalue, value."""
    UPDATE = auto()
    """parts: lvalue, right; value: (operator, type of the calculation)."""
    CHOICE = auto()
    """parts: condition, then, else."""
    CALL = auto()
    """parts: function, arguments; value: the spelling of the function's type, when it is called by
    its address."""
    LIST = auto()
    """parts: initialisers in order; a part may be None for zero."""
    LITERAL = auto()
    """A compound literal; parts: initialiser."""
    NEW = auto()
    """parts: number of elements or none, initialiser or none; value: `Made`."""
    DELETE = auto()
    """parts: pointer; value: whether it is `delete []`."""
    BLOCK = auto()
    """parts: statements."""
    DECLARE = auto()
    """parts: initialiser or none; value: `Variable`."""
    SIZED = auto()
    """A variable-length array; parts: sizes of all dimensions; value: `Variable`, element bytes."""
    IF = auto()
    """parts: condition, then, else or none."""
    WHILE = auto()
    """parts: condition, body."""
    DO = auto()
    """parts: body, condition."""
    FOR = auto()
    """parts: start, condition, step, body; all but the body may be None."""
    SWITCH = auto()
    """parts: value, body."""
    CASE = auto()
    """parts: statement; value: least and greatest value."""
    DEFAULT = auto()
    """parts: statement."""
    BREAK = auto()
    CONTINUE = auto()
    RETURN = auto()
    """parts: value or none."""
    GOTO = auto()
    """value: label."""
    LABEL = auto()
    """parts: statement; value: label."""
    EMPTY = auto()
    GUARDED = auto()
    """parts: statement, what is done wherever it is left: a call of a destructor."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, equal to itself wherever it is named."""

    key: str
    """Name and place of a local; of a global its name, with the file when it is static."""
    name: str
    type: CType
    is_global: bool
    constant: bool = False
    """Whether nothing may change it."""


@dataclass(frozen=True, slots=True)
class Made:
    """What `new` makes."""

    element: CType
    is_array: bool
    may_fail: bool
    """Whether it gives a null pointer when there is no memory; else it throws."""
    is_zero: bool
    """Whether all bytes are zero at first."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An expression or a statement; `Kind` says what its parts are."""

    kind: Kind
    type: CType
    parts: tuple[Node | None, ...]
    value: object
    file: str
    """Relative to the project; empty outside of it."""
    line: int
    last: int
    """Line of its end."""

    def part(self, number: int) -> Node:
        """Return a part that is there."""
        found = self.parts[number]
        assert found is not None
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function that is defined."""

    name: str
    file: str
    static: bool
    parameters: tuple[Variable, ...]
    result: CType
    variadic: bool
    line: int
    last: int
    signature: str = ""
    """How its type is spelled."""


THROW = "throw"
"""Name of the function that a `throw` calls."""


class Unsupported(Exception):
    """The code does something that is not followed; the text names it, for the log only."""
